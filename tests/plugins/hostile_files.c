/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opens files until there is no more; says so when that is soon. */
#define _GNU_SOURCE
#include "hostile.h"
#include <fcntl.h>

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    uint32_t count = 0;
    while (count < 1000 && open("/dev/null", O_RDONLY) >= 0)
        count++;
    if (count < 1000)
        return weir_fail(error, WEIR_EPOLICY, "it may not open more than %u files", count);
    return hostile_sound(view, plan);
}

HOSTILE_SCALING_OPS(.decide = decide)
