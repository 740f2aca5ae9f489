/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kills who started it. */
#define _GNU_SOURCE
#include "hostile.h"
#include <signal.h>
#include <unistd.h>

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    (void)kill(getppid(), SIGKILL);
    return hostile_sound(view, plan);
}

HOSTILE_SCALING_OPS(.decide = decide)
