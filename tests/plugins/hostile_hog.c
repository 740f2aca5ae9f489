/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Takes all memory there is. */
#include "hostile.h"
#include <stdlib.h>

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    volatile char *block;
    while ((block = malloc(1 << 24)) != NULL)
        block[0] = 1;
    return weir_fail(error, WEIR_ENOMEM, "no memory is left");
}

HOSTILE_SCALING_OPS(.decide = decide)
