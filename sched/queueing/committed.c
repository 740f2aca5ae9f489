/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "committed": a job that was chosen once stays chosen until it fits, as the simulator
 * of RLScheduler has it (Zhang et al., SC 2020), whose published numbers of SJF, WFP3, UNICEF and
 * F1 follow from its rules and not from those of their papers:
 *
 *   sjf    least estimate
 *   wfp3   least ((1 + s) / r)^3 n           the wait of a job in the queue is -1 - s there
 *   uni    least (1 + s) / (log2(n) r)       so n = 1 comes last
 *   f1     least log10(r) n + 870 log10(s)
 *
 * n are GPUs, or CPUs of a job without GPUs. Jobs that come while nobody waits are chosen one by
 * one in the order of submission; while one waits, all that come join the queue. Then the best of
 * the queue is chosen. With `backfill` jobs start, in the order of submission, that end before the
 * time at which the chosen one was expected to start when it was chosen; that time is not looked at
 * again, and devices left over then are nobody's.
 *
 * What happens at one instant is looked at one after the other, as there: each arrival, then each
 * end, and after each who may start; so one that comes may take what an end of the same instant
 * would have completed for the chosen one. The policy remembers who ran, to know who ended.
 *
 * Cost of a pass: O(running + (waiting + running) times what happened).
 */
#include "sched/queueing/queueings.h"

#include "sched/internal/alloc.h"
#include "sched/internal/job_name.h"
#include "sched/internal/made.h"
#include "sched/internal/memory.h"
#include "sched/internal/params.h"
#include "sched/queueing/parts/backfill.h"
#include "sched/queueing/parts/listed.h"
#include "sched/queueing/parts/ranked.h"
#include "sched/queueing/parts/walk.h"

#include <math.h>

enum { PARAM_BY, PARAM_BACKFILL, PARAM_COUNT };
enum { BY_SJF, BY_WFP3, BY_UNI, BY_F1, BY_FCFS };

static const struct weir_param params[PARAM_COUNT] = {
    [PARAM_BY] = WEIR_CHOICE("by", "sjf|wfp3|uni|f1|fcfs", BY_FCFS, BY_SJF,
                             "which number says who is chosen"),
    [PARAM_BACKFILL] = WEIR_FLAG(
        "backfill", 0, "jobs pass the chosen one that end before it is expected to start"),
};

static const double ns_per_s = 1e9;

/* A job that ran at the end of the last pass. */
struct ran {
    uint32_t workload;
    bool is_over, is_seen; /* it has ended; that was looked at */
    uint64_t id;
    int64_t due_ns; /* its expected end; INT64_MAX = none */
    struct weir_amounts need;
};

/* Of a job that waits, while an instant is gone through. */
enum sight { NOT_YET, SEEN, ASIDE };

struct committed {
    struct weir_allocator allocator;
    double values[PARAM_COUNT];
    struct weir_listed queue; /* by submission */
    uint8_t *sights;          /* of those */
    uint32_t sight_capacity;
    struct ran *ran; /* as started; when one was chosen, by their expected ends */
    uint32_t count, capacity;
    bool is_known; /* those that run are those of this host */
    bool has_head;
    uint32_t workload;
    uint64_t id;
    int64_t shadow_ns;   /* INT64_MAX = no end that is expected makes room */
    int64_t chosen_ns;   /* when it was chosen; of those that came then the ones with a lesser */
    uint64_t until_name; /* name were there */
};

struct pass {
    struct committed *own;
    const struct weir_view *view;
    struct weir_placer *placer;
    struct weir_error *error;
    struct weir_amounts free; /* without what was given back and not looked at */
};

static const struct weir_made made = WEIR_MADE(struct committed, params, PARAM_COUNT);

static weir_status create(const struct weir_params *given, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error)
{
    WEIR_TRY(weir_made_create(&made, given, allocator, state, error));
    weir_listed_open(&((struct committed *)*state)->queue, allocator);
    return WEIR_OK;
}

static void destroy(void *state)
{
    struct committed *const own = state;

    weir_listed_close(&own->queue);
    weir_free(&own->allocator, own->sights);
    weir_free(&own->allocator, own->ran);
    weir_made_destroy(state);
}

/* ---- who is chosen ---- */

static double score_of(const struct committed *own, const struct weir_job *job)
{
    const int64_t left_ns = weir_job_left_ns(job);
    const double r = left_ns > 0 ? (double)left_ns / ns_per_s : 0.1;
    const double s = job->submit_ns > 0 ? (double)job->submit_ns / ns_per_s : 0;
    const double n = weir_ranked_processors(job);

    if (own->values[PARAM_BY] >= BY_FCFS)
        return s;
    if (left_ns == INT64_MAX)
        return HUGE_VAL;
    switch ((int)own->values[PARAM_BY]) {
    case BY_WFP3:
        return (1 + s) / r * ((1 + s) / r) * ((1 + s) / r) * n;
    case BY_UNI:
        return (1 + s) / (log2(n + 1e-15) * r);
    case BY_F1:
        return log10(r) * n + 870 * log10(s > 0 ? s : 0.1);
    default:
        return r;
    }
}

