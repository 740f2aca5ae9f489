/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ray Data's actor-pool autoscaler: every pool by itself, by how full its workers' slots are.
 *
 * utilisation = tasks in flight / workers, those in set-up included: from `up` on a pool grows, to
 * `down` it shrinks by one, not within `hold` of its last growth. A worker takes two tasks, so that
 * full pools have 2. What a pool may grow to is its budget: part `reserved` of the supply is kept
 * in equal parts for the pools that need it, the rest is for whoever comes, an equal part each at a
 * time, or what one worker takes. When more is held, whoever has most beyond its part gives one up.
 *
 * Older versions divided by the workers that are ready (`counts_pending: false`): while the first
 * ones load a model every decision asks for more.
 *
 * A view has no tasks by worker: those in flight are what is busy and what waits, as far as the
 * slots of ready workers take it. Workers that a loss of nodes took are started again at once, as
 * far as they fit, as Ray restarts actors. Meant for an interval of a few seconds.
 */
#include "sched/internal/alloc.h"
#include "sched/internal/memory.h"
#include "sched/internal/tasks.h"
#include "sched/scaling/run.h"
#include "sched/scaling/scalings.h"

#include <string.h>

static const double NS_PER_S = 1e9;

enum {
    PARAM_UP = WEIR_RUN_PARAM_COUNT,
    PARAM_DOWN,
    PARAM_MIN,
    PARAM_MAX,
    PARAM_MAX_DELTA,
    PARAM_HOLD,
    PARAM_COUNTS_PENDING,
    PARAM_RESERVED,
    PARAM_COUNT
};

static const struct weir_param PARAMS[] = {
    WEIR_RUN_PARAMS,
    WEIR_NUMBER("up", "", 1e-3, 1e3, 1.75, "tasks in flight a worker from which a stage grows"),
    WEIR_NUMBER("down", "", 0, 1e3, 0.5, "the same, to which it shrinks"),
    WEIR_COUNT("min_workers", "", 1, 1e6, 1, "of a stage"),
    WEIR_COUNT("max_workers", "", 1, 1e9, 1e9, "of a stage"),
    WEIR_COUNT("max_delta", "", 1, 1e6, 1, "workers that a stage may grow by in one decision"),
    WEIR_DURATION("hold", 0, 1e6, 10, "after a growth in which a stage does not shrink"),
    WEIR_FLAG("counts_pending", 1, "workers in set-up count for what a stage has"),
    WEIR_NUMBER("reserved", "", 0, 1, 0.5, "part of the cluster kept for stages in equal parts"),
};

enum { AMOUNTS = 6 }; /* of struct weir_amounts */

struct actor_pool {
    double grown_s; /* when it grew last; -INFINITY = never */
    uint32_t planned;
};

struct raydata {
    struct weir_run run; /* first: see WEIR_RUN_POLICY */
    double up, down, hold_s, reserved;
    uint32_t least, most, max_delta;
    bool counts_pending, has_lost;
    struct actor_pool *pools;
    uint32_t pool_count, pool_capacity;
    int64_t kept[AMOUNTS];    /* for each pool that needs it */
    int64_t shared[AMOUNTS];  /* what nobody has of the rest; negative = more is held */
    int64_t needing[AMOUNTS]; /* pools */
    uint32_t over;            /* the pool that gives one up; WEIR_NO_INDEX = none */
};

static weir_status raydata_create(const struct weir_params *params,
                                  const struct weir_allocator *allocator, void **state,
                                  struct weir_error *error)
{
    const double *const values = params->values;

    WEIR_TRY(weir_run_make(sizeof(struct raydata), params, allocator, state, error));
    struct raydata *const made = *state;
    made->up = values[PARAM_UP];
    made->down = values[PARAM_DOWN];
    made->hold_s = values[PARAM_HOLD];
    made->reserved = values[PARAM_RESERVED];
    made->least = (uint32_t)values[PARAM_MIN];
    made->most = (uint32_t)fmax(values[PARAM_MAX], values[PARAM_MIN]);
    made->max_delta = (uint32_t)values[PARAM_MAX_DELTA];
    made->counts_pending = values[PARAM_COUNTS_PENDING] > 0;
    return WEIR_OK;
}

static void raydata_destroy(void *state)
{
    struct raydata *const policy = state;

    weir_free(&policy->run.allocator, policy->pools);
    weir_run_destroy(state);
}

static weir_status learn(struct raydata *policy, const struct weir_view *view)
{
    WEIR_ROOM(&policy->run.allocator, policy->pools, policy->pool_capacity, view->pool_count);
    for (; policy->pool_count < view->pool_count; policy->pool_count++)
        policy->pools[policy->pool_count] = (struct actor_pool){ .grown_s = -(double)INFINITY };
    return WEIR_OK;
}

