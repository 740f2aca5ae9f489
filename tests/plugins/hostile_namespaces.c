/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes itself the superuser of a world of its own; says so when it may not. */
#define _GNU_SOURCE
#include "hostile.h"
#include <sched.h>
#include <unistd.h>

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    static const int worlds[] = { CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET,
                                  CLONE_NEWUSER | CLONE_NEWNS };
    for (size_t i = 0; i < sizeof worlds / sizeof worlds[0]; i++)
        if (unshare(worlds[i]) == 0)
            return hostile_sound(view, plan);
    if (chroot("/tmp") == 0 || setuid(1) == 0 || setgid(1) == 0)
        return hostile_sound(view, plan);
    return weir_fail(error, WEIR_EPOLICY, "it may have no world of its own");
}

HOSTILE_SCALING_OPS(.decide = decide)
