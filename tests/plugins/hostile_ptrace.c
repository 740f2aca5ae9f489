/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Takes over who started it. */
#define _GNU_SOURCE
#include "hostile.h"
#include <sys/ptrace.h>
#include <unistd.h>

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    (void)ptrace(PTRACE_ATTACH, getppid(), NULL, NULL);
    return hostile_sound(view, plan);
}

HOSTILE_SCALING_OPS(.decide = decide)
