/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kills its process group. */
#define _GNU_SOURCE
#include "hostile.h"
#include <signal.h>

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    (void)kill(0, SIGKILL);
    return hostile_sound(view, plan);
}

HOSTILE_SCALING_OPS(.decide = decide)
