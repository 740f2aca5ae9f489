/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is demanded, and the counts that meet it as far as they fit; see demand.h.
 *
 * While counts are planned, throughputs are parts of what is demanded (1 = met), so that whoever is
 * slowest is who falls shortest of its demand, and pipelines with little to do are not raised to
 * the rate of others.
 */
#include "sched/scaling/demand.h"

#include "sched/internal/alloc.h"

#include <string.h>

static const double NS_PER_S = 1e9;
/* A pipeline without any work is as good as served by one worker a pool. */
static const double LEAST_PER_S = 1e-9;

enum { PARAM_SOURCE_RATE = WEIR_RUN_PARAM_COUNT, PARAM_CATCH_UP, PARAM_WARMUP };

weir_status weir_demand_create(size_t size, uint32_t (*count)(struct weir_demand *, uint32_t pool),
                               const struct weir_params *params,
                               const struct weir_allocator *allocator, void **state,
                               struct weir_error *error)
{
    WEIR_TRY(weir_run_make(size, params, allocator, state, error));
    struct weir_demand *const demand = *state;
    demand->count = count;
    demand->source_rate_per_s = params->values[PARAM_SOURCE_RATE];
    demand->catch_up_s = params->values[PARAM_CATCH_UP];
    demand->warmup = (uint32_t)params->values[PARAM_WARMUP];
    return WEIR_OK;
}

void weir_demand_destroy(void *state)
{
    struct weir_demand *const demand = state;

    weir_free(&demand->run.allocator, demand->pools);
    weir_run_destroy(state);
}

static weir_status learn(struct weir_demand *demand, const struct weir_view *view)
{
    WEIR_ROOM(&demand->run.allocator, demand->pools, demand->pool_capacity, view->pool_count);
    for (; demand->pool_count < view->pool_count; demand->pool_count++)
        memset(&demand->pools[demand->pool_count], 0, sizeof *demand->pools);
    return WEIR_OK;
}

/* Tasks of pools that no decision has seen are not counted. */
weir_status weir_demand_measured(void *state, const struct weir_measurement *task)
{
    struct weir_demand *const demand = state;

    if (task->pool < demand->pool_count)
        demand->pools[task->pool].taken += task->batch > 0 ? task->batch : 1;
    return WEIR_OK;
}

/* ---- what is demanded ---- */

static bool is_first(const struct weir_view *view, uint32_t pool)
{
    return pool == 0 ||
           weir_view_pool(view, pool)->pipeline != weir_view_pool(view, pool - 1)->pipeline;
}

static void observe(struct weir_demand *demand, const struct weir_view *view)
{
    const bool is_timer = (view->causes & WEIR_CAUSE_TIMER) != 0;
    const double past_s = (double)(view->now_ns - demand->timer_ns) / NS_PER_S;

    for (uint32_t i = 0; i < view->pool_count; i++) {
        struct weir_demand_pool *const pool = &demand->pools[i];
        const double waiting = (double)weir_view_pool(view, i)->queued_items;
        if (!is_first(view, i)) {
            pool->per_s = pool[-1].per_s;
            continue;
        }
        if (is_timer && demand->has_timer && past_s > 0)
            pool->arrived = fmax(0, waiting - pool->waiting + pool->taken) / past_s;
        if (is_timer) {
            pool->waiting = waiting;
            pool->taken = 0;
        }
        pool->per_s = demand->source_rate_per_s > 0 ? demand->source_rate_per_s
                                                    : pool->arrived + waiting / demand->catch_up_s;
        pool->per_s = fmax(pool->per_s, LEAST_PER_S);
    }
    demand->has_timer |= is_timer;
    demand->timer_ns = is_timer ? view->now_ns : demand->timer_ns;
}

uint32_t weir_demand_ds2(const struct weir_demand *demand, uint32_t pool)
{
    /* The tolerance keeps an exact count from being raised by its last bit. */
    const double due = ceil(demand->pools[pool].per_s / demand->run.pools[pool].rate_per_s - 1e-9);

    return due < 1 ? 1 : due > INT32_MAX ? INT32_MAX : (uint32_t)due;
}

/* ---- when counts may change ---- */

static bool is_measured(const struct weir_demand *demand)
{
    for (uint32_t i = 0; i < demand->run.count; i++) {
        const struct weir_pool_view *const seen = weir_view_pool(demand->run.view, i);
        if (weir_run_is_free(&demand->run.pools[i]) && isnan(seen->estimate.batches_per_s) &&
            isnan(seen->speed_hint_per_s))
            return false;
    }
    return true;
}

static bool has_lost(const struct weir_demand *demand)
{
    for (uint32_t i = 0; i < demand->run.count; i++) {
        const struct weir_run_pool *const pool = &demand->run.pools[i];
        if (weir_run_is_free(pool) && pool->before < demand->pools[i].planned)
            return true;
    }
    return false;
}

