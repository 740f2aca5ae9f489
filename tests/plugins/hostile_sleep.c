/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sleeps for an hour, however often a signal wakes it. */
#include "hostile.h"
#include <unistd.h>

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    for (unsigned left = 3600; left > 0;)
        left = sleep(left);
    return WEIR_OK;
}

HOSTILE_SCALING_OPS(.decide = decide)