static double key(void *state, const struct weir_job *job, int64_t now_ns)
{
    (void)now_ns;
    return score_of(state, job);
}

/* ---- those that run ---- */

static weir_status note_running(struct committed *own, const struct weir_job *job, int64_t due_ns)
{
    WEIR_ROOM(&own->allocator, own->ran, own->capacity, own->count + 1);
    own->ran[own->count++] = (struct ran){
        .workload = job->workload, .id = job->id, .due_ns = due_ns, .need = weir_ranked_need(job)
    };
    return WEIR_OK;
}

static weir_status take_over(struct committed *own, const struct weir_view *view)
{
    struct weir_job job = { .size = sizeof job };

    own->count = 0;
    own->is_known = true;
    for (bool more = weir_view_next_running(view, NULL, &job); more;
         more = weir_view_next_running(view, &job, &job))
        WEIR_TRY(note_running(own, &job, weir_job_end_ns(&job, view->now_ns)));
    return WEIR_OK;
}

static void give(struct pass *pass, const struct weir_amounts *need, int64_t sign)
{
    pass->free.gpu_units += sign * need->gpu_units;
    pass->free.cpu_units += sign * need->cpu_units;
}

static void find_ended(struct pass *pass)
{
    struct committed *const own = pass->own;
    struct weir_job job = { .size = sizeof job };

    pass->free = weir_cluster_free(weir_placer_scratch(pass->placer));
    for (uint32_t i = 0; i < own->count; i++) {
        struct ran *const ran = &own->ran[i];
        ran->is_over = !weir_view_job(pass->view, ran->workload, ran->id, &job) ||
                       job.state == WEIR_JOB_WAITING;
        if (ran->is_over)
            give(pass, &ran->need, -1);
    }
}

static void forget_ended(struct committed *own)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < own->count; i++)
        if (!own->ran[i].is_over)
            own->ran[kept++] = own->ran[i];
    own->count = kept;
}

/* Those of one end stay in their order; mostly few are out of place. */
static void sort_by_end(struct committed *own)
{
    for (uint32_t i = 1; i < own->count; i++) {
        const struct ran moved = own->ran[i];
        uint32_t at = i;
        for (; at > 0 && own->ran[at - 1].due_ns > moved.due_ns; at--)
            own->ran[at] = own->ran[at - 1];
        own->ran[at] = moved;
    }
}

/* ---- starting ---- */

static bool is_enough(const struct weir_amounts *free, const struct weir_amounts *need)
{
    return free->gpu_units >= need->gpu_units && free->cpu_units >= need->cpu_units;
}

static weir_status start(struct pass *pass, const struct weir_job *job, bool *has_started)
{
    const struct weir_amounts need = weir_ranked_need(job);
    const int64_t left_ns = weir_job_left_ns(job);

    *has_started = false;
    if (!is_enough(&pass->free, &need))
        return WEIR_OK;
    const weir_status status =
        weir_placer_start_job(pass->placer, job->workload, job->id, pass->error);
    if (status != WEIR_OK)
        return weir_backfill_is_no_place(status) ? WEIR_OK : status;
    *has_started = true;
    give(pass, &need, -1);
    return note_running(pass->own, job,
                        left_ns == INT64_MAX ? left_ns : pass->view->now_ns + left_ns);
}

static bool is_head(const struct committed *own, const struct weir_job *job)
{
    return own->has_head && job->workload == own->workload && job->id == own->id;
}

/* Those of one submission stand as the last choice left them, by score; who came later is behind
 * them. */
static double standing(const struct committed *own, const struct weir_job *job)
{
    const bool was_there = job->queued_ns < own->chosen_ns ||
                           (job->queued_ns == own->chosen_ns &&
                            weir_job_name(job->workload, job->id) < own->until_name);

    return was_there ? score_of(own, job) : HUGE_VAL;
}

static void sort_equals(struct committed *own)
{
    struct weir_listed_job *const all = own->queue.all;

    for (uint32_t i = 1; i < own->queue.count; i++) {
        const struct weir_listed_job moved = all[i];
        const uint8_t sight = own->sights[i];
        uint32_t at = i;
        for (; at > 0 && all[at - 1].job.submit_ns == moved.job.submit_ns &&
               standing(own, &all[at - 1].job) > standing(own, &moved.job);
             at--) {
            all[at] = all[at - 1];
            own->sights[at] = own->sights[at - 1];
        }
        all[at] = moved;
        own->sights[at] = sight;
    }
}

