/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policies "las_2d" and "las_promoted": least attained service in queues, where service is GPUs
 * times time (Gu et al., "Tiresias", NSDI 2019).
 *
 * A job comes to the tail of the first queue and goes to the tail of the next one as soon as it has
 * had `limit_1`, then `limit_2` GPU seconds. Queues are served in their order, each from its head;
 * who does not fit is skipped, and who ran gives way. After each pass those that run go to the head
 * of their queue, in the order that they had: so who is preempted waits before those that waited
 * before him, unless he went to that queue at this very moment.
 *
 * With `promote` a job of a lower queue that has waited so many times as long as it ran goes to the
 * tail of the first queue, and its service counts from then (PROMOTE_KNOB there). So the share of
 * time that any job waits is bounded, once it runs at all; with a small one queues become turns.
 *
 * Who runs is looked at after whole seconds of its run, as there, and whenever somebody waits and
 * something else happens.
 *
 * State is when those that run came to their queue, in which order at one moment, and the place of
 * those that were preempted before all others.
 */
#include "sched/queueing/queueings.h"

#include "sched/cluster/id_table.h"
#include "sched/internal/alloc.h"
#include "sched/internal/aside.h"
#include "sched/internal/job_name.h"
#include "sched/internal/made.h"
#include "sched/internal/memory.h"
#include "sched/internal/params.h"
#include "sched/queueing/parts/attained.h"

#include <math.h>
#include <string.h>

enum { PARAM_FIRST, PARAM_SECOND, PARAM_PROMOTE, PARAM_COUNT };
enum { FEW_SPOTS = 64 };

static const struct weir_param params[PARAM_COUNT] = {
    [PARAM_FIRST] = WEIR_ATTAINED_FIRST,
    [PARAM_SECOND] = WEIR_ATTAINED_SECOND,
    [PARAM_PROMOTE] =
        WEIR_NUMBER("promote", "", 1e-3, 1e6, 8,
                    "a job that has waited so many times as long as it ran is new again"),
};

/* Queues are apart by more than any run takes, in seconds. */
static const double queue_apart = 1e10;
static const double ns_per_s = 1e9;
/* Places before those that wait are whole and below 0, times are not. */
static const double no_place = -0.5;
/* Who comes to a queue while it runs is behind those that start in it then. */
static const double after_starts = 1e18;
/* Who is promoted comes after those that are submitted at this moment, in seconds. */
static const double just_after = 1e-6;

/* What is remembered of a job that has run. */
struct spot {
    uint64_t name;   /* workload and id */
    double base_ns;  /* its service until it was promoted */
    double place;    /* where it waits in its queue */
    double since_ns; /* when one that runs came to its queue */
    double turn;     /* of its start, counted */
};

struct las {
    struct weir_allocator allocator;
    double values[PARAM_COUNT];
    struct weir_ranked ranked;
    struct weir_attained attained;
    struct weir_id_table names; /* to spots */
    struct spot *spots;
    uint32_t count, capacity, kept; /* kept: when those that are over were last forgotten */
    double turns, heads;            /* given out so far */
    int64_t last_ns;                /* of the last pass: who came to a queue then is settled */
    bool promotes, is_out_of_memory;
};

static const struct weir_made made_2d = WEIR_MADE(struct las, params, PARAM_PROMOTE);
static const struct weir_made made_promoted = WEIR_MADE(struct las, params, PARAM_COUNT);

static void destroy(void *state)
{
    struct las *const las = state;

    weir_id_table_free(&las->names, &las->allocator);
    weir_free(&las->allocator, las->spots);
    weir_ranked_close(&las->ranked);
    weir_made_destroy(state);
}

/* ---- what is remembered ---- */

static struct spot *find(const struct las *las, uint32_t workload, uint64_t id)
{
    const uint32_t index = weir_id_table_find(&las->names, weir_job_name(workload, id));

    return index == WEIR_NO_INDEX ? NULL : &las->spots[index];
}

static weir_status add(struct las *las, uint64_t name)
{
    WEIR_ROOM(&las->allocator, las->spots, las->capacity, las->count + 1);
    WEIR_TRY(weir_id_table_reserve(&las->names, &las->allocator, 1));
    weir_id_table_put(&las->names, name, las->count);
    las->spots[las->count++] = (struct spot){ .name = name, .place = no_place };
    return WEIR_OK;
}

