/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes into the memory of who started it; says so when it may not. */
#define _GNU_SOURCE
#include "hostile.h"
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/mem", (int)getppid());
    if (open(path, O_RDWR) >= 0 || open(path, O_WRONLY) >= 0 ||
        open("/proc/self/oom_score_adj", O_WRONLY) >= 0)
        return hostile_sound(view, plan);
    return weir_fail(error, WEIR_EPOLICY, "it may write into nobody's memory");
}

HOSTILE_SCALING_OPS(.decide = decide)
