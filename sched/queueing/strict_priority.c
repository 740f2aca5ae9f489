/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "strict_priority": the most urgent first, others pass, and a job that finds no place
 * takes that of jobs at least `gap` less urgent: the least urgent first, of equals the one that
 * started last, and no more than are needed (reclaim.h). Whatever is short, GPUs or their memory,
 * the placement says whether it fits. With a `grace` victims are warned; while they leave nobody
 * behind the waiting job starts.
 *
 * Cost of a pass: as of first_fit, and for each job that may take a place O(running).
 */
#include "sched/queueing/queueings.h"

#include "sched/internal/made.h"
#include "sched/internal/params.h"
#include "sched/queueing/parts/reclaim.h"
#include "sched/queueing/parts/walk.h"

enum { PARAM_GAP, PARAM_GRACE, PARAM_COUNT };

static const struct weir_param params[PARAM_COUNT] = {
    [PARAM_GAP] = WEIR_NUMBER("gap", "", 1, 1e9, 1, "victims are at least so much less urgent"),
    [PARAM_GRACE] = WEIR_DURATION("grace", 0, 1e9, 0,
                                  "to save what was done before a job is stopped; 0 = at once"),
};

struct strict {
    struct weir_allocator allocator;
    double values[PARAM_COUNT];
    struct weir_walk walk;
    struct weir_reclaim reclaim;
};

static const struct weir_made made = WEIR_MADE(struct strict, params, PARAM_COUNT);

static double key(void *state, const struct weir_job *job, int64_t now_ns)
{
    (void)state;
    (void)now_ns;
    return -(double)job->priority;
}

/* ---- taking places ---- */

static bool may_go(void *state, const struct weir_job *victim, const struct weir_job *job)
{
    const struct strict *const strict = state;

    return job->priority - (double)victim->priority >= strict->values[PARAM_GAP];
}

static void count(void *state, const struct weir_job *victim, int sign)
{
    (void)state;
    (void)victim;
    (void)sign;
}

static bool is_leaving(const struct weir_view *view)
{
    struct weir_job job = { .size = sizeof job };

    for (bool more = weir_view_next_running(view, NULL, &job); more;
         more = weir_view_next_running(view, &job, &job))
        if (job.is_preempted != 0)
            return true;
    return false;
}

/* It found no place. *is_over: what others give back is kept for it. */
static weir_status make_room(void *state, const struct weir_job *job, bool *is_over,
                             struct weir_error *error)
{
    struct strict *const strict = state;
    struct weir_reclaim *const reclaim = &strict->reclaim;

    *is_over = reclaim->grace_ns > 0 && is_leaving(reclaim->view);
    return *is_over ? WEIR_EBUSY : weir_reclaim_start(reclaim, job, is_over, error);
}

static weir_status pass(void *state, const struct weir_view *view, struct weir_placer *placer,
                        struct weir_plan *plan, struct weir_error *error)
{
    struct strict *const strict = state;

    (void)plan;
    strict->reclaim.view = view;
    strict->reclaim.placer = placer;
    return weir_reclaim_offer(&strict->reclaim, &strict->walk, make_room, error);
}

/* ---- its life ---- */

static weir_status create(const struct weir_params *given, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error)
{
    WEIR_TRY(weir_made_create(&made, given, allocator, state, error));
    struct strict *const strict = *state;
    weir_walk_open(&strict->walk, allocator);
    strict->reclaim =
        (struct weir_reclaim){ .allocator = *allocator,
                               .state = strict,
                               .may_go = may_go,
                               .count = count,
                               .grace_ns = (int64_t)(strict->values[PARAM_GRACE] * 1e9) };
    return WEIR_OK;
}

static void destroy(void *state)
{
    struct strict *const strict = state;

    weir_walk_close(&strict->walk);
    weir_reclaim_close(&strict->reclaim);
    weir_made_destroy(state);
}

const struct weir_queueing_ops weir_queueing_strict_priority = {
    .size = sizeof weir_queueing_strict_priority,
    .abi = WEIR_ABI_MAJOR,
    .name = "strict_priority",
    .summary = "the most urgent first; who finds no place takes that of less urgent jobs",
    .params = params,
    .param_count = PARAM_COUNT,
    .create = create,
    .destroy = destroy,
    .key = key,
    .pass = pass,
};
