/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Random numbers are named by names: to add, remove or move one workload, class or group of nodes
 * changes no draw of another.
 */
#include "sim/record/record.h"
#include "sim/scenario/workload/job_stream.h"
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCENARIOS = 25, PIPELINES = 4, NAME = 64, JOBS = 256, TEXT = 6000 };

/* ---- what was drawn ---- */

/* One attempt at an item, or one set-up, in a form that does not depend on indices. */
struct drawn {
    char stage[NAME]; /* pipeline.stage */
    uint64_t item;
    uint32_t attempt, returns;
    int64_t arrival_ns; /* of an item of the source at its first stage, else 0 */
    int64_t service_ns;
    double size;
};

struct log {
    const struct sim_scenario *scenario;
    struct drawn *rows;
    size_t count, capacity;
};

static struct drawn *new_row(struct log *log)
{
    if (log->count == log->capacity) {
        log->capacity = log->capacity * 2 + 1024;
        log->rows = realloc(log->rows, log->capacity * sizeof *log->rows);
        if (log->rows == NULL)
            abort();
    }
    struct drawn *row = &log->rows[log->count++];
    memset(row, 0, sizeof *row);
    return row;
}

static struct drawn *add_row(struct log *log, uint32_t stage, bool *is_first)
{
    const struct sim_pipeline *pipeline = log->scenario->pipelines;
    struct drawn *row = new_row(log);
    while (stage >= pipeline->stage_first + pipeline->stages_count)
        pipeline++;
    *is_first = stage == pipeline->stage_first;
    (void)snprintf(row->stage, sizeof row->stage, "%.20s.%.20s", pipeline->name,
                   pipeline->stages[stage - pipeline->stage_first].name);
    return row;
}

static void see_span(void *state, const struct sim_span *span)
{
    bool is_first = false;
    struct drawn *row = add_row(state, span->stage, &is_first);
    row->item = span->item;
    row->attempt = span->attempt;
    row->returns = span->has_failed ? UINT32_MAX : span->returns;
    row->arrival_ns = is_first && span->attempt == 0 ? span->queued_ns : 0;
    row->service_ns = span->end_ns - span->start_ns;
    row->size = span->size;
}

/* Workers have no names; all are there from the start, so that their set-ups are the same set. */
static void see_setup(void *state, const struct sim_setup_span *setup)
{
    bool is_first = false;
    struct drawn *row = add_row(state, setup->stage, &is_first);
    row->item = UINT64_MAX;
    row->service_ns = setup->end_ns - setup->start_ns;
}

/* There is room for all, so a job that is done ran for as long as it has work. */
static void see_job(void *state, const struct sim_job_row *job)
{
    struct log *log = state;
    if (strcmp(job->outcome, "done") != 0)
        return;
    struct drawn *row = new_row(log);
    (void)snprintf(row->stage, sizeof row->stage, "%.20s.",
                   log->scenario->workloads[job->workload].name);
    row->item = job->job;
    row->arrival_ns = job->submit_ns;
    row->service_ns = job->end_ns - job->start_ns;
}

static int by_row(const void *left, const void *right)
{
    return memcmp(left, right, sizeof(struct drawn));
}

static struct log run_and_log(const char *text)
{
    struct log log = { .scenario = test_scenario(text, NULL) };
    const struct sim_observer observer = {
        .span = see_span, .state = &log, .setup = see_setup, .job = see_job
    };
    CHECK(log.scenario != NULL);
    if (log.scenario == NULL)
        return log;
    struct sim_run_summary *summary = test_run_fast(log.scenario, 0, &observer);
    CHECK(summary != NULL && summary->status == WEIR_OK);
    qsort(log.rows, log.count, sizeof *log.rows, by_row);
    free(summary);
    return log;
}

static void close_log(struct log *log)
{
    sim_scenario_destroy((struct sim_scenario *)(uintptr_t)log->scenario);
    free(log->rows);
}

/* Every row of `some` that is not of `left_out` is in `all`, in the same order. */
static size_t rows_that_differ(const struct log *all, const struct log *some, const char *left_out)
{
    size_t differences = 0;
    size_t k = 0;
    for (size_t i = 0; i < all->count; i++) {
        if (strncmp(all->rows[i].stage, left_out, strlen(left_out)) == 0)
            continue;
        if (k < some->count && memcmp(&all->rows[i], &some->rows[k], sizeof *some->rows) == 0)
            k++;
        else
            differences++;
    }
    return differences + some->count - k;
}

/* ---- pipelines ---- */

static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state >> 11;
}

/* Enough CPUs for all: they do not touch one another. The order of the pipelines in the file is
 * part of the question. */
