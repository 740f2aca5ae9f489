/* SPDX-License-Identifier: Apache-2.0 */
/*
 * "srtf" and "srsf": those run that have the shortest time left, or the least GPU time; whoever has
 * more is preempted (Tiresias calls them shortest and shortest-gpu, Gu et al., NSDI 2019). What is
 * left is what is left of the estimate; jobs without one come last.
 */
#include "sched/queueing/queueings.h"

#include "sched/internal/made.h"
#include "sched/queueing/parts/ranked.h"

#include <math.h>

struct shortest {
    struct weir_allocator allocator;
    struct weir_ranked ranked;
    bool counts_gpus;
};

static double rank_of(const struct shortest *shortest, const struct weir_job *job, int64_t left_ns)
{
    if (left_ns == INT64_MAX)
        return HUGE_VAL;
    return shortest->counts_gpus ? (double)left_ns * weir_ranked_processors(job) : (double)left_ns;
}

static double key(void *state, const struct weir_job *job, int64_t now_ns)
{
    (void)now_ns;
    return rank_of(state, job, weir_job_left_ns(job));
}

static double running_key(void *state, const struct weir_job *job, int64_t now_ns)
{
    const int64_t end_ns = weir_job_end_ns(job, now_ns);

    return rank_of(state, job, end_ns == INT64_MAX ? INT64_MAX : end_ns - now_ns);
}

static const struct weir_made made = WEIR_MADE_BARE(struct shortest);

static weir_status create(const struct weir_params *given, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error)
{
    WEIR_TRY(weir_made_create(&made, given, allocator, state, error));
    struct shortest *const shortest = *state;
    weir_ranked_open(&shortest->ranked, allocator);
    shortest->ranked.rank = running_key;
    shortest->ranked.state = shortest;
    return WEIR_OK;
}

static weir_status create_service(const struct weir_params *given,
                                  const struct weir_allocator *allocator, void **state,
                                  struct weir_error *error)
{
    WEIR_TRY(create(given, allocator, state, error));
    ((struct shortest *)*state)->counts_gpus = true;
    return WEIR_OK;
}

static void destroy(void *state)
{
    weir_ranked_close(&((struct shortest *)state)->ranked);
    weir_made_destroy(state);
}

static weir_status pass(void *state, const struct weir_view *view, struct weir_placer *placer,
                        struct weir_plan *plan, struct weir_error *error)
{
    struct shortest *const shortest = state;

    (void)plan;
    return weir_ranked_pass(&shortest->ranked, view, placer, error);
}

const struct weir_queueing_ops weir_queueing_srtf = {
    .size = sizeof weir_queueing_srtf,
    .abi = WEIR_ABI_MAJOR,
    .name = "srtf",
    .summary = "the shortest time left runs; longer ones are preempted for it",
    .create = create,
    .destroy = destroy,
    .key = key,
    .pass = pass,
};

const struct weir_queueing_ops weir_queueing_srsf = {
    .size = sizeof weir_queueing_srsf,
    .abi = WEIR_ABI_MAJOR,
    .name = "srsf",
    .summary = "the least GPU time left runs; jobs with more are preempted for it",
    .create = create_service,
    .destroy = destroy,
    .key = key,
    .pass = pass,
};
