/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A daemon: forked twice, in a session of its own. */
#define _GNU_SOURCE
#include "hostile.h"
#include <unistd.h>

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    if (fork() == 0) {
        (void)setsid();
        if (fork() == 0)
            (void)sleep(1000);
        _exit(0);
    }
    return hostile_sound(view, plan);
}

HOSTILE_SCALING_OPS(.decide = decide)
