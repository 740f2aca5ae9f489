/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "gittins": whose end is likeliest for the service it still needs, as the services of
 * jobs before say (Gittins 1979; with devices as the second dimension Gu et al., "Tiresias", NSDI
 * 2019).
 *
 * A job that has had a GPU seconds has the index
 *
 *   G(a) = P(S - a <= D | S > a) / E[min(S - a, D) | S > a]
 *
 * over `samples` of the service S of whole jobs; D is `delta`, or whatever makes G largest. Who has
 * had more than every sample has the index 0; without samples it is 1 / (1 + a). Jobs go through
 * three queues as in las_2d; within a queue the largest index runs, then the one submitted first,
 * and others give way. Indices are those of the moment of a decision; nothing happens when one
 * overtakes another in between.
 *
 * Cost: an index is O(log samples), with the best D O(samples).
 */
#include "sched/queueing/queueings.h"

#include "sched/internal/alloc.h"
#include "sched/internal/made.h"
#include "sched/internal/params.h"
#include "sched/queueing/parts/attained.h"

#include <stdlib.h>

enum { PARAM_FIRST, PARAM_SECOND, PARAM_DELTA, PARAM_SAMPLES, PARAM_COUNT };

static const struct weir_param params[PARAM_COUNT] = {
    [PARAM_FIRST] = WEIR_ATTAINED_FIRST,
    [PARAM_SECOND] = WEIR_ATTAINED_SECOND,
    [PARAM_DELTA] = WEIR_NUMBER("delta", "GPU s", 0, 1e12, 0,
                                "how far an index looks ahead; 0 = as far as makes it largest"),
    [PARAM_SAMPLES] = WEIR_LIST("samples", "GPU s", 1e6,
                                "service that jobs needed before, each a number > 0; none: "
                                "the less a job has had, the larger its index"),
};

static const double ns_per_s = 1e9;

struct gittins {
    struct weir_allocator allocator;
    double values[PARAM_COUNT];
    struct weir_ranked ranked;
    struct weir_attained attained;
    double *samples; /* ascending */
    double *sums;    /* of those before */
    uint32_t count;
};

static const struct weir_made made = WEIR_MADE(struct gittins, params, PARAM_COUNT);

static void destroy(void *state)
{
    struct gittins *const gittins = state;

    weir_ranked_close(&gittins->ranked);
    weir_free(&gittins->allocator, gittins->samples);
    weir_free(&gittins->allocator, gittins->sums);
    weir_made_destroy(state);
}

/* ---- the index ---- */

