/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sets flags of a file, and the terminal of who started it; says so when it may not. */
#define _GNU_SOURCE
#include "hostile.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    int flags = FS_NODUMP_FL;
    const struct winsize size = { .ws_row = 1, .ws_col = 1 };
    const int file = open("two.yaml", O_RDONLY);
    const bool is_done = ioctl(file, FS_IOC_SETFLAGS, &flags) == 0 || errno != EACCES ||
                         ioctl(STDIN_FILENO, TIOCSWINSZ, &size) == 0 || errno != EACCES ||
                         ioctl(STDIN_FILENO, TIOCSTI, "x") == 0 || errno != EACCES;
    (void)close(file);
    if (is_done)
        return hostile_sound(view, plan);
    return weir_fail(error, WEIR_EPOLICY, "it may steer no device");
}

HOSTILE_SCALING_OPS(.decide = decide)