/* It starts at the first end of a running job at which as much is free as it asks for. */
static void commit(struct pass *pass, uint32_t head)
{
    struct committed *const own = pass->own;
    const struct weir_job *const job = &own->queue.all[head].job;
    const struct weir_amounts need = weir_ranked_need(job);
    struct weir_amounts free = pass->free;

    own->has_head = true;
    own->workload = job->workload;
    own->id = job->id;
    own->shadow_ns = INT64_MAX;
    own->chosen_ns = pass->view->now_ns;
    own->until_name = 0;
    for (uint32_t i = 0; i < own->queue.count; i++) {
        const struct weir_job *const other = &own->queue.all[i].job;
        const uint64_t name = weir_job_name(other->workload, other->id);
        if (own->sights[i] != NOT_YET && other->queued_ns == own->chosen_ns)
            own->until_name = name >= own->until_name ? name + 1 : own->until_name;
    }
    sort_by_end(own);
    for (uint32_t i = 0; i < own->count && own->shadow_ns == INT64_MAX; i++) {
        free.gpu_units += own->ran[i].is_seen ? 0 : own->ran[i].need.gpu_units;
        free.cpu_units += own->ran[i].is_seen ? 0 : own->ran[i].need.cpu_units;
        if (is_enough(&free, &need))
            own->shadow_ns = own->ran[i].due_ns;
    }
    sort_equals(own);
}

/* In the order of submission, in what the chosen one leaves free. */
static weir_status start_brief_ones(struct pass *pass)
{
    struct committed *const own = pass->own;
    bool has_started;

    for (uint32_t i = 0; own->values[PARAM_BACKFILL] > 0 && i < own->queue.count; i++) {
        const struct weir_job *const job = &own->queue.all[i].job;
        const int64_t left_ns = weir_job_left_ns(job);
        if (own->sights[i] != SEEN || is_head(own, job) || left_ns == INT64_MAX ||
            left_ns >= own->shadow_ns - pass->view->now_ns)
            continue;
        WEIR_TRY(start(pass, job, &has_started));
        own->sights[i] = has_started ? ASIDE : SEEN;
    }
    return WEIR_OK;
}

/* ---- an instant, one thing after the other ---- */

static uint32_t find_head(const struct committed *own)
{
    for (uint32_t i = 0; i < own->queue.count; i++)
        if (is_head(own, &own->queue.all[i].job))
            return i;
    return WEIR_NO_INDEX;
}

/* Those that came now are not yet seen. */
static weir_status open_queue(struct pass *pass)
{
    struct committed *const own = pass->own;

    WEIR_TRY(weir_listed_fill(&own->queue, pass->view));
    weir_listed_sort(&own->queue);
    WEIR_ROOM(&own->allocator, own->sights, own->sight_capacity, own->queue.count + 1);
    for (uint32_t i = 0; i < own->queue.count; i++)
        own->sights[i] = own->queue.all[i].job.queued_ns < pass->view->now_ns ? SEEN : NOT_YET;
    sort_equals(own);
    own->has_head = find_head(own) != WEIR_NO_INDEX;
    return WEIR_OK;
}

/* The next arrival, or when there is none the next end. */
static bool see_next(struct pass *pass)
{
    struct committed *const own = pass->own;

    for (uint32_t i = 0; i < own->queue.count; i++)
        if (own->sights[i] == NOT_YET) {
            own->sights[i] = SEEN;
            return true;
        }
    for (uint32_t i = 0; i < own->count; i++)
        if (own->ran[i].is_over && !own->ran[i].is_seen) {
            own->ran[i].is_seen = true;
            give(pass, &own->ran[i].need, 1);
            return true;
        }
    return false;
}

/* The best of those seen; those that limits hold stand aside. */
static uint32_t choose(const struct pass *pass)
{
    const struct committed *const own = pass->own;
    uint32_t best = WEIR_NO_INDEX;
    double least = 0;

    for (uint32_t i = 0; i < own->queue.count; i++) {
        const struct weir_job *const job = &own->queue.all[i].job;
        const double score = own->sights[i] == SEEN ? score_of(own, job) : 0;
        if (own->sights[i] != SEEN || (best != WEIR_NO_INDEX && !(score < least)))
            continue;
        const uint32_t limit = weir_walk_limit(pass->view, job);
        if (limit != WEIR_REASON_NONE) {
            (void)weir_placer_deny_job(pass->placer, job->workload, job->id, limit);
            own->sights[i] = ASIDE;
            continue;
        }
        best = i;
        least = score;
    }
    return best;
}

