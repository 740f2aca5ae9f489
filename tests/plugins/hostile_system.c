/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Asks a shell to leave something running. */
#define _GNU_SOURCE
#include "hostile.h"
#include <stdlib.h>

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    (void)!system("sleep 1000 &");
    return hostile_sound(view, plan);
}

HOSTILE_SCALING_OPS(.decide = decide)
