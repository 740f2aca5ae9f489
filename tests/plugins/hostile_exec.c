/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Becomes another program. */
#define _GNU_SOURCE
#include "hostile.h"
#include <unistd.h>

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    (void)execl("/bin/sleep", "sleep", "1000", (char *)NULL);
    return hostile_sound(view, plan);
}

HOSTILE_SCALING_OPS(.decide = decide)
