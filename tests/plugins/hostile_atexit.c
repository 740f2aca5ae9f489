/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ends the process, and does not come to an end with it. */
#define _GNU_SOURCE
#include "hostile.h"
#include <stdlib.h>
#include <unistd.h>

static void hang(void)
{
    for (;;)
        (void)pause();
}

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    (void)atexit(hang);
    exit(0);
    return hostile_sound(view, plan);
}

HOSTILE_SCALING_OPS(.decide = decide)
