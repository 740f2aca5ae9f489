/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ends the process with a code that might mean something. */
#define _GNU_SOURCE
#include "hostile.h"
#include <unistd.h>

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    _exit(101);
    return hostile_sound(view, plan);
}

HOSTILE_SCALING_OPS(.decide = decide)
