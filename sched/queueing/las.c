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

#include "sched/internal/params.h"
#include "sched/queueing/attained.h"
#include "sched/queueing/made.h"

enum { PARAM_FIRST, PARAM_SECOND, PARAM_COUNT };

static const struct weir_param params[PARAM_COUNT] = {
    [PARAM_FIRST] = WEIR_ATTAINED_FIRST,
    [PARAM_SECOND] = WEIR_ATTAINED_SECOND,
};

/* Queues are apart by more than any run takes, in seconds. */
static const double queue_apart = 1e10;
static const double ns_per_s = 1e9;

struct las {
    struct weir_allocator allocator;
    double values[PARAM_COUNT];
    struct weir_ranked ranked;
    struct weir_attained attained;
};

static const struct weir_made made = WEIR_MADE(struct las, params, PARAM_COUNT);

static void destroy(void *state)
{
    weir_ranked_close(&((struct las *)state)->ranked);
    weir_made_destroy(state);
}

/* Behind those that wait in its queue when it has just come there, else before them. */
static double key(void *state, const struct weir_job *job, int64_t now_ns)
{
    const struct las *const las = state;
    const double service = weir_attained_of(job, now_ns);
    const uint32_t queue = weir_attained_queue(&las->attained, service);
    const double above = queue == 0 ? 0 : service - weir_attained_limit(&las->attained, queue - 1);
    const bool is_new = job->attempts == 0 || (queue > 0 && above < weir_ranked_gpus(job));
    const double since_s = (double)job->queued_ns / ns_per_s;

    return queue * queue_apart + (is_new ? since_s : -since_s);
}

/* Before all that wait in its queue. */
static double running_rank(void *state, const struct weir_job *job, int64_t now_ns)
{
    const struct las *const las = state;
    const double service = weir_attained_of(job, now_ns);

    return (weir_attained_queue(&las->attained, service) - 0.5) * queue_apart;
}

static void note_running(void *state, const struct weir_job *job, int64_t now_ns)
{
    weir_attained_note(&((struct las *)state)->attained, weir_attained_of(job, now_ns),
                       weir_ranked_gpus(job));
}

static weir_status create(const struct weir_params *given, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error)
{
    void *block = NULL;

    WEIR_TRY(weir_made_create(&made, given, allocator, &block, error));
    struct las *const las = block;
    weir_ranked_open(&las->ranked, allocator);
    las->ranked.rank = running_rank;
    las->ranked.runs = note_running;
    las->ranked.state = las;
    const weir_status status = weir_attained_open(&las->attained, las->values[PARAM_FIRST],
                                                  las->values[PARAM_SECOND], error);
    if (status != WEIR_OK)
        destroy(las);
    else
        *state = las;
    return status;
}

static weir_status pass(void *state, const struct weir_view *view, struct weir_placer *placer,
                        struct weir_plan *plan, struct weir_error *error)
{
    struct las *const las = state;

    if (weir_attained_is_idle(&las->attained, view))
        return weir_attained_wake(&las->attained, view->now_ns, plan);
    weir_attained_begin(&las->attained);
    WEIR_TRY(weir_ranked_pass(&las->ranked, view, placer, error));
    return weir_attained_wake(&las->attained, view->now_ns, plan);
}

static uint32_t save(const void *state, double *numbers, uint32_t capacity)
{
    return weir_attained_save(&((const struct las *)state)->attained, numbers, capacity);
}

static weir_status restore(void *state, const struct weir_view *view, const double *numbers,
                           uint32_t count, struct weir_error *error)
{
    (void)view;
    return weir_attained_restore(&((struct las *)state)->attained, numbers, count, error);
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
