/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Changes files by calls that are younger than most C libraries; says so when it may not. */
#define _GNU_SOURCE
#include "hostile.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* fchmodat2, setxattrat, removexattrat, open_tree_attr, file_setattr */
static const long calls[] = { 452, 463, 466, 467, 469 };

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (syscall(calls[i], AT_FDCWD, "two.yaml", 0, 0, 0, 0) == 0 || errno != ENOSYS)
            return hostile_sound(view, plan);
    return weir_fail(error, WEIR_EPOLICY, "it knows no newer calls");
}

HOSTILE_SCALING_OPS(.decide = decide)