static void write_pipeline(FILE *out, uint64_t seed, int name)
{
    static const char *const laws[] = { "exp(1)", "\"lognormal(2, 1)\"", "\"uniform(1, 3)\"" };
    uint64_t state = (seed * 16 + (uint64_t)name + 1) * UINT64_C(0x9E3779B97F4A7C15);
    const int stages = 1 + (int)(next(&state) % 3);
    (void)fprintf(out,
                  "  - name: p%d\n    semantics: event\n    input: {items: 60, arrivals: exp(2), "
                  "classes: [{name: a, weight: 2, size: exp(1)}, {name: b, weight: 1}]}\n"
                  "    backpressure: {rule: none}\n    stages:\n",
                  name);
    for (int s = 0; s < stages; s++)
        (void)fprintf(out,
                      "      - {name: s%d, cpus: 1, workers: %d, service: %s, setup: exp(5)%s%s}\n",
                      s, 1 + (int)(next(&state) % 3), laws[next(&state) % 3],
                      next(&state) % 2 == 0 ? ", returns: \"uniform(0, 3)\"" : "",
                      next(&state) % 2 == 0 ? ", process_failure: 0.1" : "");
}

/* The pipelines of `order`, ending at -1, without `left_out`. */
static void write_pipelines(char *text, uint64_t seed, const int *order, int left_out)
{
    FILE *out = fmemopen(text, TEXT, "w");
    (void)fprintf(out,
                  "schema: 1\nname: streams\nseed: %" PRIu64 "\nhorizon: 10 h\ncluster:\n  nodes:\n"
                  "    - {name: n, count: 2, cpus: 64}\nsched: {placement: first_fit, scaling: "
                  "{policy: fixed, interval: 1 h}}\npipelines:\n",
                  seed);
    for (; *order >= 0; order++)
        if (*order != left_out)
            write_pipeline(out, seed, *order);
    (void)fclose(out);
}

static void a_pipeline_more_or_less_changes_no_draw_of_another(void)
{
    static const int forward[] = { 0, 1, 2, 3, -1 };
    static const int backward[] = { 3, 2, 1, 0, -1 };
    char text[TEXT];
    for (uint64_t seed = 1; seed <= SCENARIOS; seed++) {
        write_pipelines(text, seed, forward, -1);
        struct log all = run_and_log(text);
        CHECK(all.count > 4 * 60);
        for (int p = 0; p < PIPELINES; p++) {
            char name[NAME];
            (void)snprintf(name, sizeof name, "p%d.", p);
            write_pipelines(text, seed, p % 2 == 0 ? forward : backward, p);
            struct log some = run_and_log(text);
            const size_t differences = rows_that_differ(&all, &some, name);
            if (differences > 0)
                printf("seed %" PRIu64 ": without %s %zu of %zu draws differ\n", seed, name,
                       differences, some.count);
            CHECK_I64(differences, 0);
            close_log(&some);
        }
        close_log(&all);
    }
}

/* ---- pipelines and jobs ---- */

enum { MIXED = 4 }; /* two pipelines, two sources of jobs */

static void write_mixed(char *text, uint64_t seed, int left_out)
{
    FILE *out = fmemopen(text, TEXT, "w");
    (void)fprintf(out,
                  "schema: 2\nname: streams\nseed: %" PRIu64 "\nhorizon: 10 h\ncluster:\n  nodes:\n"
                  "    - {name: n, count: 4, cpus: 200}\nsched: {placement: first_fit, queueing: "
                  "first_fit, scaling: {policy: fixed, interval: 1 h}}\npipelines:\n",
                  seed);
    for (int p = 0; p < 2; p++)
        if (p != left_out)
            write_pipeline(out, seed, p);
    (void)fprintf(out, "jobs:\n");
    for (int w = 2; w < MIXED; w++)
        if (w != left_out)
            (void)fprintf(out,
                          "  - name: p%d\n    run_time: exp(1 min)\n    count: 80\n    arrivals: "
                          "{rate: 0.05}\n    classes: [{name: a, request: {cpus: 1}}, {name: g, "
                          "members: 3, request: {cpus: 1}}]\n",
                          w);
    (void)fclose(out);
}

static void any_workload_more_or_less_changes_no_draw_of_another(void)
{
    char text[TEXT];
    for (uint64_t seed = 1; seed <= 5; seed++) {
        write_mixed(text, seed, -1);
        struct log all = run_and_log(text);
        CHECK(all.count > 2 * 60 + 2 * 70);
        for (int p = 0; p < MIXED; p++) {
            char name[NAME];
            (void)snprintf(name, sizeof name, "p%d.", p);
            write_mixed(text, seed, p);
            struct log some = run_and_log(text);
            CHECK(some.count > 60);
            CHECK_I64(rows_that_differ(&all, &some, name), 0);
            close_log(&some);
        }
        close_log(&all);
    }
}

/* ---- jobs ---- */

#define CLASS_A "{name: a, count: 40, every: 5 s, request: {cpus: 1}}, "
#define CLASS_C ", {name: c, weight: 2, request: {cpus: 2}}"

/* Jobs of one class by their number there; classes a and b have counts, c and d are drawn. */
struct job_log {
    struct sim_job_arrival *jobs;
    size_t count;
};

