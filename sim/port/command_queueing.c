/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The queueing policy `command`: the program gives waiting jobs their keys, the smallest is next.
 *
 * It is asked at every pass in which anybody waits: of jobs that came since the line before, of
 * those that wait no more, and of nodes that changed. A key stays until the program gives another
 * one, or the job waits no more. Jobs are then offered a place in the order of keys, submission,
 * workload, id; with `passes` those that fit pass those that do not, else all wait behind the first
 * that does not. Whom a limit of a tenant keeps waiting is in nobody's way.
 */
#include "sim/port/command_policy.h"
#include "sim/port/command_state.h"

#include "weir/tenant.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

struct waiting {
    uint64_t id;
    uint32_t workload, kind;
    int64_t submit_ns, queued_ns;
    double key; /* NAN = none yet */
};
struct list {
    struct waiting *jobs;
    size_t count, capacity;
};
struct queue {
    struct sim_command *command;
    struct sim_told_nodes told;
    struct list waiting; /* as last told, by workload and id */
    struct list now;
    uint32_t *refused; /* kinds, in this pass */
    size_t refused_count, refused_capacity;
    bool passes, has_begun;
};

/* ---- life ---- */

static void destroy(void *state)
{
    struct queue *queue = state;
    sim_command_end(queue->command);
    sim_told_nodes_clear(&queue->told);
    free(queue->waiting.jobs);
    free(queue->now.jobs);
    free(queue->refused);
    free(queue);
}

