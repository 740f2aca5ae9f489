/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gives itself all the memory there is; says so when it may not. */
#define _GNU_SOURCE
#include "hostile.h"
#include <sys/resource.h>

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
    if (setrlimit(RLIMIT_AS, &all) != 0)
        return weir_fail(error, WEIR_EPOLICY, "it may not change its limits");
    return hostile_sound(view, plan);
}

HOSTILE_SCALING_OPS(.decide = decide)