static weir_status go_through(struct pass *pass)
{
    struct committed *const own = pass->own;
    bool more = true;

    WEIR_TRY(open_queue(pass));
    while (more) {
        const uint32_t head = own->has_head ? find_head(own) : choose(pass);
        bool has_started = false;
        if (head != WEIR_NO_INDEX)
            WEIR_TRY(start(pass, &own->queue.all[head].job, &has_started));
        if (has_started) {
            own->sights[head] = ASIDE;
            own->has_head = false;
            continue;
        }
        if (head != WEIR_NO_INDEX && !own->has_head)
            commit(pass, head);
        if (own->has_head)
            WEIR_TRY(start_brief_ones(pass));
        more = see_next(pass);
    }
    return WEIR_OK;
}

static weir_status pass(void *state, const struct weir_view *view, struct weir_placer *placer,
                        struct weir_plan *plan, struct weir_error *error)
{
    struct committed *const own = state;
    struct pass pass = { .own = own, .view = view, .placer = placer, .error = error };

    (void)plan;
    if (!own->is_known)
        WEIR_TRY(take_over(own, view));
    find_ended(&pass);
    WEIR_TRY(go_through(&pass));
    forget_ended(own);
    if (error != NULL)
        error->text[0] = '\0'; /* that some found no place is no error */
    return WEIR_OK;
}

/* ---- from one decision to the next ---- */

/* One that may be never. */
static void walk_time(struct weir_memory *memory, int64_t *time_ns)
{
    double number = *time_ns == INT64_MAX ? (double)NAN : weir_memory_of_time(*time_ns);

    weir_memory_number(memory, &number);
    *time_ns = weir_memory_to_time(number);
}

static void walk_head(struct weir_memory *memory, struct committed *own)
{
    const int64_t flags = weir_memory_count(memory, own->has_head + 2 * own->is_known, 0);

    own->has_head = flags % 2 > 0;
    own->is_known = flags > 1;
    own->workload = (uint32_t)weir_memory_count(memory, own->workload, 0);
    own->id = (uint64_t)weir_memory_count(memory, (int64_t)own->id, 0);
    walk_time(memory, &own->shadow_ns);
    walk_time(memory, &own->chosen_ns);
    const int64_t workload = weir_memory_count(memory, weir_job_name_workload(own->until_name), 0);
    own->until_name = weir_job_name(
        (uint32_t)workload,
        (uint64_t)weir_memory_count(memory, (int64_t)weir_job_name_id(own->until_name), 0));
}

static void walk_ran(struct weir_memory *memory, struct ran *ran)
{
    ran->workload = (uint32_t)weir_memory_count(memory, ran->workload, 0);
    ran->id = (uint64_t)weir_memory_count(memory, (int64_t)ran->id, 0);
    walk_time(memory, &ran->due_ns);
    weir_memory_amount(memory, &ran->need.gpu_units);
    weir_memory_amount(memory, &ran->need.cpu_units);
}

/* Who ran, too: who has ended since the last pass is known nowhere else. */
static uint32_t save(const void *state, double *numbers, uint32_t capacity)
{
    struct committed own = *(const struct committed *)state;
    struct weir_memory memory = { .to = numbers, .size = capacity };

    walk_head(&memory, &own);
    for (uint32_t i = 0; i < own.count; i++) {
        struct ran ran = own.ran[i];
        walk_ran(&memory, &ran);
    }
    return memory.used;
}

/* Older numbers end with the head: who runs is asked for. */
static weir_status restore(void *state, const struct weir_view *view, const double *numbers,
                           uint32_t count, struct weir_error *error)
{
    struct committed *const own = state;
    struct weir_memory memory = { .from = numbers, .size = count };

    (void)view;
    walk_head(&memory, own);
    for (own->count = 0; memory.used < count; own->count++) {
        WEIR_ROOM(&own->allocator, own->ran, own->capacity, own->count + 1);
        own->ran[own->count] = (struct ran){ 0 };
        walk_ran(&memory, &own->ran[own->count]);
    }
    return weir_memory_end(&memory, error);
}

const struct weir_queueing_ops weir_queueing_committed = {
    .size = sizeof weir_queueing_committed,
    .abi = WEIR_ABI_MAJOR,
    .name = "committed",
    .summary = "who was chosen stays chosen until it fits: SJF, WFP3, UNI and F1 of RLScheduler",
    .flags = WEIR_QUEUEING_FOLLOWS,
    .params = params,
    .param_count = PARAM_COUNT,
    .create = create,
    .destroy = destroy,
    .key = key,
    .pass = pass,
    .save = save,
    .restore = restore,
};