/* NULL when there is no memory: the pass says so. */
static struct spot *spot_of(struct las *las, uint32_t workload, uint64_t id)
{
    struct spot *const there = find(las, workload, id);

    if (there != NULL)
        return there;
    if (add(las, weir_job_name(workload, id)) == WEIR_OK)
        return &las->spots[las->count - 1];
    las->is_out_of_memory = true;
    return NULL;
}

/* Those that are over need not be remembered. */
static void forget_those_gone(struct las *las, const struct weir_view *view)
{
    uint32_t i = 0;

    if (las->count < 2 * las->kept + FEW_SPOTS)
        return;
    while (i < las->count) {
        const uint64_t name = las->spots[i].name;
        if (weir_view_job(view, weir_job_name_workload(name), weir_job_name_id(name), NULL)) {
            i++;
            continue;
        }
        weir_id_table_remove(&las->names, name);
        las->spots[i] = las->spots[--las->count];
        if (i < las->count)
            weir_id_table_put(&las->names, las->spots[i].name, i);
    }
    las->kept = las->count;
}

/* ---- promotion ---- */

static double base_of(const struct las *las, const struct weir_job *job)
{
    const struct spot *const spot = las->promotes ? find(las, job->workload, job->id) : NULL;

    return spot == NULL ? 0 : spot->base_ns;
}

/* How long it still waits for that; HUGE_VAL = it is new, or nobody is promoted. */
static double until_promotion(const struct las *las, const struct weir_job *job, int64_t now_ns)
{
    const double base_ns = base_of(las, job);
    const double ran_ns = ((double)job->attained_ns - base_ns) / weir_ranked_gpus(job);
    const double wait_ns = (double)(now_ns - job->queued_ns);

    if (!las->promotes || job->attempts == 0 ||
        weir_attained_queue(&las->attained, job, now_ns, base_ns) == 0)
        return HUGE_VAL;
    return ceil(las->values[PARAM_PROMOTE] * ran_ns - wait_ns);
}

/* Where there are promotions one counts that did not happen yet of those that run and wait now, not
 * of those that did before the pass. */
static void find_next(struct las *las, const struct weir_view *view)
{
    struct weir_job job = { .size = sizeof job };
    uint32_t cursor = 0;

    weir_attained_begin(&las->attained);
    while (weir_view_next_job(view, &cursor, &job)) {
        if (job.state != WEIR_JOB_WAITING && job.is_preempted == 0)
            (void)weir_attained_note(&las->attained, &job, view->now_ns, base_of(las, &job));
        else if (job.state == WEIR_JOB_WAITING && !weir_view_is_aside(view, &job))
            las->attained.next_ns =
                fmin(las->attained.next_ns, until_promotion(las, &job, view->now_ns));
    }
}

/* ---- ranks ---- */

static double key(void *state, const struct weir_job *job, int64_t now_ns)
{
    struct las *const las = state;
    const double base_ns = base_of(las, job);
    struct spot *spot = find(las, job->workload, job->id);

    if (!(until_promotion(las, job, now_ns) > 0)) {
        spot = spot_of(las, job->workload, job->id);
        if (spot == NULL)
            return 0;
        spot->base_ns = weir_attained_of(job, now_ns);
        spot->place = (double)now_ns / ns_per_s + just_after;
        return spot->place;
    }
    const uint32_t queue = weir_attained_queue(&las->attained, job, now_ns, base_ns);
    const bool has_place = spot != NULL && (spot->place < no_place || spot->place > no_place);
    return queue * queue_apart + (has_place ? spot->place : (double)job->queued_ns / ns_per_s);
}

/* One that runs has come to a queue since the last pass. */
static void note_queue(struct las *las, const struct weir_job *job, int64_t at_ns)
{
    struct spot *const spot = spot_of(las, job->workload, job->id);

    if (spot == NULL)
        return;
    spot->since_ns = (double)at_ns;
    spot->turn = after_starts;
}

