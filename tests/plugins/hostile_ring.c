/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Asks the kernel to do its work behind the rules; says so when there is no such way. */
#define _GNU_SOURCE
#include "hostile.h"
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    char parameters[256];
    memset(parameters, 0, sizeof parameters);
    if (syscall(SYS_io_uring_setup, 8, parameters) >= 0 || errno != ENOSYS)
        return hostile_sound(view, plan);
    return weir_fail(error, WEIR_EPOLICY, "it finds no ring");
}

HOSTILE_SCALING_OPS(.decide = decide)
