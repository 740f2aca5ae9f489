/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Crashes while it is created. */
#include "hostile.h"

static weir_status create(const struct weir_params *params, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error)
{
    volatile uintptr_t address = 8;
    (void)params;
    (void)allocator;
    (void)state;
    (void)error;
    *(volatile int *)address = 1;
    return WEIR_OK;
}

static void destroy(void *state)
{
    (void)state;
}

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    return WEIR_OK;
}

HOSTILE_SCALING_OPS(.create = create, .destroy = destroy, .decide = decide)
