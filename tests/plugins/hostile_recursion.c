/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls itself without end. */
#define _GNU_SOURCE
#include "hostile.h"
#include <stddef.h>

static size_t dive(size_t depth, void *plan)
{
    volatile unsigned char frame[1024];
    frame[depth % sizeof frame] = 1;
    return frame[0] + (plan == NULL ? 0 : dive(depth + 1, plan)) + (size_t)frame[1];
}

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    if (dive((size_t)view->decision, plan) == 1)
        return WEIR_OK;
    return hostile_sound(view, plan);
}

HOSTILE_SCALING_OPS(.decide = decide)