/* ---- budgets ---- */

/* Each amount of a struct, so that a rule is written once for all. */
static void list_amounts(const struct weir_amounts *amounts, int64_t list[AMOUNTS])
{
    const int64_t each[AMOUNTS] = {
        amounts->cpu_units, amounts->gpu_units, amounts->nvdecs,
        amounts->nvencs,    amounts->ram_bytes, amounts->gpu_mem_bytes
    };

    memcpy(list, each, sizeof each);
}

/* What one worker of a pool takes. */
static void list_need(const struct raydata *policy, uint32_t pool, int64_t need[AMOUNTS])
{
    const struct weir_amounts amounts = weir_run_need(&policy->run, pool);

    list_amounts(&amounts, need);
}

/* What a pool holds of an amount beyond what is kept for it. */
static int64_t beyond(const struct raydata *policy, uint32_t pool, uint32_t amount, int64_t need)
{
    const bool is_free = weir_run_is_free(&policy->run.pools[pool]);
    const int64_t over =
        policy->run.pools[pool].workers * need - (is_free ? policy->kept[amount] : 0);

    return over > 0 ? over : 0;
}

static void divide_supply(struct raydata *policy)
{
    const struct weir_run *const run = &policy->run;
    int64_t total[AMOUNTS];
    int64_t need[AMOUNTS];

    list_amounts(&run->supply, total);
    memset(policy->needing, 0, sizeof policy->needing);
    for (uint32_t i = 0; i < run->count; i++) {
        list_need(policy, i, need);
        for (uint32_t a = 0; a < AMOUNTS; a++)
            policy->needing[a] += weir_run_is_free(&run->pools[i]) && need[a] > 0;
    }
    for (uint32_t a = 0; a < AMOUNTS; a++) {
        const int64_t parts = policy->needing[a];
        policy->kept[a] =
            parts > 0 ? (int64_t)(policy->reserved * (double)total[a] / (double)parts) : 0;
        policy->shared[a] = total[a] - parts * policy->kept[a];
    }
    for (uint32_t i = 0; i < run->count; i++) {
        list_need(policy, i, need);
        for (uint32_t a = 0; a < AMOUNTS; a++)
            policy->shared[a] -= beyond(policy, i, a, need[a]);
    }
}

/* Who has most beyond its part of an amount of which more is held than there is to share. */
static uint32_t find_over(const struct raydata *policy)
{
    uint32_t found = WEIR_NO_INDEX;
    double most = 0;

    for (uint32_t i = 0; i < policy->run.count; i++) {
        int64_t need[AMOUNTS];
        list_need(policy, i, need);
        for (uint32_t a = 0; a < AMOUNTS; a++) {
            const double part = (double)beyond(policy, i, a, need[a]) / (double)policy->kept[a];
            if (policy->shared[a] < 0 && weir_run_is_free(&policy->run.pools[i]) && part > most) {
                found = i;
                most = part;
            }
        }
    }
    return found;
}

/* By how many workers a pool may grow. */
static int64_t budget(const struct raydata *policy, uint32_t pool)
{
    int64_t least = INT32_MAX;
    int64_t need[AMOUNTS];

    list_need(policy, pool, need);
    for (uint32_t a = 0; a < AMOUNTS; a++) {
        if (need[a] == 0)
            continue;
        const int64_t own = policy->kept[a] - policy->run.pools[pool].workers * need[a];
        const int64_t left = own > 0 ? own : 0;
        const int64_t shared = policy->shared[a] > 0 ? policy->shared[a] : 0;
        int64_t may = (left + shared / policy->needing[a]) / need[a];
        if (may == 0 && left + shared >= need[a])
            may = 1;
        least = may < least ? may : least;
    }
    return least;
}

/* ---- the thresholds ---- */

static double tasks_in_flight(const struct weir_pool_view *seen, double ready)
{
    const double members = weir_shape_members(&seen->shape);
    const double held = seen->busy / members + weir_pool_tasks(seen);

    return fmin(held, seen->slots * ready);
}

