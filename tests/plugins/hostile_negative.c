/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Takes a negative amount. */
#include "hostile.h"

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    struct weir_alloc alloc = hostile_alloc(view);
    alloc.cpu_units = -5;
    return hostile_start(plan, &alloc);
}

HOSTILE_SCALING_OPS(.decide = decide)
