/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Gavel's own jobs on 36 GPUs of each of its three types, each in turn on its fastest type, in
 * rounds of 360 s, compared with the mean completion times that the published simulator has for
 * jobs 4000 to 4999. Skipped where the trace is not at hand; WEIR_SLOW=1 adds the other rates.
 */
#include "sim/record/record.h"
#include "sim/world/run.h"
#include "tests/support/check.h"
#include "tests/support/runs.h"
#include "tests/support/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FROM = 4000, TO = 5000, TEXT = 2048 };

struct seen {
    double sum_s;
    uint64_t count;
};

static void see(void *state, const struct sim_job_row *row)
{
    struct seen *seen = state;
    if (row->job < FROM || row->job >= TO)
        return;
    seen->sum_s += 1e-9 * (double)(row->end_ns - row->submit_ns);
    seen->count++;
}

static FILE *open_new(char path[])
{
    const int handle = mkstemp(path);
    return handle < 0 ? NULL : fdopen(handle, "w");
}

/* Steps a second by model and type as profiles; V100 is where they were measured. */
static bool write_profiles(char path[])
{
    struct test_table table;
    const char *from = test_shared("traces/gavel/gavel_throughputs.csv");
    if (from == NULL || test_table_read(from, &table, NULL) != WEIR_OK)
        return false;
    FILE *file = open_new(path);
    if (!CHECK(file != NULL))
        return false;
    (void)fputs("model,gpus,step_s,speeds\n", file);
    for (size_t i = 0; i < table.rows; i++) {
        const char *v100 = test_table_cell(&table, i, "v100_steps_per_s");
        const char *p100 = test_table_cell(&table, i, "p100_steps_per_s");
        const char *k80 = test_table_cell(&table, i, "k80_steps_per_s");
        if (!(strtod(v100, NULL) > 0) || !(strtod(p100, NULL) > 0) || !(strtod(k80, NULL) > 0))
            continue;
        (void)fprintf(file, "%s,%s,%.17g,\"v100m16=%s|p100=%s|k80=%s\"\n",
                      test_table_cell(&table, i, "job_type"),
                      test_table_cell(&table, i, "scale_factor"), 1 / strtod(v100, NULL), v100,
                      p100, k80);
    }
    CHECK_I64(fclose(file), 0);
    test_table_clear(&table);
    return true;
}

/* The built-in map for another rate than one job an hour. */
static void write_map(char path[], double rate)
{
    FILE *file = open_new(path);
    if (!CHECK(file != NULL))
        return;
    (void)fprintf(file,
                  "{\"name\": \"gavel\", \"fields\": {\"name\": {\"column\": \"job_id\"}, "
                  "\"submit\": {\"column\": \"unit_arrival\", \"unit\": \"h\", \"factor\": %.17g}, "
                  "\"run\": {\"column\": \"duration_s_v100\", \"unit\": \"s\"}, "
                  "\"gpus\": {\"column\": \"scale_factor\"}, "
                  "\"model\": {\"column\": \"job_type\"}}}",
                  1 / rate);
    CHECK_I64(fclose(file), 0);
}

static void run(double rate, const char *profiles, struct seen *seen)
{
    char text[TEXT];
    char map[] = "/tmp/weir_gavel_map_XXXXXX";
    write_map(map, rate);
    (void)snprintf(text, sizeof text,
                   "schema: 2\nname: gavel\ncluster:\n  nodes:\n"
                   "    - {name: v, count: 9, cpus: 32, gpus: {v100m16: 4}}\n"
                   "    - {name: p, count: 9, cpus: 32, gpus: {p100: 4}}\n"
                   "    - {name: k, count: 9, cpus: 32, gpus: {k80: 4}}\n"
                   "sched: {placement: first_fit, explain: off, queueing: {policy: gavel, goal: "
                   "fifo, whole_steps: true}}\n"
                   "jobs:\n  - {name: w, trace: %s, format: table, columns: %s, profiles: %s, "
                   "measured_on: v100m16, preemption: all, estimate: 1, count: 6000}\n",
                   test_shared("traces/gavel/continuous_single_seed0.csv.gz"), map, profiles);
    const struct sim_observer observer = { .state = seen, .job = see };
    struct sim_scenario *scenario = test_scenario(text, "");
    if (CHECK(scenario != NULL))
        free(test_run_fast(scenario, 0, &observer));
    sim_scenario_destroy(scenario);
    (void)unlink(map);
}

static void completion_times_are_those_of_the_published_simulator(void)
{
    static const double known[][2] = { { 4.0, 62392.457 }, { 2.0, 56364.369 }, { 0.4, 55827.147 } };
    char profiles[] = "/tmp/weir_gavel_profiles_XXXXXX";
    if (!test_may_be_slow())
        return;
    if (!write_profiles(profiles)) {
        test_skip("the shared traces are not here");
        return;
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct seen seen = { 0, 0 };
        run(known[i][0], profiles, &seen);
        CHECK_I64(seen.count, TO - FROM);
        if (!CHECK_NEAR(seen.sum_s / (double)seen.count, known[i][1], 1e-3))
            printf("%g jobs an hour\n", known[i][0]);
    }
    (void)unlink(profiles);
}

static const struct test tests[] = {
    { "completion times are those of the published simulator",
      completion_times_are_those_of_the_published_simulator },
};
TEST_MAIN(tests)
