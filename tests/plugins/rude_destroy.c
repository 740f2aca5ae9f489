/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hangs when its policy goes. */
#define _GNU_SOURCE
#include "hostile.h"
#include <unistd.h>

static weir_status create(const struct weir_params *params, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error)
{
    (void)params;
    (void)allocator;
    (void)error;
    *state = NULL;
    return WEIR_OK;
}

static void destroy(void *state)
{
    (void)state;
    for (;;)
        (void)pause();
}

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    return hostile_sound(view, plan);
}

HOSTILE_SCALING_OPS(.create = create, .destroy = destroy, .decide = decide)
