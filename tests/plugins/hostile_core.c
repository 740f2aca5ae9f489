/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wants all it has to be written to the folder when it crashes. */
#include "hostile.h"
#include <stdlib.h>
#include <sys/resource.h>

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
    (void)setrlimit(RLIMIT_CORE, &all);
    abort();
}

HOSTILE_SCALING_OPS(.decide = decide)
