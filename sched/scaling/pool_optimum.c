/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counts of the optimum of the whole cluster, placed as far as they fit. Shows what
 * fragmentation costs: the difference between its plan and its target is what no node could take.
 */
#include "sched/scaling/run.h"
#include "sched/scaling/scalings.h"

static const struct weir_param PARAMS[] = { WEIR_RUN_PARAMS };

static weir_status plan_optimum(struct weir_run *run, void *state)
{
    (void)state;
    WEIR_TRY(weir_run_optimum(run));
    WEIR_TRY(weir_run_manual(run));
    WEIR_TRY(weir_run_minimum(run));
    for (uint32_t i = 0; i < run->count; i++)
        run->pools[i].target = run->pools[i].optimum > 0 ? run->pools[i].optimum : 1;
    return weir_run_targets(run, run->is_anew); /* as one cluster they fit: pack them */
}

static weir_status pool_optimum_decide(void *state, const struct weir_view *view,
                                       struct weir_placer *placer, struct weir_plan *plan,
                                       struct weir_error *error)
{
    const struct weir_run_phases phases = { plan_optimum, NULL };
    struct weir_run *const run = state;

    WEIR_TRY(weir_run_begin(run, view, placer, plan, error));
    WEIR_TRY(weir_run_plan_better(run, &phases));
    return weir_run_end(run);
}

const struct weir_scaling_ops weir_scaling_pool_optimum =
    WEIR_RUN_POLICY("pool_optimum", PARAMS, weir_run_create, pool_optimum_decide,
                    "the optimum of one big pool, as far as it can be placed");
