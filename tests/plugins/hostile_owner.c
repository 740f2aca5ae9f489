/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lets the system kill who started it: a pair of sockets has something to tell its owner. Says so
 * when it may not. */
#define _GNU_SOURCE
#include "hostile.h"
#include <fcntl.h>
#include <linux/sockios.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    int ends[2] = { -1, -1 };
    int parent = getppid();
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return weir_fail(error, WEIR_EPOLICY, "it may have no sockets");
    (void)ioctl(ends[0], FIOSETOWN, &parent);
    (void)fcntl(ends[0], F_SETSIG, SIGKILL);
    (void)fcntl(ends[0], F_SETFL, O_ASYNC);
    (void)!write(ends[1], "x", 1);
    return hostile_sound(view, plan);
}

HOSTILE_SCALING_OPS(.decide = decide)
