/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "las_promoted": las_2d whose starved jobs are new again (Tiresias' PROMOTE_KNOB, Gu et
 * al., NSDI 2019).
 *
 * A job of a lower queue that has waited `promote` times as long as it ran goes to the tail of the
 * first queue, and its service counts from then. So the share of time that any job waits is bounded
 * by the knob, once it runs at all; with a small one the queues become turns. Everything else is as
 * in las_2d. What jobs had when they were promoted is state.
 */
#include "sched/queueing/queueings.h"

#include "sched/internal/alloc.h"
#include "sched/internal/params.h"
#include "sched/queueing/attained.h"
#include "sched/queueing/made.h"

#include <math.h>
#include <string.h>

enum { PARAM_FIRST, PARAM_SECOND, PARAM_PROMOTE, PARAM_COUNT };

static const struct weir_param params[PARAM_COUNT] = {
    [PARAM_FIRST] = WEIR_ATTAINED_FIRST,
    [PARAM_SECOND] = WEIR_ATTAINED_SECOND,
    [PARAM_PROMOTE] =
        WEIR_NUMBER("promote", "", 1e-3, 1e6, 8,
                    "a job that has waited so many times as long as it ran is new again"),
};

static const double queue_apart = 1e10; /* as of las_2d */
static const double ns_per_s = 1e9;

struct promotion {
    uint64_t id;
    uint32_t workload;
    uint32_t reserved;
    double base_ns; /* its service until then */
    double since_s; /* when it was */
};

struct las {
    struct weir_allocator allocator;
    double values[PARAM_COUNT];
    struct weir_ranked ranked;
    struct weir_attained attained;
    struct promotion *promotions; /* by workload and id */
    uint32_t count, capacity;
    double next_ns; /* until the next promotion */
    bool is_out_of_memory;
};

static const struct weir_made made = WEIR_MADE(struct las, params, PARAM_COUNT);

static void destroy(void *state)
{
    struct las *const las = state;

    weir_free(&las->allocator, las->promotions);
    weir_ranked_close(&las->ranked);
    weir_made_destroy(state);
}

/* ---- who was promoted ---- */

