/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Only counts fixed by hand; every other pool has one worker. The baseline of somebody who sizes a
 * pipeline alone.
 */
#include "sched/scaling/run.h"
#include "sched/scaling/scalings.h"

static const struct weir_param PARAMS[] = { WEIR_RUN_PARAMS };

static weir_status fixed_decide(void *state, const struct weir_view *view,
                                struct weir_placer *placer, struct weir_plan *plan,
                                struct weir_error *error)
{
    struct weir_run *const run = state;

    WEIR_TRY(weir_run_begin(run, view, placer, plan, error));
    WEIR_TRY(weir_run_manual(run));
    WEIR_TRY(weir_run_minimum(run));
    for (uint32_t i = 0; i < run->count; i++)
        run->pools[i].target = 1;
    WEIR_TRY(weir_run_targets(run, false));
    return weir_run_end_planned(run);
}

const struct weir_scaling_ops weir_scaling_fixed =
    WEIR_RUN_POLICY("fixed", PARAMS, weir_run_create, fixed_decide,
                    "counts fixed by hand, one worker for every other stage");
