/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Has a gigabyte for every thread. */
#include "hostile.h"

static _Thread_local volatile char much[1 << 30];

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    much[view->decision] = 1;
    return hostile_sound(view, plan);
}

HOSTILE_SCALING_OPS(.decide = decide)
