/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Traces of the field, read, simulated and compared job by job with start times that other programs
 * found. Skipped where the traces are not at hand. WEIR_SLOW=1 adds the 82 247 jobs of Philly.
 */
#include "sim/record/record.h"
#include "sim/worker/context.h"
#include "sim/world/run.h"
#include "tests/support/check.h"
#include "tests/support/runs.h"
#include "tests/support/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JOBS = 100000, TEXT = 2048 };

static const double ns_per_s = 1e9;

struct seen {
    int64_t submit_ns[JOBS], start_ns[JOBS];
    double completion_s; /* sum of end - submission */
    uint64_t preempted;
    size_t count;
};

static void see(void *state, const struct sim_job_row *row)
{
    struct seen *seen = state;
    if (row->job >= JOBS)
        return;
    seen->submit_ns[row->job] = row->submit_ns;
    seen->start_ns[row->job] = row->start_ns;
    seen->completion_s += (double)(row->end_ns - row->submit_ns) / ns_per_s;
    seen->preempted += row->attempts - 1;
    seen->count++;
}

static struct seen *run_trace(const char *text)
{
    struct sim_scenario *scenario = test_scenario(text, "");
    struct sim_run_summary *summary = test_summary();
    struct seen *seen = calloc(1, sizeof *seen);
    const struct sim_observer observer = { .state = seen, .job = see };
    const struct sim_run_options options = { .seed = 1,
                                             .export_at_s = (double)NAN,
                                             .observer = &observer };
    CHECK(scenario != NULL && seen != NULL && summary != NULL);
    if (scenario != NULL && seen != NULL && summary != NULL)
        CHECK_I64(sim_run(scenario, &options, summary), WEIR_OK);
    free(summary);
    sim_scenario_destroy(scenario);
    return seen;
}

/* False when the trace is not here. */
static bool write_scenario(char text[TEXT], const char *node, const char *policy,
                           const char *workload, const char *trace)
{
    const char *path = test_shared(trace);
    if (path == NULL)
        return false;
    (void)snprintf(
        text, TEXT,
        "schema: 2\nname: x\ncatalog: {node_types: {n: %s}}\ncluster: {nodes: [{type: n, "
        "count: %s}]}\nsched: {placement: first_fit, queueing: %s}\njobs: [{name: w, "
        "preemption: all, estimate: 1, %s, trace: %s}]\n",
        node, strstr(node, "h100: 1}") != NULL ? "512" : "1", policy, workload, path);
    return true;
}

/* One machine without nodes that matter, integer seconds: every start must be the same. */
static void compare_starts(const char *known, const char *column, const struct seen *seen)
{
    struct test_table table;
    struct weir_error error = { .phase = -1 };
    const char *path = test_shared(known);
    CHECK(path != NULL && test_table_read(path, &table, &error) == WEIR_OK);
    if (path == NULL || error.text[0] != '\0')
        return;
    size_t differences = 0;
    CHECK_I64(seen->count, table.rows);
    for (size_t row = 0; row < table.rows && row < JOBS; row++) {
        const double submit_s = strtod(test_table_cell(&table, row, "submit"), NULL);
        const double start_s = strtod(test_table_cell(&table, row, column), NULL);
        differences += seen->submit_ns[row] != llround(submit_s * ns_per_s) ||
                               seen->start_ns[row] != llround(start_s * ns_per_s)
                           ? 1
                           : 0;
    }
    CHECK_I64(differences, 0);
    test_table_clear(&table);
}

static const char cpus_240[] = "{cpus: 240, ram: 100 TiB}";
static const char gpus_8[] = "{cpus: 8, ram: 1 TiB, gpus: {h100: 8}}";
static const char gpu_1[] = "{cpus: 8, ram: 1 TiB, gpus: {h100: 1}}";

