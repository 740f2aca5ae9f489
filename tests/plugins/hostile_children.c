/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Leaves 120 children. */
#define _GNU_SOURCE
#include "hostile.h"
#include <unistd.h>

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    for (int i = 0; i < 120; i++)
        if (fork() == 0)
            (void)sleep(1000);
    return hostile_sound(view, plan);
}

HOSTILE_SCALING_OPS(.decide = decide)
