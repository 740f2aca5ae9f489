/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "las_2d": least attained service in queues, where service is GPUs times time (Gu et
 * al., "Tiresias", NSDI 2019).
 *
 * A job comes to the tail of the first queue and goes to the tail of the next one as soon as it has
 * had `limit_1`, then `limit_2` GPU seconds. Queues are served in their order; within a queue those
 * that run stay, then first in, first out; who does not fit is skipped. A job that has to give way
 * in the queue that it is in keeps its place before those that wait there. Ranks without GPUs count
 * as one GPU. The policy asks to be woken when the next job has had enough of its queue.
 */
#include "sched/queueing/queueings.h"

#include "sched/internal/alloc.h"
#include "sched/internal/params.h"
#include "sched/queueing/ranked.h"

#include <math.h>

enum { PARAM_FIRST, PARAM_SECOND, PARAM_COUNT };

static const struct weir_param params[PARAM_COUNT] = {
    [PARAM_FIRST] = WEIR_NUMBER("limit_1", "GPU s", 1e-3, 1e12, 3250,
                                "service after which a job leaves the first queue"),
    [PARAM_SECOND] = WEIR_NUMBER("limit_2", "GPU s", 1e-3, 1e12, 7200,
                                 "service after which it leaves the second"),
};

/* Queues are apart by more than any run takes, in seconds. */
static const double queue_apart = 1e10;
static const double ns_per_s = 1e9;

struct las {
    struct weir_allocator allocator;
    double values[PARAM_COUNT];
    struct weir_ranked ranked;
    double next_ns;  /* the next job leaves its queue, from now */
    double woken_ns; /* a call was asked for; 0 = none */
};

static weir_status create(const struct weir_params *given, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error);

static void destroy(void *state)
{
    struct las *const las = state;
    const struct weir_allocator allocator = las->allocator;

    weir_ranked_close(&las->ranked);
    weir_free(&allocator, las);
}

/* GPU ns that it has had, in whole ns of each run. */
static double attained_of(const struct weir_job *job, int64_t now_ns)
{
    const double run_ns = job->state == WEIR_JOB_WAITING ? 0 : (double)(now_ns - job->start_ns);

    return (double)job->attained_ns + run_ns * weir_ranked_gpus(job);
}

/* In GPU ns; of the last queue there is none. */
static double limit_of(const struct las *las, uint32_t queue)
{
    return queue < PARAM_COUNT ? las->values[queue] * ns_per_s : HUGE_VAL;
}

static uint32_t queue_of(const struct las *las, double attained)
{
    uint32_t queue = 0;

    while (queue < PARAM_COUNT && attained >= limit_of(las, queue))
        queue++;
    return queue;
}

/* Behind those that wait in its queue when it has just come there, else before them. */
static double key(void *state, const struct weir_job *job, int64_t now_ns)
{
    const struct las *const las = state;
    const double attained = attained_of(job, now_ns);
    const uint32_t queue = queue_of(las, attained);
    const double above = queue == 0 ? 0 : attained - limit_of(las, queue - 1);
    const bool is_new = job->attempts == 0 || (queue > 0 && above < weir_ranked_gpus(job));
    const double since_s = (double)job->queued_ns / ns_per_s;

    return queue * queue_apart + (is_new ? since_s : -since_s);
}

/* Before all that wait in its queue. */
static double running_rank(void *state, const struct weir_job *job, int64_t now_ns)
{
    const struct las *const las = state;

    return (queue_of(las, attained_of(job, now_ns)) - 0.5) * queue_apart;
}

static void note_running(void *state, const struct weir_job *job, int64_t now_ns)
{
    struct las *const las = state;
    const double attained = attained_of(job, now_ns);
    const double limit = limit_of(las, queue_of(las, attained));
    const double wait_ns = ceil((limit - attained) / weir_ranked_gpus(job));

    if (wait_ns < las->next_ns)
        las->next_ns = wait_ns;
}

static weir_status create(const struct weir_params *given, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error)
{
    struct las *const las = weir_alloc(allocator, 1, sizeof *las);

    if (las == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    las->allocator = *allocator;
    weir_ranked_open(&las->ranked, allocator);
    las->ranked.rank = running_rank;
    las->ranked.runs = note_running;
    las->ranked.state = las;
    weir_status status = weir_params_resolve(params, PARAM_COUNT, given, las->values, error);
    if (status == WEIR_OK && las->values[PARAM_SECOND] < las->values[PARAM_FIRST])
        status = weir_fail(error, WEIR_EINVAL, "limit_2 must be at least limit_1 (%g), got %g",
                           las->values[PARAM_FIRST], las->values[PARAM_SECOND]);
    if (status != WEIR_OK)
        weir_free(allocator, las);
    else
        *state = las;
    return status;
}

static weir_status wake(struct las *las, int64_t now_ns, struct weir_plan *plan)
{
    const double at_ns = (double)now_ns + las->next_ns;

    if (!(las->next_ns < 9e18) || !(at_ns < 9e18))
        return WEIR_OK;
    if (las->woken_ns > (double)now_ns && las->woken_ns <= at_ns)
        return WEIR_OK; /* that call will ask for the next */
    las->woken_ns = at_ns;
    return weir_plan_wake(plan, now_ns + (int64_t)las->next_ns);
}

static weir_status pass(void *state, const struct weir_view *view, struct weir_placer *placer,
                        struct weir_plan *plan, struct weir_error *error)
{
    struct las *const las = state;

    las->next_ns = HUGE_VAL;
    WEIR_TRY(weir_ranked_pass(&las->ranked, view, placer, error));
    return wake(las, view->now_ns, plan);
}

static uint32_t save(const void *state, double *numbers, uint32_t capacity)
{
    const struct las *const las = state;

    if (capacity > 0)
        numbers[0] = las->woken_ns;
    return 1;
}

static weir_status restore(void *state, const struct weir_view *view, const double *numbers,
                           uint32_t count, struct weir_error *error)
{
    struct las *const las = state;

    (void)view;
    if (count != 1 || isnan(numbers[0]))
        return weir_fail(error, WEIR_EFORMAT, "las_2d remembers one time, got %u numbers", count);
    las->woken_ns = numbers[0];
    return WEIR_OK;
}

const struct weir_queueing_ops weir_queueing_las_2d = {
    .size = sizeof weir_queueing_las_2d,
    .abi = WEIR_ABI_MAJOR,
    .name = "las_2d",
    .summary = "the least GPU time so far runs, in three queues; others are preempted for it",
    .params = params,
    .param_count = PARAM_COUNT,
    .create = create,
    .destroy = destroy,
    .key = key,
    .pass = pass,
    .save = save,
    .restore = restore,
};
