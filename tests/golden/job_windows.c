/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Windows of traces, each starting on an empty machine, compared with start times and averages that
 * other programs found. Skipped where the traces are not at hand; WEIR_SLOW=1 adds Philly's jobs.
 */
#include "sim/record/record.h"
#include "sim/world/run.h"
#include "tests/support/check.h"
#include "tests/support/runs.h"
#include "tests/support/table.h"
#include "workloads/lines.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ROWS = 82300, WINDOW = 1024, TEXT = 1024 };

struct row {
    double submit_s, run_s;
    int procs;
    int64_t start_ns;
};

struct trace {
    struct row rows[ROWS];
    size_t count;
};

static void see(void *state, const struct sim_job_row *job)
{
    struct trace *trace = state;
    if (job->job < trace->count)
        trace->rows[job->job].start_ns = job->start_ns;
}

/* Writes rows [first, first + count) as SWF, plays them on so many processors, and keeps their
 * starts. */
static void play(struct trace *trace, size_t first, int procs, const char *policy)
{
    char path[] = "/tmp/weir_window_XXXXXX";
    char text[TEXT];
    const int handle = mkstemp(path);
    FILE *file = handle < 0 ? NULL : fdopen(handle, "w");
    if (!CHECK(file != NULL))
        return;
    for (size_t i = 0; i < trace->count; i++) {
        const struct row *row = &trace->rows[i];
        fprintf(file, "%zu %.0f -1 %.0f %d -1 -1 %d %.0f -1 1 1 1 1 1 1 -1 -1\n", first + i + 1,
                row->submit_s, row->run_s, row->procs, row->procs, row->run_s);
    }
    CHECK_I64(fclose(file), 0);
    (void)snprintf(text, sizeof text,
                   "schema: 2\nname: x\ncluster: {nodes: [{name: n, cpus: %d, ram: 100 TiB}]}\n"
                   "sched: {placement: first_fit, queueing: %s}\n"
                   "jobs: [{name: w, estimate: 1, format: swf, trace: %s}]\n",
                   procs, policy, path);
    const struct sim_observer observer = { .state = trace, .job = see };
    struct sim_scenario *scenario = test_scenario(text, "");
    if (CHECK(scenario != NULL))
        free(test_run_fast(scenario, 0, &observer));
    sim_scenario_destroy(scenario);
    (void)unlink(path);
}

/* ---- Lublin's model, 256 processors ---- */

/* All rows of an SWF file. */
static bool read_swf(const char *name, struct trace *trace)
{
    const char *path = test_shared(name);
    struct wl_source *source = NULL;
    struct wl_lines *lines = NULL;
    struct wl_line line;
    if (path == NULL || wl_source_open(path, &source, NULL) != WEIR_OK ||
        wl_lines_open(source, 4096, &lines, NULL) != WEIR_OK)
        return false;
    while (wl_lines_next(lines, &line, NULL) == WEIR_OK && line.text != NULL &&
           trace->count < ROWS) {
        double cells[9] = { 0 };
        char *at = line.text;
        if (line.text[0] == ';')
            continue;
        for (size_t i = 0; i < 9; i++)
            cells[i] = strtod(at, &at);
        trace->rows[trace->count++] =
            (struct row){ cells[1], cells[3], (int)fmax(cells[4], cells[7]), 0 };
    }
    wl_lines_close(lines);
    return trace->count > 0;
}

static double bounded_slowdown(const struct trace *trace)
{
    double sum = 0;
    for (size_t i = 0; i < trace->count; i++) {
        const struct row *row = &trace->rows[i];
        const double end_s = (double)row->start_ns / 1e9 + row->run_s;
        sum += fmax(1, (end_s - row->submit_s) / fmax(row->run_s, 10));
    }
    return sum / (double)trace->count;
}

/* Mean over the windows. */
static double windows_mean(const struct trace *all, const char *policy)
{
    static const size_t starts[] = { 1981, 2756, 4299, 8850, 3316, 2714, 5228, 7762, 4022, 7085 };
    enum { WINDOWS = sizeof starts / sizeof starts[0] };
    struct trace *window = calloc(1, sizeof *window);
    double sum = 0;
    for (size_t i = 0; window != NULL && i < WINDOWS; i++) {
        window->count = WINDOW;
        memcpy(window->rows, all->rows + starts[i], WINDOW * sizeof all->rows[0]);
        play(window, starts[i], 256, policy);
        sum += bounded_slowdown(window);
    }
    free(window);
    return sum / WINDOWS;
}

/* RLScheduler's own averages, with and without backfill (Zhang et al., SC 2020, to the digits they
 * print; the rest by a program with its rules); with the head picked anew by another program. */
static void windows_have_their_known_slowdowns(void)
{
    static const struct {
        const char *policy;
        double mean, tolerance;
    } cases[] = {
        { "{policy: committed, by: fcfs}", 7273.7714, 5e-5 },
        { "fcfs", 7273.7714, 5e-5 },
        { "{policy: committed, by: sjf}", 277.3483, 5e-5 },
        { "sjf", 47.158, 5e-4 },
        { "{policy: committed, by: wfp3}", 19753.5275, 5e-5 },
        { "{policy: committed, by: uni}", 22274.7447, 5e-5 },
        { "{policy: committed, by: f1}", 258.3664, 5e-5 },
        { "{policy: committed, by: fcfs, backfill: true}", 235.8173, 5e-5 },
        { "{policy: committed, by: sjf, backfill: true}", 73.3065, 5e-5 },
        { "{policy: committed, by: wfp3, backfill: true}", 133.8738, 5e-5 },
        { "{policy: committed, by: uni, backfill: true}", 307.2329, 5e-5 },
        { "{policy: committed, by: f1, backfill: true}", 75.0682, 5e-5 },
    };
    struct trace *all = calloc(1, sizeof *all);
    if (all == NULL || !read_swf("traces/hpc/lublin_256.swf.gz", all))
        test_skip("the shared traces are not here");
    else
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
            if (!CHECK_NEAR(windows_mean(all, cases[i].policy), cases[i].mean, cases[i].tolerance))
                printf("%s\n", cases[i].policy);
    free(all);
}

