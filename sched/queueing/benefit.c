/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "benefit": the most urgent first, others pass, and a job that has waited long enough
 * takes the place of less urgent ones when that is worth more than it costs (benefit.h).
 *
 * What a victim loses: the time of a checkpoint (`checkpoint`, of every job; 0 counts as free), its
 * own restart (weir_job.restart_cost_ns, or `restart` of those that never were stopped), and what
 * it has done since its last checkpoint, one each `interval` of running. With a `grace` victims are
 * warned and save their work first; while they do nobody behind the waiting job starts, so that
 * what they give back is its own, and nobody else is warned for it.
 *
 * Cost of a pass: as of first_fit, and for each job that may take a place O(running).
 */
#include "sched/queueing/benefit.h"

#include "sched/internal/alloc.h"
#include "sched/internal/made.h"
#include "sched/internal/memory.h"
#include "sched/internal/params.h"
#include "sched/queueing/parts/ranked.h"
#include "sched/queueing/parts/reclaim.h"
#include "sched/queueing/queueings.h"

#include <math.h>

enum {
    PARAM_SCALE,
    PARAM_THRESHOLD,
    PARAM_LIMIT,
    PARAM_GRACE,
    PARAM_CHECKPOINT,
    PARAM_RESTART,
    PARAM_INTERVAL,
    PARAM_COUNT
};

static const struct weir_param params[PARAM_COUNT] = {
    [PARAM_SCALE] = WEIR_NUMBER("scale", "", 0, 1e9, 0.01,
                                "what a second of a step of priority is worth, in seconds lost"),
    [PARAM_THRESHOLD] =
        WEIR_DURATION("threshold", 0, 1e9, 0, "a job takes no place before it has waited so long"),
    [PARAM_LIMIT] =
        WEIR_DURATION("limit", 0, 1e9, 1e9, "whose checkpoint takes longer is left alone"),
    [PARAM_GRACE] = WEIR_DURATION("grace", 0, 1e9, 0,
                                  "to save what was done before a job is stopped; 0 = at once"),
    [PARAM_CHECKPOINT] = WEIR_DURATION("checkpoint", 0, 1e9, 0, "what a checkpoint of a job takes"),
    [PARAM_RESTART] = WEIR_DURATION("restart", 0, 1e9, 0, "what the restart of a job takes"),
    [PARAM_INTERVAL] = WEIR_DURATION(
        "interval", 0, 1e9, 0, "of running between two checkpoints; 0 = all that was done is lost"),
};

struct benefit {
    struct weir_allocator allocator;
    double values[PARAM_COUNT];
    struct weir_walk walk;
    struct weir_reclaim reclaim;
    struct weir_benefit_victim *victims;
    struct weir_job *order;
    uint32_t victim_capacity, order_capacity;
    int64_t now_ns;
    int64_t woken_ns;
};

static const struct weir_made made = WEIR_MADE(struct benefit, params, PARAM_COUNT);

static double key(void *state, const struct weir_job *job, int64_t now_ns)
{
    (void)state;
    (void)now_ns;
    return -(double)job->priority;
}

/* ---- victims ---- */

static struct weir_benefit_victim victim_of(const struct benefit *own, const struct weir_job *job)
{
    const int64_t end_ns = weir_job_end_ns(job, own->now_ns);
    const double ran_s = 1e-9 * (double)(own->now_ns - job->start_ns);
    const double round_s = own->values[PARAM_INTERVAL] + own->values[PARAM_CHECKPOINT];
    const bool is_saved = own->values[PARAM_GRACE] > 0;
    const bool has_rounds = own->values[PARAM_INTERVAL] > 0;

    return (struct weir_benefit_victim){
        .priority = job->priority,
        .gpus = weir_job_devices(job),
        .left_s = end_ns == INT64_MAX ? HUGE_VAL : 1e-9 * (double)(end_ns - own->now_ns),
        .checkpoint_s = own->values[PARAM_CHECKPOINT],
        .restart_s = job->restart_cost_ns > 0 ? 1e-9 * (double)job->restart_cost_ns
                                              : own->values[PARAM_RESTART],
        .wasted_s = is_saved     ? 0
                    : has_rounds ? fmod(ran_s, round_s)
                                 : ran_s,
    };
}

static bool may_go(void *state, const struct weir_job *victim, const struct weir_job *job)
{
    const struct benefit *const own = state;
    const struct weir_benefit_victim all = victim_of(own, victim);

    return weir_benefit_may_go(&all, job->priority, own->values[PARAM_SCALE],
                               own->values[PARAM_LIMIT]);
}

static void count(void *state, const struct weir_job *victim, int sign)
{
    (void)state;
    (void)victim;
    (void)sign;
}

/* GPUs of those that a plan stops already. */
static double going(const struct weir_view *view)
{
    struct weir_job job = { .size = sizeof job };
    double gpus = 0;

    for (bool more = weir_view_next_running(view, NULL, &job); more;
         more = weir_view_next_running(view, &job, &job))
        gpus += job.is_preempted != 0 ? weir_job_devices(&job) : 0;
    return gpus;
}