/* How many samples are at most this. */
static uint32_t up_to(const struct gittins *gittins, double service)
{
    uint32_t low = 0;
    uint32_t high = gittins->count;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (gittins->samples[middle] <= service)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* With the samples from `first` on still possible, looking ahead up to `end` GPU seconds in all. */
static double index_to(const struct gittins *gittins, uint32_t first, double service, double end)
{
    const uint32_t last = up_to(gittins, end);
    const double done = last - first;
    const double work = gittins->sums[last] - gittins->sums[first] - done * service +
                        (gittins->count - last) * (end - service);

    return done / work;
}

static double index_of(const struct gittins *gittins, double service)
{
    const uint32_t first = up_to(gittins, service);
    const double delta = gittins->values[PARAM_DELTA];
    double best = 0;

    if (gittins->count == 0)
        return 1 / (1 + service);
    if (first == gittins->count)
        return 0;
    if (delta > 0)
        return index_to(gittins, first, service, service + delta);
    for (uint32_t i = first; i < gittins->count; i++) {
        const double index = index_to(gittins, first, service, gittins->samples[i]);
        best = index > best ? index : best;
    }
    return best;
}

/* The queue, and in it a part of 1 that falls as the index rises. */
static double rank(const struct gittins *gittins, const struct weir_job *job, uint32_t queue,
                   int64_t now_ns)
{
    return queue + 1 / (2 + index_of(gittins, weir_attained_of(job, now_ns) / ns_per_s));
}

static double key(void *state, const struct weir_job *job, int64_t now_ns)
{
    const struct gittins *const gittins = state;

    return rank(gittins, job, weir_attained_queue(&gittins->attained, job, now_ns, 0), now_ns);
}

static double running_rank(void *state, const struct weir_job *job, int64_t now_ns)
{
    struct gittins *const gittins = state;

    return rank(gittins, job, weir_attained_note(&gittins->attained, job, now_ns, 0), now_ns);
}

static void note_start(void *state, const struct weir_job *job, int64_t now_ns)
{
    (void)weir_attained_note(&((struct gittins *)state)->attained, job, now_ns, 0);
}

/* ---- its life ---- */

static int compare(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;

    return (a > b) - (a < b);
}

static weir_status take_samples(struct gittins *gittins, const struct weir_params *given,
                                struct weir_error *error)
{
    const double *numbers;

    gittins->count = weir_params_list(params, PARAM_COUNT, given, PARAM_SAMPLES, &numbers);
    gittins->samples = weir_alloc(&gittins->allocator, gittins->count, sizeof(double));
    gittins->sums = weir_alloc(&gittins->allocator, gittins->count + 1, sizeof(double));
    if (gittins->samples == NULL || gittins->sums == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    for (uint32_t i = 0; i < gittins->count; i++) {
        if (!(numbers[i] > 0))
            return weir_fail(error, WEIR_EINVAL, "samples[%u] must be > 0, got %g", i, numbers[i]);
        gittins->samples[i] = numbers[i];
    }
    qsort(gittins->samples, gittins->count, sizeof *gittins->samples, compare);
    for (uint32_t i = 0; i < gittins->count; i++)
        gittins->sums[i + 1] = gittins->sums[i] + gittins->samples[i];
    return WEIR_OK;
}

static weir_status create(const struct weir_params *given, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error)
{
    WEIR_TRY(weir_made_create(&made, given, allocator, state, error));
    struct gittins *const gittins = *state;
    weir_ranked_open(&gittins->ranked, allocator);
    gittins->ranked.rank = running_rank;
    gittins->ranked.starts = note_start;
    gittins->ranked.state = gittins;
    weir_status status = weir_attained_open(&gittins->attained, gittins->values[PARAM_FIRST],
                                            gittins->values[PARAM_SECOND], error);
    if (status == WEIR_OK)
        status = take_samples(gittins, given, error);
    return weir_made_end(status, destroy, state, error);
}

static weir_status pass(void *state, const struct weir_view *view, struct weir_placer *placer,
                        struct weir_plan *plan, struct weir_error *error)
{
    struct gittins *const gittins = state;

    if (weir_attained_is_idle(&gittins->attained, view))
        return weir_attained_wake(&gittins->attained, view->now_ns, plan);
    weir_attained_begin(&gittins->attained);
    WEIR_TRY(weir_ranked_pass(&gittins->ranked, view, placer, error));
    return weir_attained_wake(&gittins->attained, view->now_ns, plan);
}

static uint32_t save(const void *state, double *numbers, uint32_t capacity)
{
    return weir_attained_save(&((const struct gittins *)state)->attained, numbers, capacity);
}

static weir_status restore(void *state, const struct weir_view *view, const double *numbers,
                           uint32_t count, struct weir_error *error)
{
    (void)view;
    return weir_attained_restore(&((struct gittins *)state)->attained, numbers, count, error);
}

const struct weir_queueing_ops weir_queueing_gittins = {
    .size = sizeof weir_queueing_gittins,
    .abi = WEIR_ABI_MAJOR,
    .name = "gittins",
    .summary = "whose end is likeliest for the service still needed runs; others are preempted",
    .params = params,
    .param_count = PARAM_COUNT,
    .create = create,
    .destroy = destroy,
    .key = key,
    .pass = pass,
    .save = save,
    .restore = restore,
};