static struct job_log list_jobs(const char *workload, const char *classes, const char *class)
{
    char text[2048];
    const struct sim_random root = { .seed = 5, .replication = 1 };
    struct job_log log = { .jobs = calloc(JOBS, sizeof *log.jobs) };
    struct sim_job_stream *stream = NULL;
    struct sim_job_arrival job;
    (void)snprintf(text, sizeof text,
                   "schema: 1\nname: j\nhorizon: 1 h\ncluster: {nodes: [{name: n, cpus: 8}]}\n"
                   "sched: {placement: first_fit}\nworkloads:\n  - name: %s\n    kind: generated\n"
                   "    mode: time\n    jobs: 400\n    arrivals: {rate: 1/s}\n"
                   "    service: exp(30)\n    patience: exp(60)\n    classes: [%s]\n",
                   workload, classes);
    struct sim_scenario *scenario = test_scenario(text, NULL);
    CHECK(scenario != NULL && log.jobs != NULL);
    if (scenario == NULL || log.jobs == NULL)
        return log;
    const struct sim_workload *jobs = &scenario->workloads[0];
    const struct sim_random random = sim_random_of(&root, SIM_NAME_JOBS, jobs->name);
    CHECK_I64(sim_job_stream_create(jobs, &random, &stream), WEIR_OK);
    while (sim_job_stream_next(stream, &job))
        if (strcmp(jobs->labels[jobs->jobs[job.spec].label], class) == 0 && log.count < JOBS) {
            job.spec = 0; /* an index */
            log.jobs[log.count++] = job;
        }
    sim_job_stream_destroy(stream);
    sim_scenario_destroy(scenario);
    return log;
}

static bool same_jobs(const struct job_log *a, const struct job_log *b)
{
    const size_t count = a->count < b->count ? a->count : b->count;
    return count > 20 && memcmp(a->jobs, b->jobs, count * sizeof *a->jobs) == 0;
}

static void a_class_with_a_count_changes_no_draw_of_another(void)
{
    static const char b[] = "{name: b, count: 40, every: 7 s, request: {cpus: 1}}" CLASS_C;
    static const char a_b[] =
        CLASS_A "{name: b, count: 40, every: 7 s, request: {cpus: 1}}" CLASS_C;
    const char *const names[] = { "b", "c" };
    for (size_t i = 0; i < 2; i++) {
        const struct job_log with = list_jobs("w", a_b, names[i]);
        const struct job_log without = list_jobs("w", b, names[i]);
        const struct job_log other = list_jobs("v", b, names[i]);
        CHECK(same_jobs(&with, &without));
        CHECK(!same_jobs(&other, &without));
        free(with.jobs);
        free(without.jobs);
        free(other.jobs);
    }
}

/* A drawn job keeps what it asks for when a further class takes some of the others. */
static void a_class_of_the_process_changes_no_job_that_stays(void)
{
    static const char c[] = "{name: c, weight: 2, request: {cpus: 2}}";
    static const char c_d[] =
        "{name: d, weight: 1, request: {cpus: 1}}, {name: c, weight: 2, request: {cpus: 2}}";
    const struct job_log all = list_jobs("w", c, "c");
    const struct job_log some = list_jobs("w", c_d, "c");
    size_t k = 0;
    CHECK(some.count > 100);
    for (size_t i = 0; i < all.count && k < some.count; i++)
        if (all.jobs[i].key == some.jobs[k].key) {
            CHECK(memcmp(&all.jobs[i], &some.jobs[k], sizeof all.jobs[i]) == 0);
            k++;
        }
    CHECK(k > 100);
    free(all.jobs);
    free(some.jobs);
}

/* ---- nodes ---- */

#define NODES(list)                                                                                \
    "schema: 1\nname: n\ncluster: {nodes: [" list "]}\nsched: {placement: first_fit}\n"            \
    "pipelines: [{name: p, input: {items: 1}, stages: [{name: s, cpus: 1, service: 1}]}]\n"

static void a_group_of_nodes_changes_no_draw_of_another(void)
{
    struct sim_scenario *both =
        test_scenario(NODES("{name: a, count: 3, cpus: 1}, {name: b, count: 2, cpus: 1}"), NULL);
    struct sim_scenario *alone = test_scenario(NODES("{name: b, count: 2, cpus: 1}"), NULL);
    CHECK(both != NULL && alone != NULL);
    for (uint32_t n = 0; n < 2 && both != NULL && alone != NULL; n++) {
        const struct sim_stream_key other = sim_scenario_node_key(both, n, 7);
        const struct sim_stream_key moved = sim_scenario_node_key(both, 3 + n, 7);
        const struct sim_stream_key key = sim_scenario_node_key(alone, n, 7);
        CHECK(moved.item == key.item && moved.stage == key.stage && moved.attempt == key.attempt);
        CHECK(other.item != key.item && key.stage == n);
    }
    sim_scenario_destroy(both);
    sim_scenario_destroy(alone);
}

static const struct test tests[] = {
    { "a pipeline more or less changes no draw of another",
      a_pipeline_more_or_less_changes_no_draw_of_another },
    { "any workload more or less changes no draw of another",
      any_workload_more_or_less_changes_no_draw_of_another },
    { "a class with a count changes no draw of another",
      a_class_with_a_count_changes_no_draw_of_another },
    { "a class of the process changes no job that stays",
      a_class_of_the_process_changes_no_job_that_stays },
    { "a group of nodes changes no draw of another", a_group_of_nodes_changes_no_draw_of_another },
};
TEST_MAIN(tests)