/* Who is to go in front, then all others as they were. The room was made before. */
static void arrange(void *state, struct weir_job *jobs, uint32_t job_count,
                    const struct weir_job *job)
{
    struct benefit *const own = state;
    const struct weir_amounts free = weir_cluster_free(weir_placer_scratch(own->reclaim.placer));
    const double wanted = weir_job_devices(job) - weir_units_amount(free.gpu_units);
    uint32_t eligible = 0;
    uint32_t used = 0;

    for (uint32_t i = 0; i < job_count; i++) {
        own->order[i] = jobs[i];
        if (!may_go(own, &jobs[i], job))
            continue;
        own->victims[eligible] = victim_of(own, &jobs[i]);
        own->victims[eligible++].place = i;
    }
    const uint32_t chosen = weir_benefit_choose(own->victims, eligible, wanted, true);
    for (uint32_t i = 0; i < chosen; i++) {
        jobs[used++] = own->order[own->victims[i].place];
        own->order[own->victims[i].place].size = 0; /* taken */
    }
    for (uint32_t i = 0; i < job_count; i++)
        if (own->order[i].size != 0)
            jobs[used++] = own->order[i];
}

/* ---- the pass ---- */

static weir_status reserve(struct benefit *own, uint32_t running)
{
    WEIR_ROOM(&own->allocator, own->victims, own->victim_capacity, running + 1);
    WEIR_ROOM(&own->allocator, own->order, own->order_capacity, running + 1);
    return WEIR_OK;
}

static bool has_waited(const struct benefit *own, const struct weir_job *job)
{
    const double waited_ns = (double)(own->now_ns - job->queued_ns);

    return own->values[PARAM_THRESHOLD] <= 0 || waited_ns > own->values[PARAM_THRESHOLD] * 1e9;
}

/* It found no place. *is_over: what others give back is kept for it. */
static weir_status make_room(void *state, const struct weir_job *job, bool *is_over,
                             struct weir_error *error)
{
    struct benefit *const own = state;

    *is_over = going(own->reclaim.view) > 0;
    if (*is_over || !has_waited(own, job))
        return WEIR_EBUSY;
    WEIR_TRY(reserve(own, weir_view_jobs(own->reclaim.view)));
    return weir_reclaim_start(&own->reclaim, job, is_over, error);
}

/* The next job may have waited long enough. */
static weir_status wake(struct benefit *own, const struct weir_view *view, struct weir_plan *plan)
{
    const int64_t threshold_ns = (int64_t)(own->values[PARAM_THRESHOLD] * 1e9) + 1;
    const struct weir_job *job;
    int64_t next_ns = INT64_MAX;

    if (own->values[PARAM_THRESHOLD] <= 0)
        return WEIR_OK;
    WEIR_TRY(weir_walk_begin(&own->walk, view, INT64_MAX));
    while ((job = weir_walk_job(&own->walk)) != NULL) {
        const int64_t at_ns = job->queued_ns + threshold_ns;
        if (at_ns > view->now_ns && at_ns < next_ns)
            next_ns = at_ns;
        weir_walk_leave_kind(&own->walk); /* the first of a kind is offered a place first */
    }
    if (next_ns == INT64_MAX || (own->woken_ns > view->now_ns && own->woken_ns <= next_ns))
        return WEIR_OK;
    own->woken_ns = next_ns;
    return weir_plan_wake(plan, next_ns);
}

static weir_status pass(void *state, const struct weir_view *view, struct weir_placer *placer,
                        struct weir_plan *plan, struct weir_error *error)
{
    struct benefit *const own = state;

    own->now_ns = view->now_ns;
    own->reclaim.view = view;
    own->reclaim.placer = placer;
    WEIR_TRY(weir_reclaim_offer(&own->reclaim, &own->walk, make_room, error));
    return wake(own, view, plan);
}

/* ---- its life ---- */

static weir_status create(const struct weir_params *given, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error)
{
    WEIR_TRY(weir_made_create(&made, given, allocator, state, error));
    struct benefit *const own = *state;
    weir_walk_open(&own->walk, allocator);
    own->reclaim = (struct weir_reclaim){ .allocator = *allocator,
                                          .state = own,
                                          .may_go = may_go,
                                          .count = count,
                                          .arrange = arrange,
                                          .grace_ns = (int64_t)(own->values[PARAM_GRACE] * 1e9) };
    return WEIR_OK;
}

static void destroy(void *state)
{
    struct benefit *const own = state;

    weir_walk_close(&own->walk);
    weir_reclaim_close(&own->reclaim);
    weir_free(&own->allocator, own->victims);
    weir_free(&own->allocator, own->order);
    weir_made_destroy(state);
}

static uint32_t save(const void *state, double *numbers, uint32_t capacity)
{
    if (capacity > 0)
        numbers[0] = weir_memory_of_time(((const struct benefit *)state)->woken_ns);
    return 1;
}

static weir_status restore(void *state, const struct weir_view *view, const double *numbers,
                           uint32_t given, struct weir_error *error)
{
    (void)view;
    if (given != 1 || isnan(numbers[0]))
        return weir_fail(error, WEIR_EFORMAT, "one time is remembered, got %u numbers", given);
    ((struct benefit *)state)->woken_ns = weir_memory_to_time(numbers[0]);
    return WEIR_OK;
}

const struct weir_queueing_ops weir_queueing_benefit = {
    .size = sizeof weir_queueing_benefit,
    .abi = WEIR_ABI_MAJOR,
    .name = "benefit",
    .summary = "the most urgent first; preempts less urgent jobs where that is worth its cost",
    .params = params,
    .param_count = PARAM_COUNT,
    .create = create,
    .destroy = destroy,
    .key = key,
    .pass = pass,
    .save = save,
    .restore = restore,
};
