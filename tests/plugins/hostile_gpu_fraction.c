/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gives a worker two whole GPUs out of one. */
#include "hostile.h"

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    struct weir_alloc alloc = hostile_alloc(view);
    alloc.devices[0].units = 2 * WEIR_ONE;
    return hostile_start(plan, &alloc);
}

HOSTILE_SCALING_OPS(.decide = decide)
