/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same number of workers for every pool: one more each, round by round in pool order, until a
 * pool cannot get one; what that round placed stays. The baseline without any knowledge.
 */
#include "sched/host/placer.h"
#include "sched/scaling/run.h"
#include "sched/scaling/scalings.h"

static const struct weir_param PARAMS[] = { WEIR_RUN_PARAMS };

static uint32_t fewest_workers(const struct weir_run *run)
{
    uint32_t fewest = UINT32_MAX;

    for (uint32_t i = 0; i < run->count; i++) {
        if (run->pools[i].is_active && run->pools[i].workers < fewest)
            fewest = run->pools[i].workers;
    }
    return fewest;
}

/* Pools far ahead give back first what the others may need; it returns if there is room. */
static weir_status level(struct weir_run *run, uint32_t fewest)
{
    for (uint32_t i = 0; i < run->count; i++) {
        while (run->pools[i].is_active && run->pools[i].workers > fewest + 1)
            WEIR_TRY(weir_run_stop(run, i));
    }
    return WEIR_OK;
}

/* One round: every pool up to `workers`. False in `*all` when one did not fit. */
static weir_status play_round(struct weir_run *run, uint32_t workers, bool *all)
{
    *all = true;
    for (uint32_t i = 0; i < run->count; i++) {
        struct weir_run_pool *const pool = &run->pools[i];
        if (!pool->is_active || pool->workers >= workers)
            continue;
        const weir_status status = weir_run_start(run, i);
        if (status == WEIR_EBUSY) {
            pool->binding = weir_placer_refusal(run->placer, i);
            *all = false;
            continue;
        }
        WEIR_TRY(status);
    }
    return WEIR_OK;
}

/* How many rounds there would be if all nodes were one. */
static uint32_t most_rounds(const struct weir_run *run)
{
    struct weir_amounts free = run->supply;
    struct weir_amounts round = { 0 };

    for (uint32_t i = 0; i < run->count; i++) {
        const struct weir_run_pool *const pool = &run->pools[i];
        const struct weir_amounts need = weir_run_need(run, i);
        if (pool->is_active)
            weir_amounts_add(&round, &need, 1);
        else
            weir_amounts_add(&free, &need, -(int64_t)pool->workers);
    }
    return weir_amounts_most(&round, &free);
}

static weir_status plan_rounds(struct weir_run *run, void *state)
{
    bool goes_on = true;

    (void)state;
    WEIR_TRY(weir_run_manual(run));
    WEIR_TRY(weir_run_minimum(run));
    for (uint32_t i = 0; i < run->count; i++) {
        run->pools[i].is_active = weir_run_is_free(&run->pools[i]);
        run->pools[i].binding = WEIR_REASON_TARGET;
    }
    const uint32_t most = most_rounds(run);
    const uint32_t fewest = fewest_workers(run);
    weir_plan_set_phase(run->plan, 3);
    WEIR_TRY(level(run, fewest));
    for (uint32_t workers = fewest; goes_on && workers < UINT32_MAX; workers++)
        WEIR_TRY(play_round(run, workers + 1, &goes_on));
    for (uint32_t i = 0; i < run->count; i++)
        run->pools[i].target = most;
    return WEIR_OK;
}

static weir_status equal_split_decide(void *state, const struct weir_view *view,
                                      struct weir_placer *placer, struct weir_plan *plan,
                                      struct weir_error *error)
{
    const struct weir_run_phases phases = { plan_rounds, NULL };
    struct weir_run *const run = state;

    WEIR_TRY(weir_run_begin(run, view, placer, plan, error));
    WEIR_TRY(weir_run_plan_better(run, &phases));
    return weir_run_end_planned(run);
}

const struct weir_scaling_ops weir_scaling_equal_split =
    WEIR_RUN_POLICY("equal_split", PARAMS, weir_run_create, equal_split_decide,
                    "the same number of workers for every stage");
