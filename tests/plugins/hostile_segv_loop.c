/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Answers its own crash, and crashes there again for ever. */
#define _GNU_SOURCE
#include "hostile.h"
#include <signal.h>

static void again(int number)
{
    (void)number; /* returns to where it was */
}

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    volatile int *volatile nowhere = NULL;
    (void)signal(SIGSEGV, again);
    *nowhere = 1;
    return hostile_sound(view, plan);
}

HOSTILE_SCALING_OPS(.decide = decide)
