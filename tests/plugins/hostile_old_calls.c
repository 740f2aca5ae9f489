/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes a call under the number of another machine. */
#define _GNU_SOURCE
#include "hostile.h"
#include <sys/syscall.h>
#include <unistd.h>

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    (void)syscall(0x40000000 | SYS_unlinkat, -100, "two.yaml", 0);
    return hostile_sound(view, plan);
}

HOSTILE_SCALING_OPS(.decide = decide)
