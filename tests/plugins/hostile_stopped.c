/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stops itself, and does not go on. */
#define _GNU_SOURCE
#include "hostile.h"
#include <signal.h>

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    (void)raise(SIGSTOP);
    return hostile_sound(view, plan);
}

HOSTILE_SCALING_OPS(.decide = decide)
