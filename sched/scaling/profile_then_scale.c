/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profile, then scale: a pool whose count is free begins with `first` workers. After `looks`
 * decisions the mean share of its ready workers that were at work decides once: below `below` they
 * wait for something else, and `then` of them get more of it done; above it they compute, and more
 * of them would share the same processors.
 *
 * That is the opposite of scaling up what is busy: `when: busy` does so, with the same measure, and
 * takes waiting for idleness.
 */
#include "sched/internal/alloc.h"
#include "sched/internal/memory.h"
#include "sched/scaling/run.h"
#include "sched/scaling/scalings.h"

enum {
    PARAM_FIRST = WEIR_RUN_PARAM_COUNT,
    PARAM_THEN,
    PARAM_BELOW,
    PARAM_LOOKS,
    PARAM_WHEN,
    PARAM_COUNT
};
enum { WHEN_WAITING, WHEN_BUSY };

static const struct weir_param PARAMS[] = {
    WEIR_RUN_PARAMS,
    WEIR_COUNT("first", "workers", 1, 1e6, 4, "of a stage, while it is looked at"),
    WEIR_COUNT("then", "workers", 1, 1e6, 16, "of it afterwards"),
    WEIR_NUMBER("below", "", 0, 1, 0.5, "share of its workers at work that parts the two"),
    WEIR_COUNT("looks", "", 1, 1e6, 5, "decisions for which it is looked at"),
    WEIR_CHOICE("when", "waiting|busy", 1, WHEN_WAITING,
                "which pools get more: those whose workers wait, or those whose workers are busy"),
};

struct profile {
    double busy;    /* sum of the shares that were seen */
    uint32_t looks; /* how many */
};

struct profiler {
    struct weir_run run; /* first: see weir_run_make */
    uint32_t first, then, looks, when;
    double below;
    struct profile *pools;
    uint32_t pool_count, pool_capacity;
};

static weir_status profile_create(const struct weir_params *params,
                                  const struct weir_allocator *allocator, void **state,
                                  struct weir_error *error)
{
    const double *const values = params->values;

    WEIR_TRY(weir_run_make(sizeof(struct profiler), params, allocator, state, error));
    struct profiler *const made = *state;
    made->first = (uint32_t)values[PARAM_FIRST];
    made->then = (uint32_t)values[PARAM_THEN];
    made->below = values[PARAM_BELOW];
    made->looks = (uint32_t)values[PARAM_LOOKS];
    made->when = (uint32_t)values[PARAM_WHEN];
    return WEIR_OK;
}

static void profile_destroy(void *state)
{
    struct profiler *const policy = state;

    weir_free(&policy->run.allocator, policy->pools);
    weir_run_destroy(state);
}

static weir_status learn(struct profiler *policy, const struct weir_view *view)
{
    WEIR_ROOM(&policy->run.allocator, policy->pools, policy->pool_capacity, view->pool_count);
    for (; policy->pool_count < view->pool_count; policy->pool_count++)
        policy->pools[policy->pool_count] = (struct profile){ .looks = 0 };
    return WEIR_OK;
}

static uint32_t count_of(const struct profiler *policy, const struct profile *pool)
{
    if (pool->looks < policy->looks)
        return policy->first;
    const bool waits = pool->busy / pool->looks < policy->below;

    return waits == (policy->when == WHEN_WAITING) ? policy->then : policy->first;
}

/* Workers that are not ready say nothing. */
static void look(const struct profiler *policy, struct profile *pool,
                 const struct weir_pool_view *seen)
{
    if (pool->looks >= policy->looks || seen->ready == 0)
        return;
    pool->busy += (double)seen->busy / (double)seen->ready;
    pool->looks++;
}

static weir_status profile_decide(void *state, const struct weir_view *view,
                                  struct weir_placer *placer, struct weir_plan *plan,
                                  struct weir_error *error)
{
    struct profiler *const policy = state;
    struct weir_run *const run = &policy->run;

    if (learn(policy, view) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    WEIR_TRY(weir_run_begin(run, view, placer, plan, error));
    WEIR_TRY(weir_run_manual(run));
    WEIR_TRY(weir_run_minimum(run));
    for (uint32_t i = 0; i < run->count; i++) {
        if ((view->causes & WEIR_CAUSE_TIMER) != 0)
            look(policy, &policy->pools[i], weir_view_pool(view, i));
        run->pools[i].target = count_of(policy, &policy->pools[i]);
    }
    WEIR_TRY(weir_run_targets(run, false));
    return weir_run_end_planned(run);
}

static void remember(struct profile *pools, uint32_t count, struct weir_memory *memory)
{
    for (uint32_t i = 0; i < count; i++) {
        struct profile pool = pools[i];
        weir_memory_number(memory, &pool.busy);
        pool.looks = (uint32_t)weir_memory_count(memory, pool.looks, 0);
        if (memory->from != NULL)
            pools[i] = pool;
    }
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the memory writes to them */
static uint32_t profile_save(const void *state, double *numbers, uint32_t capacity)
{
    const struct profiler *const policy = state;
    struct weir_memory memory = { .to = numbers, .size = capacity };

    remember(policy->pools, policy->pool_count, &memory);
    return memory.used;
}

static weir_status profile_restore(void *state, const struct weir_view *view, const double *numbers,
                                   uint32_t count, struct weir_error *error)
{
    struct profiler *const policy = state;
    struct weir_memory memory = { .from = numbers, .size = count };

    if (learn(policy, view) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    remember(policy->pools, policy->pool_count, &memory);
    return weir_memory_end(&memory, error);
}

const struct weir_scaling_ops weir_scaling_profile_then_scale = {
    .size = sizeof(struct weir_scaling_ops),
    .abi = WEIR_ABI_MAJOR,
    .name = "profile_then_scale",
    .summary = "a few workers first, then more of those that mostly wait",
    .params = PARAMS,
    .param_count = PARAM_COUNT,
    .create = profile_create,
    .destroy = profile_destroy,
    .decide = profile_decide,
    .save = profile_save,
    .restore = profile_restore,
};
