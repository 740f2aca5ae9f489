/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DS2 (Kalavri et al., OSDI 2018): every pool gets the workers whose true rates, of the time that
 * they work, meet what the source demands of it.
 *
 * The counts of all pools come from one measurement, in the order of the pipeline: what a pool is
 * to take is what the one before it gives. demand.h says when they may change.
 */
#include "sched/scaling/demand.h"
#include "sched/scaling/scalings.h"

static const struct weir_param PARAMS[] = { WEIR_DEMAND_PARAMS };

static uint32_t ds2_count(struct weir_demand *demand, uint32_t pool)
{
    return weir_demand_ds2(demand, pool);
}

static weir_status ds2_create(const struct weir_params *params,
                              const struct weir_allocator *allocator, void **state,
                              struct weir_error *error)
{
    return weir_demand_create(sizeof(struct weir_demand), ds2_count, params, allocator, state,
                              error);
}

const struct weir_scaling_ops weir_scaling_ds2 =
    WEIR_DEMAND_POLICY("ds2", PARAMS, ds2_create,
                       "as many workers as the demand of the source needs at measured rates");
