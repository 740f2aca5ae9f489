/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "bounded_wait": the most urgent first, ageing, and an end to waiting.
 *
 * Jobs that fit pass those that do not, until one has waited `max_wait`: then it is before all that
 * have not, first come first served among its like, and while it does not fit nobody starts, so
 * that what is given back is kept for it. It starts when as much as it needs has been given back:
 * after max_wait and the longest run at the latest, when no other starves before it.
 */
#include "sched/queueing/queueings.h"

#include "sched/internal/made.h"
#include "sched/internal/params.h"
#include "sched/queueing/parts/backfill.h"
#include "sched/queueing/parts/walk.h"

enum { PARAM_AGEING, PARAM_MAX_WAIT, PARAM_COUNT };

static const struct weir_param params[PARAM_COUNT] = {
    [PARAM_AGEING] =
        WEIR_NUMBER("ageing", "1/s", 0, 1e6, 0, "priority a waiting job gains in a second"),
    [PARAM_MAX_WAIT] =
        WEIR_DURATION("max_wait", 0, 1e9, 86400, "after which a job is before all others"),
};

/* Far before every job that has not waited that long, in seconds. */
static const double starved_before = 1e18;
static const double ns_per_s = 1e9;

struct bounded {
    struct weir_allocator allocator;
    double values[PARAM_COUNT];
    struct weir_walk walk;
};

static const struct weir_made made = WEIR_MADE(struct bounded, params, PARAM_COUNT);

static weir_status create(const struct weir_params *given, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error)
{
    WEIR_TRY(weir_made_create(&made, given, allocator, state, error));
    weir_walk_open(&((struct bounded *)*state)->walk, allocator);
    return WEIR_OK;
}

static void destroy(void *state)
{
    weir_walk_close(&((struct bounded *)state)->walk);
    weir_made_destroy(state);
}

static bool is_starved(const struct bounded *bounded, const struct weir_job *job, int64_t now_ns)
{
    return (double)(now_ns - job->queued_ns) >= bounded->values[PARAM_MAX_WAIT] * ns_per_s;
}

static double key(void *state, const struct weir_job *job, int64_t now_ns)
{
    const struct bounded *const bounded = state;
    const double since_s = (double)job->queued_ns / ns_per_s;

    if (is_starved(bounded, job, now_ns))
        return -starved_before;
    return bounded->values[PARAM_AGEING] * since_s - job->priority;
}

static weir_status pass(void *state, const struct weir_view *view, struct weir_placer *placer,
                        struct weir_plan *plan, struct weir_error *error)
{
    struct bounded *const bounded = state;
    const struct weir_job *job;

    (void)plan;
    WEIR_TRY(weir_walk_begin(&bounded->walk, view, INT64_MAX));
    while ((job = weir_walk_free_job(&bounded->walk, placer)) != NULL) {
        const weir_status status = weir_placer_start_job(placer, job->workload, job->id, error);
        if (status != WEIR_OK && !weir_backfill_is_no_place(status))
            return status;
        if (status != WEIR_OK && is_starved(bounded, job, view->now_ns))
            break;
        if (status == WEIR_OK)
            weir_walk_next(&bounded->walk, INT64_MAX);
        else
            weir_walk_leave_kind(&bounded->walk);
    }
    error->text[0] = '\0'; /* that some found no place is no error */
    return WEIR_OK;
}

const struct weir_queueing_ops weir_queueing_bounded_wait = {
    .size = sizeof weir_queueing_bounded_wait,
    .abi = WEIR_ABI_MAJOR,
    .name = "bounded_wait",
    .summary = "the most urgent first; who has waited too long holds all others up",
    .params = params,
    .param_count = PARAM_COUNT,
    .flags = WEIR_QUEUEING_AGES,
    .create = create,
    .destroy = destroy,
    .key = key,
    .pass = pass,
};
