/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kills who started it by a call that names a thread, too. */
#define _GNU_SOURCE
#include "hostile.h"
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    siginfo_t info;
    const pid_t parent = getppid();
    memset(&info, 0, sizeof info);
    info.si_code = SI_QUEUE;
    (void)syscall(SYS_rt_tgsigqueueinfo, parent, parent, SIGKILL, &info);
    return hostile_sound(view, plan);
}

HOSTILE_SCALING_OPS(.decide = decide)