/* Before all that wait in its queue; behind them when it comes there at this moment. */
static double running_rank(void *state, const struct weir_job *job, int64_t now_ns)
{
    struct las *const las = state;
    const double base_ns = base_of(las, job);
    const uint32_t queue = weir_attained_note(&las->attained, job, now_ns, base_ns);
    bool is_last = false;

    if (queue > 0 && las->last_ns < now_ns &&
        weir_attained_queue(&las->attained, job, las->last_ns, base_ns) < queue) {
        const int64_t at_ns = weir_attained_since(&las->attained, job, now_ns, queue, base_ns);
        note_queue(las, job, at_ns);
        is_last = at_ns == now_ns;
    }
    return (queue + (is_last ? 0.499 : -0.5)) * queue_apart;
}

static bool has_just_come(const struct weir_ranked_job *job)
{
    return job->rank - floor(job->rank / queue_apart) * queue_apart < queue_apart / 2;
}

/* Those that came to their queue at one moment are there by submission, behind those that began to
 * run in it then. */
static void running_turn(const void *state, struct weir_ranked_job *job)
{
    const struct las *const las = state;
    const struct spot *const spot = find(las, job->workload, job->id);

    job->since_ns = spot == NULL ? job->start_ns : (int64_t)spot->since_ns;
    job->turn = spot == NULL ? after_starts : spot->turn;
}

/* Who starts is behind those that ran before. */
static void note_start(void *state, const struct weir_job *job, int64_t now_ns)
{
    struct las *const las = state;
    struct spot *const spot = spot_of(las, job->workload, job->id);

    (void)weir_attained_note(&las->attained, job, now_ns, base_of(las, job));
    if (spot == NULL)
        return;
    spot->since_ns = (double)now_ns;
    spot->turn = ++las->turns;
    spot->place = no_place;
}

/* ---- after a pass ---- */

/* Who was preempted waits before all others, unless he has just come to this queue. */
static void settle_gone(struct las *las)
{
    struct weir_ranked *const ranked = &las->ranked;

    weir_ranked_sort(ranked->gone, ranked->gone_count);
    for (uint32_t i = 0; i < ranked->gone_count; i++) {
        const struct weir_ranked_job *const job = &ranked->gone[i];
        struct spot *const spot = spot_of(las, job->workload, job->id);
        if (spot != NULL && !has_just_come(job))
            spot->place = -(++las->heads);
    }
}

static weir_status pass(void *state, const struct weir_view *view, struct weir_placer *placer,
                        struct weir_plan *plan, struct weir_error *error)
{
    struct las *const las = state;

    if (weir_attained_is_idle(&las->attained, view))
        return weir_attained_wake(&las->attained, view->now_ns, plan);
    forget_those_gone(las, view);
    weir_attained_begin(&las->attained);
    weir_status status = weir_ranked_pass(&las->ranked, view, placer, error);
    if (status == WEIR_OK) {
        settle_gone(las);
        las->last_ns = view->now_ns;
    }
    if (status == WEIR_OK && las->is_out_of_memory)
        status = weir_fail(error, WEIR_ENOMEM, "out of memory");
    las->is_out_of_memory = false; /* said once */
    WEIR_TRY(status);
    if (las->promotes)
        find_next(las, view);
    return weir_attained_wake(&las->attained, view->now_ns, plan);
}

/* ---- from one decision to the next ---- */

enum { OF_ATTAINED = 2, HEAD = OF_ATTAINED + 3, OF_JOB = 6 };

static uint32_t save(const void *state, double *numbers, uint32_t capacity)
{
    const struct las *const las = state;
    const double counts[] = { las->turns, las->heads, weir_memory_of_time(las->last_ns) };

    (void)weir_attained_save(&las->attained, numbers, capacity);
    if (HEAD <= capacity)
        memcpy(numbers + OF_ATTAINED, counts, sizeof counts);
    for (uint32_t i = 0; HEAD + (i + 1) * OF_JOB <= capacity && i < las->count; i++) {
        const struct spot *const from = &las->spots[i];
        const double all[OF_JOB] = { weir_job_name_workload(from->name),
                                     (double)weir_job_name_id(from->name),
                                     from->base_ns,
                                     from->place,
                                     from->since_ns,
                                     from->turn };
        memcpy(numbers + HEAD + (size_t)i * OF_JOB, all, sizeof all);
    }
    return HEAD + las->count * OF_JOB;
}

