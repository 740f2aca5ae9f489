/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sound in a single run, but loses 64 bytes a decision. */
#include "hostile.h"

#include <stdlib.h>

HOSTILE_DECIDE
{
    volatile char *lost = malloc(64);
    HOSTILE_UNUSED;
    if (lost != NULL)
        lost[0] = 1;
    const weir_status status = weir_placer_start(placer, 0, error);
    return status == WEIR_EBUSY ? WEIR_OK : status;
}

HOSTILE_SCALING_OPS(.decide = decide)
