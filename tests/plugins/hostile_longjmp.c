/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Leaves its call to where it was created. */
#define _GNU_SOURCE
#include "hostile.h"
#include <setjmp.h>

static jmp_buf somewhere;

static weir_status create(const struct weir_params *params, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error)
{
    (void)params;
    (void)allocator;
    (void)error;
    *state = NULL;
    if (setjmp(somewhere) != 0)
        __builtin_trap(); /* a frame that is gone */
    return WEIR_OK;
}

static void destroy(void *state)
{
    (void)state;
}

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    longjmp(somewhere, 1);
}

HOSTILE_SCALING_OPS(.create = create, .destroy = destroy, .decide = decide)
