/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Never returns. */
#include "hostile.h"

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    for (volatile int i = 1; i != 0; i = 1)
        continue;
    return WEIR_OK;
}

HOSTILE_SCALING_OPS(.decide = decide)
