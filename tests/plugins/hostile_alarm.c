/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ignores the alarm that a watchdog may use, and waits for ever. */
#define _GNU_SOURCE
#include "hostile.h"
#include <signal.h>
#include <unistd.h>

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    (void)signal(SIGALRM, SIG_IGN);
    for (;;)
        (void)pause();
    return hostile_sound(view, plan);
}

HOSTILE_SCALING_OPS(.decide = decide)