/* ---- start times job by job ---- */

static void compare_column(const struct test_table *table, const char *name, int procs,
                           const char *policy, const char *column)
{
    struct trace *trace = calloc(1, sizeof *trace);
    size_t differences = 0;
    for (size_t i = 0; trace != NULL && i < table->rows && i < ROWS; i++)
        trace->rows[trace->count++] =
            (struct row){ strtod(test_table_cell(table, i, "submit"), NULL),
                          strtod(test_table_cell(table, i, "run"), NULL),
                          (int)strtol(test_table_cell(table, i, "procs"), NULL, 10), 0 };
    if (trace == NULL)
        return;
    play(trace, 0, procs, policy);
    for (size_t i = 0; i < trace->count; i++)
        differences += trace->rows[i].start_ns !=
                       llround(strtod(test_table_cell(table, i, column), NULL) * 1e9);
    if (!CHECK_I64(differences, 0))
        printf("%s, %s\n", name, policy);
    free(trace);
}

static void every_job_starts_when_it_should(void)
{
    static const struct {
        const char *file;
        int procs;
    } files[] = { { "golden/jobs/lublin256_w1981_1024.csv", 256 },
                  { "golden/jobs/tiresias60_8gpu.csv", 8 } };
    static const char *const policies[][2] = {
        { "fcfs", "start_fcfs" }, { "first_fit", "start_firstfit" },
        { "easy", "start_easy" }, { "conservative", "start_cons" },
        { "sjf", "start_sjf" },   { "{policy: easy, order: shortest}", "start_sjf_easy" },
    };
    for (size_t f = 0; f < 2; f++) {
        struct test_table table;
        struct weir_error error = { .phase = -1 };
        const char *path = test_shared(files[f].file);
        if (path == NULL || test_table_read(path, &table, &error) != WEIR_OK) {
            test_skip("the shared answers are not here");
            return;
        }
        for (size_t p = 0; p < sizeof policies / sizeof policies[0]; p++)
            compare_column(&table, files[f].file, files[f].procs, policies[p][0], policies[p][1]);
        test_table_clear(&table);
    }
}

/* ---- Philly's 82 247 jobs ---- */

static int compare_rows(const void *left, const void *right)
{
    const struct row *a = left;
    const struct row *b = right;
    if (a->submit_s < b->submit_s || a->submit_s > b->submit_s)
        return a->submit_s < b->submit_s ? -1 : 1;
    if (a->run_s < b->run_s || a->run_s > b->run_s)
        return a->run_s < b->run_s ? -1 : 1;
    return (a->procs > b->procs) - (a->procs < b->procs);
}

/* In the order of submission, duration, GPUs; time 0 is the first. */
static bool read_philly(struct trace *trace)
{
    struct test_table table;
    const char *path = test_shared("traces/philly/philly_jobs_sia.csv.gz");
    if (path == NULL || test_table_read(path, &table, NULL) != WEIR_OK)
        return false;
    for (size_t i = 0; i < table.rows && i < ROWS; i++) {
        struct tm day = { .tm_year = 0 };
        const char *date = test_table_cell(&table, i, "timestamp");
        CHECK(strptime(date, "%Y-%m-%d %H:%M:%S", &day) != NULL);
        trace->rows[trace->count++] =
            (struct row){ (double)timegm(&day),
                          strtod(test_table_cell(&table, i, "duration"), NULL),
                          (int)strtol(test_table_cell(&table, i, "num_gpus"), NULL, 10), 0 };
    }
    test_table_clear(&table);
    qsort(trace->rows, trace->count, sizeof trace->rows[0], compare_rows);
    for (size_t i = trace->count; i-- > 0;)
        trace->rows[i].submit_s -= trace->rows[0].submit_s;
    return trace->count > 0;
}

static double mean_completion(const struct trace *trace)
{
    double sum = 0;
    for (size_t i = 0; i < trace->count; i++)
        sum +=
            (double)trace->rows[i].start_ns / 1e9 + trace->rows[i].run_s - trace->rows[i].submit_s;
    return sum / (double)trace->count;
}

static void philly_has_its_known_completion_times(void)
{
    static const struct {
        const char *policy;
        double mean_s;
    } cases[] = { { "fcfs", 488879.9892 },
                  { "first_fit", 132720.2985 },
                  { "easy", 437732.2869 },
                  { "sjf", 24965.4617 } };
    struct trace *trace = calloc(1, sizeof *trace);
    if (!test_may_be_slow() || trace == NULL) {
        free(trace);
        return;
    }
    if (!read_philly(trace))
        test_skip("the shared traces are not here");
    else
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            play(trace, 0, 512, cases[i].policy);
            if (!CHECK_NEAR(mean_completion(trace), cases[i].mean_s, 5e-5))
                printf("%s\n", cases[i].policy);
        }
    free(trace);
}

static const struct test tests[] = {
    { "every job of a window starts when it should", every_job_starts_when_it_should },
    { "Philly has its known completion times", philly_has_its_known_completion_times },
    { "windows have their known slowdowns", windows_have_their_known_slowdowns },
};
TEST_MAIN(tests)
