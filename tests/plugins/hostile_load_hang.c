/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Never comes back from being loaded. */
#define _GNU_SOURCE
#include "hostile.h"
#include <unistd.h>

__attribute__((constructor)) static void stay(void)
{
    for (;;)
        (void)pause();
}

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    return hostile_sound(view, plan);
}

HOSTILE_SCALING_OPS(.decide = decide)
