/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Takes files from their owner that it has open for reading alone; says so when it may not. */
#define _GNU_SOURCE
#include "hostile.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    const int file = open("two.yaml", O_RDONLY);
    const bool is_done = fchmod(file, 0) == 0 || fchown(file, 1, 1) == 0 ||
                         fsetxattr(file, "user.hostile", "x", 1, 0) == 0 ||
                         fremovexattr(file, "user.hostile") == 0 || futimens(file, NULL) == 0 ||
                         ftruncate(file, 0) == 0;
    (void)close(file);
    if (is_done)
        return hostile_sound(view, plan);
    return weir_fail(error, WEIR_EPOLICY, "it may not change what it reads");
}

HOSTILE_SCALING_OPS(.decide = decide)