static weir_status create(const struct weir_params *params, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error)
{
    struct sim_commands *commands = sim_commands_of(allocator);
    struct queue *queue = calloc(1, sizeof *queue);
    if (queue == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    queue->passes = params->values[1] > 0;
    const weir_status status =
        sim_command_start(commands == NULL ? NULL : &commands->of[SIM_COMMAND_QUEUEING],
                          params->values[0], &queue->command, error);
    if (status != WEIR_OK)
        destroy(queue);
    else
        *state = queue;
    return status;
}

/* ---- who waits ---- */

static int compare_ids(const void *a, const void *b)
{
    const struct waiting *left = a;
    const struct waiting *right = b;
    if (left->workload != right->workload)
        return left->workload < right->workload ? -1 : 1;
    return (left->id > right->id) - (left->id < right->id);
}

static int compare_keys(const void *a, const void *b)
{
    const struct waiting *left = a;
    const struct waiting *right = b;
    if (left->key < right->key || left->key > right->key)
        return left->key < right->key ? -1 : 1;
    if (left->submit_ns != right->submit_ns)
        return left->submit_ns < right->submit_ns ? -1 : 1;
    return compare_ids(a, b);
}

static weir_status make_room(struct list *list)
{
    if (list->count < list->capacity)
        return WEIR_OK;
    struct waiting *grown = realloc(list->jobs, (list->capacity * 2 + 64) * sizeof *grown);
    if (grown == NULL)
        return WEIR_ENOMEM;
    list->jobs = grown;
    list->capacity = list->capacity * 2 + 64;
    return WEIR_OK;
}

static weir_status list_waiting(struct queue *queue, const struct weir_view *view)
{
    struct weir_job job = { .size = sizeof job };
    uint32_t cursor = 0;
    queue->now.count = 0;
    while (weir_view_next_job(view, &cursor, &job)) {
        if (job.state != WEIR_JOB_WAITING)
            continue;
        WEIR_TRY(make_room(&queue->now));
        queue->now.jobs[queue->now.count++] = (struct waiting){ .id = job.id,
                                                                .workload = job.workload,
                                                                .kind = job.kind,
                                                                .submit_ns = job.submit_ns,
                                                                .queued_ns = job.queued_ns,
                                                                .key = (double)NAN };
    }
    qsort(queue->now.jobs, queue->now.count, sizeof *queue->now.jobs, compare_ids);
    return WEIR_OK;
}

/* ---- the question ---- */

static void write_time(const char *key, int64_t time_ns, FILE *out)
{
    if (time_ns == WEIR_UNKNOWN_TIME)
        (void)fprintf(out, ", \"%s\": null", key);
    else
        (void)fprintf(out, ", \"%s\": %.17g", key, (double)time_ns / 1e9);
}

static void write_job(const struct weir_job *job, FILE *out)
{
    const struct weir_amounts need = weir_job_amounts(job);
    (void)fprintf(out,
                  "{\"id\": \"%u/%" PRIu64 "\", \"tenant\": %u, \"user\": %u, \"priority\": %d, "
                  "\"attempts\": %u, \"ranks\": %u, \"cpus\": %.12g, \"gpus\": %.12g",
                  job->workload, job->id, job->tenant, job->user, job->priority, job->attempts,
                  job->ranks, weir_units_amount(need.cpu_units), weir_units_amount(need.gpu_units));
    write_time("submit_s", job->submit_ns, out);
    write_time("queued_s", job->queued_ns, out);
    write_time("estimate_s", job->estimate_ns, out);
    write_time("deadline_s", job->deadline_ns, out);
    write_time("attained_s", job->attained_ns, out);
    (void)fputs("}", out);
}

static void begin(const char **between, FILE *out)
{
    (void)fputs(*between, out);
    *between = ", ";
}

/* Both lists are in order: who is in the new one alone has come, in the old one alone is gone; one
 * that waits anew is told of anew. Keys of the others stay. */
static void write_jobs(struct queue *queue, const struct weir_view *view, FILE *out)
{
    struct weir_job job = { .size = sizeof job };
    const struct list *old = &queue->waiting;
    const char *between = "";
    size_t i = 0;
    (void)fputs(", \"jobs\": [", out);
    for (size_t n = 0; n < queue->now.count; n++) {
        struct waiting *now = &queue->now.jobs[n];
        while (i < old->count && compare_ids(&old->jobs[i], now) < 0)
            i++;
        if (i < old->count && compare_ids(&old->jobs[i], now) == 0 &&
            old->jobs[i].queued_ns == now->queued_ns) {
            now->key = old->jobs[i].key;
        } else if (weir_view_job(view, now->workload, now->id, &job)) {
            begin(&between, out);
            write_job(&job, out);
        }
    }
    (void)fputs("]", out);
}

static void write_gone(const struct queue *queue, FILE *out)
{
    const char *between = "";
    size_t n = 0;
    (void)fputs(", \"gone\": [", out);
    for (size_t i = 0; i < queue->waiting.count; i++) {
        const struct waiting *old = &queue->waiting.jobs[i];
        while (n < queue->now.count && compare_ids(&queue->now.jobs[n], old) < 0)
            n++;
        if (n < queue->now.count && compare_ids(&queue->now.jobs[n], old) == 0)
            continue;
        begin(&between, out);
        (void)fprintf(out, "\"%u/%" PRIu64 "\"", old->workload, old->id);
    }
    (void)fputs("]", out);
}

struct question {
    struct queue *queue;
    const struct weir_view *view;
};

static weir_status write_question(void *state, FILE *out)
{
    const struct question *question = state;
    struct queue *queue = question->queue;
    const struct weir_view *view = question->view;
    (void)fputs(queue->has_begun ? "{" : "{\"format\": \"weir-queueing\", \"version\": 1, ", out);
    queue->has_begun = true;
    (void)fprintf(out, "\"now_s\": %.17g, ", (double)view->now_ns / 1e9);
    WEIR_TRY(sim_told_nodes_write(&queue->told, view->cluster, out));
    write_jobs(queue, view, out);
    write_gone(queue, out);
    (void)fputs("}\n", out);
    return WEIR_OK;
}

/* ---- the answer ---- */

/* "WORKLOAD/ID", as jobs are told of. */
static bool read_id(const char *text, struct waiting *asked)
{
    char *end = NULL;
    if (!isdigit((unsigned char)text[0]))
        return false;
    const unsigned long workload = strtoul(text, &end, 10);
    if (*end != '/' || !isdigit((unsigned char)end[1]) || workload > UINT32_MAX)
        return false;
    *asked = (struct waiting){ .workload = (uint32_t)workload, .id = strtoull(end + 1, &end, 10) };
    return *end == '\0';
}

static weir_status take_key(void *state, const struct sim_command_key *key,
                            struct weir_error *error)
{
    const struct queue *queue = state;
    struct waiting asked;
    struct waiting *job = NULL;
    if (read_id(key->job, &asked))
        job = bsearch(&asked, queue->now.jobs, queue->now.count, sizeof asked, compare_ids);
    if (job == NULL)
        return weir_fail(error, WEIR_EPOLICY, "its answer: no job '%.40s' waits", key->job);
    job->key = key->key;
    return WEIR_OK;
}

static weir_status check_keys(const struct queue *queue, struct weir_error *error)
{
    for (size_t i = 0; i < queue->now.count; i++)
        if (isnan(queue->now.jobs[i].key))
            return weir_fail(error, WEIR_EPOLICY, "its answer: keys{} lacks job '%u/%" PRIu64 "'",
                             queue->now.jobs[i].workload, queue->now.jobs[i].id);
    return WEIR_OK;
}

static weir_status ask(struct queue *queue, const struct weir_view *view, struct weir_error *error)
{
    struct sim_command_line answer = { NULL, 0 };
    struct question question = { queue, view };
    weir_status status =
        sim_command_ask_written(queue->command, write_question, &question, &answer, error);
    if (status == WEIR_OK)
        status = sim_command_keys(answer, take_key, queue, error);
    if (status == WEIR_OK)
        status = check_keys(queue, error);
    if (status == WEIR_EPOLICY)
        sim_command_blame(queue->command);
    return status;
}

/* ---- the pass ---- */

static bool is_refused(const struct queue *queue, uint32_t kind)
{
    for (size_t i = 0; i < queue->refused_count; i++)
        if (queue->refused[i] == kind)
            return true;
    return false;
}

static weir_status refuse(struct queue *queue, uint32_t kind)
{
    if (queue->refused_count == queue->refused_capacity) {
        const size_t capacity = queue->refused_capacity * 2 + 16;
        uint32_t *grown = realloc(queue->refused, capacity * sizeof *grown);
        if (grown == NULL)
            return WEIR_ENOMEM;
        queue->refused = grown;
        queue->refused_capacity = capacity;
    }
    queue->refused[queue->refused_count++] = kind;
    return WEIR_OK;
}

/* *is_over: nobody behind it is offered a place. */
static weir_status offer(struct queue *queue, const struct weir_view *view,
                         struct weir_placer *placer, const struct waiting *next, bool *is_over,
                         struct weir_error *error)
{
    struct weir_job job = { .size = sizeof job };
    if (is_refused(queue, next->kind) || !weir_view_job(view, next->workload, next->id, &job))
        return WEIR_OK;
    const uint32_t quota = weir_view_quota_reason(view, &job);
    if (quota != WEIR_REASON_NONE) {
        WEIR_TRY(weir_placer_deny_job(placer, next->workload, next->id, quota));
        return refuse(queue, next->kind);
    }
    const weir_status status = weir_placer_start_job(placer, next->workload, next->id, error);
    if (status != WEIR_EBUSY && status != WEIR_EINFEASIBLE)
        return status;
    error->text[0] = '\0'; /* not an error of the decision */
    *is_over = !queue->passes;
    return refuse(queue, next->kind);
}

static weir_status pass(void *state, const struct weir_view *view, struct weir_placer *placer,
                        struct weir_plan *plan, struct weir_error *error)
{
    struct queue *queue = state;
    bool is_over = false;
    (void)plan;
    WEIR_TRY(list_waiting(queue, view));
    if (queue->now.count == 0)
        return WEIR_OK; /* who is gone is told with who comes next */
    WEIR_TRY(ask(queue, view, error));
    const struct list told = queue->waiting;
    queue->waiting = queue->now;
    queue->now = told;
    queue->now.count = queue->refused_count = 0;
    for (size_t i = 0; i < queue->waiting.count; i++) {
        WEIR_TRY(make_room(&queue->now));
        queue->now.jobs[queue->now.count++] = queue->waiting.jobs[i];
    }
    qsort(queue->now.jobs, queue->now.count, sizeof *queue->now.jobs, compare_keys);
    for (size_t i = 0; i < queue->now.count && !is_over; i++)
        WEIR_TRY(offer(queue, view, placer, &queue->now.jobs[i], &is_over, error));
    return WEIR_OK;
}

const struct weir_queueing_ops sim_command_queueing = {
    .size = sizeof(struct weir_queueing_ops),
    .abi = WEIR_ABI_MAJOR,
    .name = "command",
    .summary = "a program in any language (argv), one line of JSON a pass: keys of waiting jobs",
    .params = sim_command_params,
    .param_count = 2,
    .create = create,
    .destroy = destroy,
    .pass = pass,
};
