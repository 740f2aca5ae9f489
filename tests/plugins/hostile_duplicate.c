/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gives one id to two workers. */
#include "hostile.h"

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    struct weir_alloc alloc = hostile_alloc(view);
    const uint64_t id = weir_plan_new_worker(plan);
    WEIR_TRY(weir_plan_start(plan, weir_pool_owner(0), id, &alloc, NULL));
    alloc.devices[0].nvdec_mask = 2;
    return weir_plan_start(plan, weir_pool_owner(0), id, &alloc, NULL);
}

HOSTILE_SCALING_OPS(.decide = decide)
