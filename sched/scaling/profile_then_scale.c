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
#include "sched/scaling/kept.h"
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

/* Of a pool. */
enum {
    BUSY,  /* sum of the shares that were seen */
    LOOKS, /* how many */
    NUMBERS
};

struct profiler {
    struct weir_kept kept; /* first */
    uint32_t first, then, looks, when;
    double below;
};

static weir_status profile_create(const struct weir_params *params,
                                  const struct weir_allocator *allocator, void **state,
                                  struct weir_error *error)
{
    const double *const values = params->values;

    WEIR_TRY(weir_run_make(sizeof(struct profiler), params, allocator, state, error));
    struct profiler *const made = *state;
    made->kept.width = NUMBERS;
    made->first = (uint32_t)values[PARAM_FIRST];
    made->then = (uint32_t)values[PARAM_THEN];
    made->below = values[PARAM_BELOW];
    made->looks = (uint32_t)values[PARAM_LOOKS];
    made->when = (uint32_t)values[PARAM_WHEN];
    return WEIR_OK;
}

static uint32_t count_of(const struct profiler *policy, const double *pool)
{
    if (pool[LOOKS] < policy->looks)
        return policy->first;
    const bool waits = pool[BUSY] / pool[LOOKS] < policy->below;

    return waits == (policy->when == WHEN_WAITING) ? policy->then : policy->first;
}

/* Workers that are not ready say nothing. */
static void look(const struct profiler *policy, double *pool, const struct weir_pool_view *seen)
{
    if (pool[LOOKS] >= policy->looks || seen->ready == 0)
        return;
    pool[BUSY] += (double)seen->busy / (double)seen->ready;
    pool[LOOKS]++;
}

static weir_status profile_decide(void *state, const struct weir_view *view,
                                  struct weir_placer *placer, struct weir_plan *plan,
                                  struct weir_error *error)
{
    struct profiler *const policy = state;
    struct weir_run *const run = &policy->kept.run;

    WEIR_TRY(weir_kept_learn(&policy->kept, view, error));
    WEIR_TRY(weir_run_begin(run, view, placer, plan, error));
    WEIR_TRY(weir_run_manual(run));
    WEIR_TRY(weir_run_minimum(run));
    for (uint32_t i = 0; i < run->count; i++) {
        if ((view->causes & WEIR_CAUSE_TIMER) != 0)
            look(policy, weir_kept_of(&policy->kept, i), weir_view_pool(view, i));
        run->pools[i].target = count_of(policy, weir_kept_of(&policy->kept, i));
    }
    WEIR_TRY(weir_run_targets(run, false));
    return weir_run_end_planned(run);
}

const struct weir_scaling_ops weir_scaling_profile_then_scale =
    WEIR_KEPT_POLICY("profile_then_scale", PARAMS, profile_create, profile_decide,
                     "a few workers first, then more of those that mostly wait");
