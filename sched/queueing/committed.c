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
 * Jobs that come while nobody waits are chosen one by one in the order of submission; while one
 * waits, all that come join the queue. Then the best of the queue is chosen. With `backfill` jobs
 * start, in the order of submission, that end before the time at which the chosen one was expected
 * to start when it was chosen; that time is not looked at again, and devices left over then are
 * nobody's.
 *
 * Cost of a pass that chooses: O(waiting log waiting).
 */
#include "sched/queueing/queueings.h"

#include "sched/internal/params.h"
#include "sched/queueing/backfill.h"
#include "sched/queueing/listed.h"
#include "sched/queueing/made.h"
#include "sched/queueing/ranked.h"

enum { PARAM_BY, PARAM_BACKFILL, PARAM_COUNT };
enum { BY_SJF, BY_WFP3, BY_UNI, BY_F1, BY_FCFS };

static const struct weir_param params[PARAM_COUNT] = {
    [PARAM_BY] = WEIR_CHOICE("by", "sjf|wfp3|uni|f1|fcfs", BY_FCFS, BY_SJF,
                             "which number says who is chosen"),
    [PARAM_BACKFILL] = WEIR_FLAG(
        "backfill", 0, "jobs pass the chosen one that end before it is expected to start"),
};

static const double ns_per_s = 1e9;

struct committed {
    struct weir_allocator allocator;
    double values[PARAM_COUNT];
    struct weir_listed queue;
    bool has_head;
    uint32_t workload;
    uint64_t id;
    int64_t shadow_ns; /* INT64_MAX = no end that is expected makes room */
};

struct pass {
    struct committed *own;
    const struct weir_view *view;
    struct weir_placer *placer;
    struct weir_error *error;
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
    weir_listed_close(&((struct committed *)state)->queue);
    weir_made_destroy(state);
}

/* ---- who is chosen ---- */

