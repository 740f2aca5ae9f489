/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Says that it remembers four thousand million numbers. */
#include "hostile.h"

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    return hostile_sound(view, plan);
}

static uint32_t save(const void *state, double *numbers, uint32_t capacity)
{
    (void)state;
    (void)numbers;
    (void)capacity;
    return UINT32_MAX;
}

HOSTILE_SCALING_OPS(.decide = decide, .save = save)
