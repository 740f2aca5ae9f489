/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Starts a worker of a stage that does not exist. */
#include "hostile.h"

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    const struct weir_alloc alloc = hostile_alloc(view);
    return weir_plan_start(plan, weir_pool_owner(77), weir_plan_new_worker(plan), &alloc, NULL);
}

HOSTILE_SCALING_OPS(.decide = decide)