static double score_of(const struct committed *own, const struct weir_job *job)
{
    const int64_t left_ns = weir_job_left_ns(job);
    const double r = left_ns > 0 ? (double)left_ns / ns_per_s : 0.1;
    const double s = job->submit_ns > 0 ? (double)job->submit_ns / ns_per_s : 0;
    const double n = weir_ranked_gpus(job);

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

/* ---- the one that waits ---- */

/* The first end of a running job at which as much is free as it asks for. */
static int64_t expected_start(const struct pass *pass, const struct weir_job *head)
{
    const struct weir_amounts need = weir_ranked_need(head);
    struct weir_amounts free = weir_cluster_free(weir_placer_scratch(pass->placer));
    struct weir_job job = { .size = sizeof job };

    for (bool more = weir_view_next_running(pass->view, NULL, &job); more;
         more = weir_view_next_running(pass->view, &job, &job)) {
        const struct weir_amounts given = weir_ranked_need(&job);
        const int64_t end_ns = weir_job_end_ns(&job, pass->view->now_ns);
        free.gpu_units += given.gpu_units;
        free.cpu_units += given.cpu_units;
        if (free.gpu_units >= need.gpu_units && free.cpu_units >= need.cpu_units)
            return end_ns;
    }
    return INT64_MAX;
}

static void commit(const struct pass *pass, const struct weir_job *job)
{
    pass->own->has_head = true;
    pass->own->workload = job->workload;
    pass->own->id = job->id;
    pass->own->shadow_ns = expected_start(pass, job);
}

static weir_status start(const struct pass *pass, const struct weir_job *job, bool *has_started)
{
    const weir_status status =
        weir_placer_start_job(pass->placer, job->workload, job->id, pass->error);

    *has_started = status == WEIR_OK;
    return weir_backfill_is_no_place(status) ? WEIR_OK : status;
}

/* In the order of submission, in what the chosen one leaves free. */
static weir_status pass_head(const struct pass *pass)
{
    struct committed *const own = pass->own;
    bool has_started;

    if (own->values[PARAM_BACKFILL] <= 0)
        return WEIR_OK;
    WEIR_TRY(weir_listed_fill(&own->queue, pass->view));
    weir_listed_sort(&own->queue);
    for (uint32_t i = 0; i < own->queue.count; i++) {
        const struct weir_job *const job = &own->queue.all[i].job;
        const int64_t left_ns = weir_job_left_ns(job);
        const bool is_head = job->workload == own->workload && job->id == own->id;
        if (!is_head && left_ns != INT64_MAX && left_ns < own->shadow_ns - pass->view->now_ns)
            WEIR_TRY(start(pass, job, &has_started));
    }
    return WEIR_OK;
}

/* Takes them in their order until one finds no place. Those that limits hold stand aside. */
static weir_status start_in_order(const struct pass *pass, bool by_score)
{
    struct committed *const own = pass->own;

    WEIR_TRY(weir_listed_fill(&own->queue, pass->view));
    for (uint32_t i = 0; by_score && i < own->queue.count; i++)
        own->queue.all[i].rank = score_of(own, &own->queue.all[i].job);
    weir_listed_sort(&own->queue);
    for (uint32_t i = 0; i < own->queue.count; i++) {
        const struct weir_job *const job = &own->queue.all[i].job;
        const uint32_t limit = weir_view_quota_reason(pass->view, job);
        bool has_started;
        WEIR_TRY(start(pass, job, &has_started));
        if (has_started || limit != WEIR_REASON_NONE)
            continue;
        commit(pass, job);
        return pass_head(pass);
    }
    return WEIR_OK;
}

static weir_status pass(void *state, const struct weir_view *view, struct weir_placer *placer,
                        struct weir_plan *plan, struct weir_error *error)
{
    struct committed *const own = state;
    const struct pass pass = { own, view, placer, error };
    struct weir_job head = { .size = sizeof head };
    bool had_head = own->has_head;
    weir_status status = WEIR_OK;

    (void)plan;
    if (had_head && weir_view_job(view, own->workload, own->id, &head) &&
        head.state == WEIR_JOB_WAITING) {
        WEIR_TRY(start(&pass, &head, &had_head));
        own->has_head = !had_head;
    } else {
        own->has_head = false;
    }
    status = own->has_head ? pass_head(&pass) : start_in_order(&pass, had_head);
    if (error != NULL && status == WEIR_OK)
        error->text[0] = '\0'; /* that some found no place is no error */
    return status;
}

/* ---- from one decision to the next ---- */

enum { REMEMBERED = 4 };

static uint32_t save(const void *state, double *numbers, uint32_t capacity)
{
    const struct committed *const own = state;
    const double all[REMEMBERED] = { own->has_head, own->workload, (double)own->id,
                                     own->shadow_ns == INT64_MAX ? (double)NAN
                                                                 : (double)own->shadow_ns };

    for (uint32_t i = 0; i < REMEMBERED && i < capacity; i++)
        numbers[i] = all[i];
    return REMEMBERED;
}

static weir_status restore(void *state, const struct weir_view *view, const double *numbers,
                           uint32_t count, struct weir_error *error)
{
    struct committed *const own = state;

    (void)view;
    if (count != REMEMBERED || !(numbers[1] >= 0 && numbers[2] >= 0))
        return weir_fail(error, WEIR_EFORMAT, "%u numbers are no chosen job", count);
    own->has_head = numbers[0] > 0;
    own->workload = (uint32_t)numbers[1];
    own->id = (uint64_t)numbers[2];
    own->shadow_ns = isnan(numbers[3]) ? INT64_MAX : (int64_t)numbers[3];
    return WEIR_OK;
}

const struct weir_queueing_ops weir_queueing_committed = {
    .size = sizeof weir_queueing_committed,
    .abi = WEIR_ABI_MAJOR,
    .name = "committed",
    .summary = "who was chosen stays chosen until it fits: SJF, WFP3, UNI and F1 of RLScheduler",
    .params = params,
    .param_count = PARAM_COUNT,
    .create = create,
    .destroy = destroy,
    .key = key,
    .pass = pass,
    .save = save,
    .restore = restore,
};