/* The count that is wanted of one pool, as the original goes through its cases. */
static uint32_t wanted(struct raydata *policy, uint32_t i, double now_s)
{
    const struct weir_pool_view *const seen = weir_view_pool(policy->run.view, i);
    const uint32_t size = policy->run.pools[i].workers;
    const double ready = fmin(seen->ready / (double)weir_shape_members(&seen->shape), size);
    const double counted = policy->counts_pending ? size : ready;
    const double tasks = tasks_in_flight(seen, ready);
    const double use = counted > 0 ? tasks / counted : (double)INFINITY;
    const int64_t may = budget(policy, i);

    if (seen->finished != 0)
        return size > 1 ? size - 1 : 1;
    if (size < policy->least || size > policy->most)
        return size < policy->least ? policy->least : policy->most;
    if (policy->over == i)
        return size > policy->least ? size - 1 : size;
    if (!(tasks > 0) && isnan(seen->estimate.batches_per_s))
        return size; /* nothing has come yet */
    if (use >= policy->up) {
        double delta = isinf(use) ? policy->max_delta : ceil(size * (use / policy->up - 1) - 1e-9);
        delta =
            fmin(fmin(fmax(delta, 1), policy->max_delta), fmin((double)may, policy->most - size));
        policy->pools[i].grown_s = delta > 0 ? now_s : policy->pools[i].grown_s;
        return size + (uint32_t)delta;
    }
    const bool may_shrink = use <= policy->down && ready >= size && size > policy->least &&
                            now_s - policy->pools[i].grown_s > policy->hold_s;
    return may_shrink ? size - 1 : size;
}

static weir_status plan_pools(struct weir_run *run, void *state)
{
    struct raydata *const policy = state;
    const double now_s = (double)run->view->now_ns / NS_PER_S;

    WEIR_TRY(weir_run_manual(run));
    WEIR_TRY(weir_run_minimum(run));
    divide_supply(policy);
    policy->over = find_over(policy);
    for (uint32_t i = 0; i < run->count; i++) {
        if (!weir_run_is_free(&run->pools[i]))
            continue;
        const uint32_t count =
            policy->has_lost ? policy->pools[i].planned : wanted(policy, i, now_s);
        run->pools[i].target = count > 1 ? count : 1;
    }
    return weir_run_targets(run, run->is_anew);
}

static bool has_lost_workers(const struct raydata *policy)
{
    const struct weir_run *const run = &policy->run;

    for (uint32_t i = 0; i < run->count; i++) {
        if (weir_run_is_free(&run->pools[i]) && run->pools[i].before < policy->pools[i].planned)
            return true;
    }
    return false;
}

static weir_status raydata_decide(void *state, const struct weir_view *view,
                                  struct weir_placer *placer, struct weir_plan *plan,
                                  struct weir_error *error)
{
    struct raydata *const policy = state;
    struct weir_run *const run = &policy->run;
    const struct weir_run_phases phases = { plan_pools, policy };

    if (learn(policy, view) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    WEIR_TRY(weir_run_begin(run, view, placer, plan, error));
    policy->has_lost = has_lost_workers(policy);
    WEIR_TRY(policy->has_lost ? weir_run_plan_better(run, &phases) : plan_pools(run, policy));
    for (uint32_t i = 0; i < run->count; i++)
        policy->pools[i].planned = run->pools[i].workers;
    return weir_run_end_planned(run);
}

/* ---- memory ---- */

static void remember(struct raydata *policy, struct weir_memory *memory)
{
    struct actor_pool *const pools = policy->pools;

    policy->pool_count = weir_memory_length(memory, policy->pool_count);
    for (uint32_t i = 0; i < policy->pool_count; i++) {
        double grown_s = isinf(pools[i].grown_s) ? (double)NAN : pools[i].grown_s;
        weir_memory_number(memory, &grown_s);
        pools[i].grown_s = isnan(grown_s) ? -(double)INFINITY : grown_s;
        pools[i].planned = (uint32_t)weir_memory_count(memory, pools[i].planned, 0);
    }
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the memory writes to them */
static uint32_t raydata_save(const void *state, double *numbers, uint32_t capacity)
{
    struct weir_memory memory = { .to = numbers, .size = capacity };
    struct raydata policy = *(const struct raydata *)state;

    remember(&policy, &memory);
    return memory.used;
}

static weir_status raydata_restore(void *state, const struct weir_view *view, const double *numbers,
                                   uint32_t count, struct weir_error *error)
{
    struct raydata *const policy = state;
    struct weir_memory memory = { .from = numbers, .size = count };

    if (learn(policy, view) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    remember(policy, &memory);
    return weir_memory_end(&memory, error);
}

const struct weir_scaling_ops weir_scaling_raydata = {
    .size = sizeof(struct weir_scaling_ops),
    .abi = WEIR_ABI_MAJOR,
    .name = "raydata",
    .summary = "each stage by itself, by how full the slots of its workers are",
    .params = PARAMS,
    .param_count = PARAM_COUNT,
    .create = raydata_create,
    .destroy = raydata_destroy,
    .decide = raydata_decide,
    .save = raydata_save,
    .restore = raydata_restore,
};
