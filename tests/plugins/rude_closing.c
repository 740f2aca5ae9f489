/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Closes every descriptor there might be. */
#define _GNU_SOURCE
#include "hostile.h"
#include <unistd.h>

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    for (int i = 0; i < 1024; i++)
        (void)close(i);
    return hostile_sound(view, plan);
}

HOSTILE_SCALING_OPS(.decide = decide)