/* Its place, or where it would be. */
static uint32_t place_of(const struct las *las, const struct weir_job *job, bool *is_there)
{
    uint32_t low = 0;
    uint32_t high = las->count;

    *is_there = false;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const struct promotion *const at = &las->promotions[middle];
        *is_there = at->workload == job->workload && at->id == job->id;
        if (*is_there)
            return middle;
        if (at->workload < job->workload || (at->workload == job->workload && at->id < job->id))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const struct promotion *find(const struct las *las, const struct weir_job *job)
{
    bool is_there = false;
    const uint32_t place = place_of(las, job, &is_there);

    return is_there ? &las->promotions[place] : NULL;
}

static weir_status note(struct las *las, const struct promotion *promotion, uint32_t place,
                        bool is_there)
{
    if (!is_there) {
        WEIR_ROOM(&las->allocator, las->promotions, las->capacity, las->count + 1);
        memmove(las->promotions + place + 1, las->promotions + place,
                (las->count++ - place) * sizeof *las->promotions);
    }
    las->promotions[place] = *promotion;
    return WEIR_OK;
}

static void promote(struct las *las, const struct weir_job *job, int64_t now_ns)
{
    bool is_there = false;
    const uint32_t place = place_of(las, job, &is_there);
    const struct promotion promotion = { .id = job->id,
                                         .workload = job->workload,
                                         .base_ns = weir_attained_of(job, now_ns),
                                         .since_s = (double)now_ns / ns_per_s };

    if (note(las, &promotion, place, is_there) != WEIR_OK)
        las->is_out_of_memory = true; /* said in the pass */
}

/* Those that are over need not be remembered. */
static void forget_those_gone(struct las *las, const struct weir_view *view)
{
    struct weir_job job = { .size = sizeof job };
    uint32_t kept = 0;

    for (uint32_t i = 0; i < las->count; i++)
        if (weir_view_job(view, las->promotions[i].workload, las->promotions[i].id, &job))
            las->promotions[kept++] = las->promotions[i];
    las->count = kept;
}

/* ---- ranks ---- */

static double service_of(const struct las *las, const struct weir_job *job, int64_t now_ns)
{
    const struct promotion *const promotion = find(las, job);

    return weir_attained_of(job, now_ns) - (promotion == NULL ? 0 : promotion->base_ns);
}

/* Whether it has waited enough; if not yet, when it will have. */
static bool is_starved(struct las *las, const struct weir_job *job, double service, int64_t now_ns)
{
    const double ran_ns = service / weir_ranked_gpus(job);
    const double wait_ns = (double)(now_ns - job->queued_ns);
    const double left_ns = ceil(las->values[PARAM_PROMOTE] * ran_ns - wait_ns);

    if (job->attempts == 0 || weir_attained_queue(&las->attained, service) == 0)
        return false;
    if (left_ns > 0)
        las->next_ns = fmin(las->next_ns, left_ns);
    return !(left_ns > 0);
}

static double key(void *state, const struct weir_job *job, int64_t now_ns)
{
    struct las *const las = state;
    const double service = service_of(las, job, now_ns);

    if (is_starved(las, job, service, now_ns)) {
        promote(las, job, now_ns);
        return (double)now_ns / ns_per_s;
    }
    const struct promotion *const promotion = find(las, job);
    const uint32_t queue = weir_attained_queue(&las->attained, service);
    const double above = queue == 0 ? 0 : service - weir_attained_limit(&las->attained, queue - 1);
    const bool is_new = job->attempts == 0 || (queue > 0 && above < weir_ranked_gpus(job));
    const double since_s = (double)job->queued_ns / ns_per_s;
    if (promotion != NULL && !(service > 0))
        return promotion->since_s;
    return queue * queue_apart + (is_new ? since_s : -since_s);
}

static double running_rank(void *state, const struct weir_job *job, int64_t now_ns)
{
    const struct las *const las = state;

    return (weir_attained_queue(&las->attained, service_of(las, job, now_ns)) - 0.5) * queue_apart;
}

static void note_running(void *state, const struct weir_job *job, int64_t now_ns)
{
    struct las *const las = state;

    weir_attained_note(&las->attained, service_of(las, job, now_ns), weir_ranked_gpus(job));
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
    las->next_ns = HUGE_VAL;
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

    if (las->is_out_of_memory)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    if (las->count > 0 && (view->causes & WEIR_CAUSE_JOBS) != 0)
        forget_those_gone(las, view);
    weir_attained_begin(&las->attained);
    WEIR_TRY(weir_ranked_pass(&las->ranked, view, placer, error));
    las->attained.next_ns = fmin(las->attained.next_ns, las->next_ns);
    las->next_ns = HUGE_VAL; /* keys are asked for at every pass */
    return weir_attained_wake(&las->attained, view->now_ns, plan);
}

/* ---- state ---- */

enum { HEAD = 2, OF_JOB = 4 };

static uint32_t save(const void *state, double *numbers, uint32_t capacity)
{
    const struct las *const las = state;

    (void)weir_attained_save(&las->attained, numbers, capacity);
    for (uint32_t i = 0; HEAD + (i + 1) * OF_JOB <= capacity && i < las->count; i++) {
        const struct promotion *const from = &las->promotions[i];
        const double all[OF_JOB] = { from->workload, (double)from->id, from->base_ns,
                                     from->since_s };
        memcpy(numbers + HEAD + (size_t)i * OF_JOB, all, sizeof all);
    }
    return HEAD + las->count * OF_JOB;
}

static weir_status restore(void *state, const struct weir_view *view, const double *numbers,
                           uint32_t count, struct weir_error *error)
{
    struct las *const las = state;

    (void)view;
    if (count < HEAD || (count - HEAD) % OF_JOB != 0)
        return weir_fail(error, WEIR_EFORMAT,
                         "las_promoted remembers %d numbers and %d a job, got %u", HEAD, OF_JOB,
                         count);
    WEIR_TRY(weir_attained_restore(&las->attained, numbers, HEAD, error));
    las->count = 0;
    for (uint32_t i = 0; i < (count - HEAD) / OF_JOB; i++) {
        const double *const from = numbers + HEAD + (size_t)i * OF_JOB;
        if (isnan(from[2]) || isnan(from[3]) || !(from[0] >= 0) || !(from[1] >= 0))
            return weir_fail(error, WEIR_EFORMAT, "number %u is none", HEAD + i * OF_JOB);
        const struct weir_job job = { .workload = (uint32_t)from[0], .id = (uint64_t)from[1] };
        const struct promotion promotion = {
            .id = job.id, .workload = job.workload, .base_ns = from[2], .since_s = from[3]
        };
        bool is_there = false;
        const uint32_t place = place_of(las, &job, &is_there);
        WEIR_TRY(note(las, &promotion, place, is_there));
    }
    return WEIR_OK;
}

const struct weir_queueing_ops weir_queueing_las_promoted = {
    .size = sizeof weir_queueing_las_promoted,
    .abi = WEIR_ABI_MAJOR,
    .name = "las_promoted",
    .summary = "las_2d in which who waited long beside what it ran is new again",
    .flags = WEIR_QUEUEING_AGES,
    .params = params,
    .param_count = PARAM_COUNT,
    .create = create,
    .destroy = destroy,
    .key = key,
    .pass = pass,
    .save = save,
    .restore = restore,
};