static void starts_are_those_of_other_programs(void)
{
    static const struct {
        const char *node, *workload, *trace, *known, *policy, *column;
    } cases[] = {
        { cpus_240, "format: swf", "traces/hpc/hpc2n_alea_subset.swf",
          "golden/jobs/hpc2n_240_exact_estimates.csv", "fcfs", "start_fcfs" },
        { cpus_240, "format: swf", "traces/hpc/hpc2n_alea_subset.swf",
          "golden/jobs/hpc2n_240_exact_estimates.csv", "first_fit", "start_firstfit" },
        { gpus_8, "format: table, columns: tiresias", "traces/tiresias/60_job.csv",
          "golden/jobs/tiresias60_8gpu.csv", "fcfs", "start_fcfs" },
        { gpus_8, "format: table, columns: tiresias", "traces/tiresias/60_job.csv",
          "golden/jobs/tiresias60_8gpu.csv", "first_fit", "start_firstfit" },
        { gpus_8, "format: table, columns: tiresias", "traces/tiresias/60_job.csv",
          "golden/jobs/tiresias60_8gpu.csv", "easy", "start_easy" },
        { cpus_240, "format: swf", "traces/hpc/hpc2n_alea_subset.swf",
          "golden/jobs/hpc2n_240_exact_estimates.csv", "easy", "start_easy" },
        { gpus_8, "format: table, columns: tiresias", "traces/tiresias/60_job.csv",
          "golden/jobs/tiresias60_8gpu.csv", "conservative", "start_cons" },
        { cpus_240, "format: swf", "traces/hpc/hpc2n_alea_subset.swf",
          "golden/jobs/hpc2n_240_exact_estimates.csv", "conservative", "start_cons" },
        { gpus_8, "format: table, columns: tiresias", "traces/tiresias/60_job.csv",
          "golden/jobs/tiresias60_8gpu.csv", "{policy: easy, order: shortest}", "start_sjf_easy" },
        { cpus_240, "format: swf", "traces/hpc/hpc2n_alea_subset.swf",
          "golden/jobs/hpc2n_240_exact_estimates.csv", "{policy: easy, order: shortest}",
          "start_sjf_easy" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[TEXT];
        if (!write_scenario(text, cases[i].node, cases[i].policy, cases[i].workload,
                            cases[i].trace)) {
            test_skip("the shared traces are not here");
            return;
        }
        struct seen *seen = run_trace(text);
        if (seen != NULL)
            compare_starts(cases[i].known, cases[i].column, seen);
        free(seen);
    }
}

/* Completion times and preemptions of the original Tiresias. */
static void tiresias_has_its_mean_completion_times(void)
{
    static const struct {
        const char *policy;
        double mean_s;
        uint64_t preempted;
    } cases[] = { { "fcfs", 1556.483, 0 },
                  { "first_fit", 715.267, 0 },
                  { "srtf", 519.867, 7 },
                  { "srsf", 563.383, 13 },
                  { "las_2d", 715.267, 0 } };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[TEXT];
        if (!write_scenario(text, gpus_8, cases[i].policy, "format: table, columns: tiresias",
                            "traces/tiresias/60_job.csv")) {
            test_skip("the shared traces are not here");
            return;
        }
        struct seen *seen = run_trace(text);
        if (seen != NULL) {
            CHECK_NEAR(seen->completion_s / (double)seen->count, cases[i].mean_s, 0.0005);
            CHECK_I64(seen->preempted, cases[i].preempted);
        }
        free(seen);
    }
}

/* The known mean breaks ties of submission by run time, the file does not: 0.01 % apart. */
static void philly_has_its_mean_completion_time(void)
{
    char text[TEXT];
    if (!test_may_be_slow())
        return;
    if (!write_scenario(text, gpu_1, "fcfs", "format: table, columns: philly",
                        "traces/philly/philly_jobs_sia.csv.gz")) {
        test_skip("the shared traces are not here");
        return;
    }
    struct seen *seen = run_trace(text);
    if (seen != NULL) {
        CHECK_I64(seen->count, 82247);
        CHECK_NEAR(seen->completion_s / (double)seen->count, 488879.9892, 50);
    }
    free(seen);
}

static const struct test tests[] = {
    { "every job starts when other programs start it", starts_are_those_of_other_programs },
    { "Tiresias's jobs have their known mean completion times",
      tiresias_has_its_mean_completion_times },
    { "Philly's jobs have their known mean completion time", philly_has_its_mean_completion_time },
};
TEST_MAIN(tests)
