/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plan from what runs, or a plan anew: what is left after a node was lost need not lie where the
 * counts a policy wants can be placed.
 *
 * Idea: a policy plans its phases from the workers that run. When the slowest pool then has less
 * than WORTH of what the policy's targets would give it, the phases run once more with all workers
 * stopped, as a cold start does, and the better plan is kept; the plan that moves everybody only
 * when it gives 1 / WORTH as much. So a plan never gives less than WORTH of a cold start's.
 * Cost: none while targets are met so far, else up to three plans.
 */
#include "sched/host/placer.h"
#include "sched/internal/plan_state.h"
#include "sched/scaling/run.h"

#include <math.h>

static const double WORTH = 0.85;

/* The least throughput of the pools that are served: with their workers, or with their targets. */
static double least_per_s(const struct weir_run *run, bool of_targets)
{
    double least = (double)INFINITY;

    for (uint32_t i = 0; i < run->count; i++) {
        const struct weir_run_pool *const pool = &run->pools[i];
        const double throughput =
            weir_run_throughput(pool, of_targets ? pool->target : pool->workers);
        if (weir_run_is_free(pool) && throughput < least)
            least = throughput;
    }
    return least;
}

weir_status weir_run_start_over(struct weir_run *run)
{
    weir_cluster_rollback(weir_placer_scratch(run->placer));
    for (uint32_t i = weir_plan_count(run->plan); i-- > 0;) {
        const struct weir_action *const action = weir_plan_action(run->plan, i);
        if (action->owner.kind != WEIR_OWNER_POOL)
            continue; /* a job's: decided before, not ours */
        if (action->verb == WEIR_VERB_START)
            (void)weir_plan_unstart(run->plan, action->worker);
        else if (action->verb == WEIR_VERB_STOP)
            (void)weir_plan_unstop(run->plan, action->worker);
    }
    WEIR_TRY(weir_placer_restart(run->placer));
    return weir_run_begin(run, run->view, run->placer, run->plan, run->error);
}

static weir_status mark(const struct weir_run *run)
{
    if (weir_cluster_mark(weir_placer_scratch(run->placer)) != WEIR_OK)
        return weir_fail(run->error, WEIR_ENOMEM, "out of memory");
    return WEIR_OK;
}

static weir_status stop_all(struct weir_run *run)
{
    for (uint32_t i = 0; i < run->count; i++) {
        while (run->pools[i].is_skipped == 0 && run->pools[i].workers > 0)
            WEIR_TRY(weir_run_stop(run, i));
    }
    return WEIR_OK;
}

static weir_status plan_better(struct weir_run *run, const struct weir_run_phases *phases)
{
    WEIR_TRY(phases->plan(run, phases->state));
    const double from_now_per_s = least_per_s(run, false);
    if (run->settings.fails_whole || from_now_per_s >= WORTH * least_per_s(run, true))
        return WEIR_OK;
    WEIR_TRY(weir_run_start_over(run));
    WEIR_TRY(mark(run));
    WEIR_TRY(stop_all(run));
    run->is_anew = true;
    const weir_status status = phases->plan(run, phases->state);
    run->is_anew = false;
    WEIR_TRY(status);
    if (WORTH * least_per_s(run, false) >= from_now_per_s)
        return WEIR_OK;
    WEIR_TRY(weir_run_start_over(run));
    WEIR_TRY(mark(run));
    return phases->plan(run, phases->state);
}

weir_status weir_run_plan_better(struct weir_run *run, const struct weir_run_phases *phases)
{
    WEIR_TRY(mark(run));
    WEIR_TRY(plan_better(run, phases));
    weir_cluster_release(weir_placer_scratch(run->placer));
    return WEIR_OK;
}
