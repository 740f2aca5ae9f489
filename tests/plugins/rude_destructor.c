/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hangs when it is unloaded. */
#define _GNU_SOURCE
#include "hostile.h"
#include <unistd.h>

__attribute__((destructor)) static void hang(void)
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
