/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pool feedback: a pool whose count is free follows the queue of the pool behind it. While less
 * than `set_point` waits there and there is work in front of it, it grows; above that it shrinks.
 *
 * With e = (set_point - queue) / set_point within [-1, 1], and d = growth of the queue since the
 * last decision in parts of set_point, the wanted count goes times 1 + gain * e - damping * d. The
 * queue adds up what comes and goes, so gain alone never comes to rest: the count turns back only
 * when the queue is too long already. Around its rest the loop is stable while damping > gain.
 *
 * The last pool of a pipeline has none behind it and keeps the count it has. Decisions that no
 * timer made keep counts.
 */
#include "sched/scaling/kept.h"
#include "sched/scaling/scalings.h"

enum {
    PARAM_SET_POINT = WEIR_RUN_PARAM_COUNT,
    PARAM_GAIN,
    PARAM_DAMPING,
    PARAM_LEAST,
    PARAM_MOST,
    PARAM_COUNT
};

static const struct weir_param PARAMS[] = {
    WEIR_RUN_PARAMS,
    WEIR_NUMBER("set_point", "items", 1, 1e12, 64, "waiting behind a stage, that it aims at"),
    WEIR_NUMBER("gain", "", 0, 10, 0.25, "of the distance to it, by which a count changes"),
    WEIR_NUMBER("damping", "", 0, 10, 1, "of the growth of what waits, by which it changes less"),
    WEIR_COUNT("least", "workers", 1, 1e6, 1, "of a stage"),
    WEIR_COUNT("most", "workers", 1, 1e9, 1e9, "of a stage"),
};

/* Of a pool; UNKNOWN at first. */
enum {
    WANTED,  /* count before it is rounded */
    WAITING, /* behind it, at the last decision */
    NUMBERS
};
enum { UNKNOWN = -1 };

struct feedback {
    struct weir_kept kept; /* first */
    double set_point, gain, damping, least, most;
};

static weir_status feedback_create(const struct weir_params *params,
                                   const struct weir_allocator *allocator, void **state,
                                   struct weir_error *error)
{
    const double *const values = params->values;

    WEIR_TRY(weir_run_make(sizeof(struct feedback), params, allocator, state, error));
    struct feedback *const made = *state;
    made->kept.width = NUMBERS;
    made->kept.initial = UNKNOWN;
    made->set_point = values[PARAM_SET_POINT];
    made->gain = values[PARAM_GAIN];
    made->damping = values[PARAM_DAMPING];
    made->least = values[PARAM_LEAST];
    made->most = fmax(values[PARAM_MOST], values[PARAM_LEAST]);
    return WEIR_OK;
}

/* The pool behind it, WEIR_NO_INDEX = none. */
static uint32_t behind(const struct weir_view *view, uint32_t pool)
{
    if (pool + 1 >= view->pool_count ||
        weir_view_pool(view, pool + 1)->pipeline != weir_view_pool(view, pool)->pipeline)
        return WEIR_NO_INDEX;
    return pool + 1;
}

static double within(double value, double low, double high)
{
    return fmax(low, fmin(value, high));
}

static void follow(struct feedback *policy, uint32_t i)
{
    double *const pool = weir_kept_of(&policy->kept, i);
    const struct weir_view *const view = policy->kept.run.view;
    const uint32_t next = behind(view, i);

    if (next == WEIR_NO_INDEX)
        return;
    const double waiting = (double)weir_view_pool(view, next)->queued_items;
    const double error = within((policy->set_point - waiting) / policy->set_point, -1, 1);
    const double growth = pool[WAITING] < 0 ? 0 : (waiting - pool[WAITING]) / policy->set_point;
    double change = policy->gain * error - policy->damping * growth;
    if (weir_view_pool(view, i)->queued_items == 0)
        change = fmin(change, 0);
    pool[WANTED] =
        within(pool[WANTED] * (1 + within(change, -0.5, 1)), policy->least, policy->most);
    pool[WAITING] = waiting;
}

static void set_targets(struct feedback *policy, bool is_timer)
{
    struct weir_run *const run = &policy->kept.run;

    for (uint32_t i = 0; i < run->count; i++) {
        double *const wanted = &weir_kept_of(&policy->kept, i)[WANTED];
        if (*wanted < policy->least)
            *wanted = fmax(policy->least, run->pools[i].workers);
        if (is_timer && weir_run_is_free(&run->pools[i]))
            follow(policy, i);
        run->pools[i].target = (uint32_t)(*wanted + 0.5);
    }
}

static weir_status feedback_decide(void *state, const struct weir_view *view,
                                   struct weir_placer *placer, struct weir_plan *plan,
                                   struct weir_error *error)
{
    struct feedback *const policy = state;
    struct weir_run *const run = &policy->kept.run;

    WEIR_TRY(weir_kept_learn(&policy->kept, view, error));
    WEIR_TRY(weir_run_begin(run, view, placer, plan, error));
    WEIR_TRY(weir_run_manual(run));
    WEIR_TRY(weir_run_minimum(run));
    set_targets(policy, (view->causes & WEIR_CAUSE_TIMER) != 0);
    WEIR_TRY(weir_run_targets(run, false));
    return weir_run_end_planned(run);
}

const struct weir_scaling_ops weir_scaling_pool_feedback =
    WEIR_KEPT_POLICY("pool_feedback", PARAMS, feedback_create, feedback_decide,
                     "more workers while little waits behind a stage, fewer while much does");