/* Whether this decision follows the demand. */
static bool may_change(struct weir_demand *demand)
{
    const bool is_timer = (demand->run.view->causes & WEIR_CAUSE_TIMER) != 0;

    if (has_lost(demand))
        demand->watches = 0;
    else if (!is_timer)
        return false;
    const bool is_watching = demand->watches > 0;
    demand->watches -= is_watching;
    return !is_watching && is_measured(demand);
}

/* ---- the plan ---- */

/* Throughput of all pools in parts of what is demanded, or back in items. */
static void measure_in_demands(struct weir_demand *demand, bool in_demands)
{
    for (uint32_t i = 0; i < demand->run.count; i++) {
        struct weir_run_pool *const pool = &demand->run.pools[i];
        const double per_s = demand->pools[i].per_s;
        pool->ratio *= in_demands ? 1 / per_s : per_s;
        pool->rate_per_s *= in_demands ? 1 / per_s : per_s;
    }
}

static void set_targets(struct weir_demand *demand, bool follows)
{
    struct weir_run *const run = &demand->run;

    for (uint32_t i = 0; i < run->count; i++) {
        struct weir_run_pool *const pool = &run->pools[i];
        const uint32_t wanted = follows ? demand->count(demand, i) : pool->workers;
        pool->target = wanted > 1 ? wanted : 1;
    }
}

/* What wants more than all have of the cluster is cut to it. */
static weir_status plan_counts(struct weir_run *run, void *state)
{
    struct weir_demand *const demand = state;

    WEIR_TRY(weir_run_manual(run));
    WEIR_TRY(weir_run_minimum(run));
    set_targets(demand, true);
    measure_in_demands(demand, true);
    WEIR_TRY(weir_run_optimum(run));
    for (uint32_t i = 0; i < run->count; i++) {
        struct weir_run_pool *const pool = &run->pools[i];
        if (pool->target > pool->optimum)
            pool->target = pool->optimum > 1 ? pool->optimum : 1;
    }
    return weir_run_targets(run, run->is_anew);
}

static weir_status keep_counts(struct weir_demand *demand)
{
    WEIR_TRY(weir_run_manual(&demand->run));
    WEIR_TRY(weir_run_minimum(&demand->run));
    set_targets(demand, false);
    return WEIR_OK;
}

weir_status weir_demand_decide(void *state, const struct weir_view *view,
                               struct weir_placer *placer, struct weir_plan *plan,
                               struct weir_error *error)
{
    struct weir_demand *const demand = state;
    struct weir_run *const run = &demand->run;
    const struct weir_run_phases phases = { plan_counts, demand };
    bool has_changed = false;

    if (learn(demand, view) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    WEIR_TRY(weir_run_begin(run, view, placer, plan, error));
    observe(demand, view);
    const bool follows = may_change(demand);
    WEIR_TRY(follows ? weir_run_plan_better(run, &phases) : keep_counts(demand));
    if (follows)
        measure_in_demands(demand, false);
    for (uint32_t i = 0; i < run->count; i++) {
        has_changed |= run->pools[i].started > 0 || run->pools[i].stopped > 0;
        demand->pools[i].planned = run->pools[i].workers;
    }
    if (has_changed)
        demand->watches = demand->warmup;
    return weir_run_end_planned(run);
}

/* ---- memory ---- */

static void remember(struct weir_demand *demand, struct weir_memory *memory)
{
    demand->watches = (uint32_t)weir_memory_count(memory, demand->watches, 0);
    demand->has_timer = weir_memory_count(memory, demand->has_timer, 0) > 0;
    weir_memory_amount(memory, &demand->timer_ns);
    demand->pool_count = weir_memory_length(memory, demand->pool_count);
    for (uint32_t i = 0; i < demand->pool_count; i++) {
        struct weir_demand_pool *const pool = &demand->pools[i];
        weir_memory_number(memory, &pool->arrived);
        weir_memory_number(memory, &pool->taken);
        weir_memory_number(memory, &pool->waiting);
        pool->planned = (uint32_t)weir_memory_count(memory, pool->planned, 0);
        weir_history_remember(&pool->history, memory);
    }
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the memory writes to them */
uint32_t weir_demand_save(const void *state, double *numbers, uint32_t capacity)
{
    struct weir_memory memory = { .to = numbers, .size = capacity };
    struct weir_demand demand = *(const struct weir_demand *)state;

    remember(&demand, &memory);
    return memory.used;
}

weir_status weir_demand_restore(void *state, const struct weir_view *view, const double *numbers,
                                uint32_t count, struct weir_error *error)
{
    struct weir_memory memory = { .from = numbers, .size = count };

    if (learn(state, view) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    remember(state, &memory);
    return weir_memory_end(&memory, error);
}
