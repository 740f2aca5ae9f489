/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Starts a process by the call that also starts threads. */
#define _GNU_SOURCE
#include "hostile.h"
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    if (syscall(SYS_clone, SIGCHLD | CLONE_FILES, 0, 0, 0, 0) == 0)
        for (;;)
            (void)pause();
    return hostile_sound(view, plan);
}

HOSTILE_SCALING_OPS(.decide = decide)