static bool is_time(double ns)
{
    return ns >= -1 && ns < 9e18;
}

static weir_status restore(void *state, const struct weir_view *view, const double *numbers,
                           uint32_t count, struct weir_error *error)
{
    struct las *const las = state;

    (void)view;
    if (count < HEAD || (count - HEAD) % OF_JOB != 0)
        return weir_fail(error, WEIR_EFORMAT, "%d numbers and %d a job are remembered, got %u",
                         HEAD, OF_JOB, count);
    for (uint32_t i = OF_ATTAINED; i < count; i++)
        if (isnan(numbers[i]))
            return weir_fail(error, WEIR_EFORMAT, "number %u is none", i);
    WEIR_TRY(weir_attained_restore(&las->attained, numbers, OF_ATTAINED, error));
    las->turns = numbers[OF_ATTAINED];
    las->heads = numbers[OF_ATTAINED + 1];
    las->last_ns = weir_memory_to_time(numbers[OF_ATTAINED + 2]);
    for (uint32_t i = HEAD; i < count; i += OF_JOB) {
        if (!(numbers[i] >= 0 && numbers[i] < WEIR_JOB_WORKLOADS && numbers[i + 1] >= 0 &&
              numbers[i + 1] < (double)((uint64_t)1 << WEIR_JOB_ID_BITS) &&
              is_time(numbers[i + 4])))
            return weir_fail(error, WEIR_EFORMAT, "number %u is none", i);
        struct spot *const spot = spot_of(las, (uint32_t)numbers[i], (uint64_t)numbers[i + 1]);
        if (spot == NULL)
            return weir_fail(error, WEIR_ENOMEM, "out of memory");
        spot->base_ns = numbers[i + 2];
        spot->place = numbers[i + 3];
        spot->since_ns = numbers[i + 4];
        spot->turn = numbers[i + 5];
    }
    return WEIR_OK;
}

/* ---- the two ---- */

static weir_status create(const struct weir_made *made, const struct weir_params *given,
                          const struct weir_allocator *allocator, void **state,
                          struct weir_error *error)
{
    WEIR_TRY(weir_made_create(made, given, allocator, state, error));
    struct las *const las = *state;
    weir_ranked_open(&las->ranked, allocator);
    las->ranked.rank = running_rank;
    las->ranked.turn = running_turn;
    las->ranked.starts = note_start;
    las->ranked.state = las;
    las->promotes = made == &made_promoted;
    las->last_ns = -1;
    return weir_made_end(weir_attained_open(&las->attained, las->values[PARAM_FIRST],
                                            las->values[PARAM_SECOND], error),
                         destroy, state, error);
}

static weir_status create_2d(const struct weir_params *given,
                             const struct weir_allocator *allocator, void **state,
                             struct weir_error *error)
{
    return create(&made_2d, given, allocator, state, error);
}

static weir_status create_promoted(const struct weir_params *given,
                                   const struct weir_allocator *allocator, void **state,
                                   struct weir_error *error)
{
    return create(&made_promoted, given, allocator, state, error);
}

const struct weir_queueing_ops weir_queueing_las_2d = {
    .size = sizeof weir_queueing_las_2d,
    .abi = WEIR_ABI_MAJOR,
    .name = "las_2d",
    .summary = "the least GPU time so far runs, in three queues; others are preempted for it",
    .params = params,
    .param_count = PARAM_PROMOTE,
    .create = create_2d,
    .destroy = destroy,
    .key = key,
    .pass = pass,
    .save = save,
    .restore = restore,
};

const struct weir_queueing_ops weir_queueing_las_promoted = {
    .size = sizeof weir_queueing_las_promoted,
    .abi = WEIR_ABI_MAJOR,
    .name = "las_promoted",
    .summary = "las_2d in which who waited long beside what it ran is new again",
    .flags = WEIR_QUEUEING_AGES,
    .params = params,
    .param_count = PARAM_COUNT,
    .create = create_promoted,
    .destroy = destroy,
    .key = key,
    .pass = pass,
    .save = save,
    .restore = restore,
};
