/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What became of every job, as one hash a scenario: (workload, job, submit, start, end, outcome,
 * attempts, node of each member). It stays when the inside of the simulator is rebuilt, as long as
 * the random streams and the decisions are the same.
 *
 * tests/golden/fingerprints.txt: name, rows, hash, result digest. After an intended change of
 * behaviour: WEIR_UPDATE_GOLDEN=1 (and say why in the commit).
 */
#include "tests/support/check.h"
#include "tests/support/job_rows.h"
#include "tests/support/runs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 2048, LINES = 32 };

static const char *const own[] = { "time", "gangs", "groups", "mig", "faults", "patience" };

static const struct {
    const char *name, *node, *nodes, *workload, *trace, *policy;
} traces[] = {
    { "hpc2n", "{cpus: 240, ram: 100 TiB}", "1", "kind: swf", "traces/hpc/hpc2n_alea_subset.swf",
      "first_fit" },
    { "tiresias", "{cpus: 8, ram: 1 TiB, gpus: {h100: 8}}", "1", "kind: table, map: tiresias",
      "traces/tiresias/60_job.csv", "first_fit" },
    { "philly", "{cpus: 8, ram: 1 TiB, gpus: {h100: 8}}", "32",
      "kind: table, map: philly, jobs: 5000", "traces/philly/philly_jobs_sia.csv.gz", "first_fit" },
    { "philly_all", "{cpus: 8, ram: 1 TiB, gpus: {h100: 1}}", "512", "kind: table, map: philly",
      "traces/philly/philly_jobs_sia.csv.gz", "fcfs" },
};

/* ---- the kept file ---- */

struct kept {
    char lines[LINES][TEXT];
    size_t count;
};

static bool is_update(void)
{
    return getenv("WEIR_UPDATE_GOLDEN") != NULL;
}

static void read_kept(struct kept *kept)
{
    FILE *file = fopen(test_data("golden/fingerprints.txt"), "r");
    while (file != NULL && kept->count < LINES &&
           fgets(kept->lines[kept->count], TEXT, file) != NULL) {
        char *line = kept->lines[kept->count++];
        line[strcspn(line, "\n")] = '\0';
    }
    if (file != NULL)
        (void)fclose(file);
}

/* The line of this name, NULL = there is none. */
static char *find_line(struct kept *kept, const char *name)
{
    const size_t length = strlen(name);
    for (size_t i = 0; i < kept->count; i++)
        if (strncmp(kept->lines[i], name, length) == 0 && kept->lines[i][length] == ' ')
            return kept->lines[i];
    return NULL;
}

static void write_kept(const struct kept *kept)
{
    FILE *file = fopen(test_data("golden/fingerprints.txt"), "w");
    CHECK(file != NULL);
    for (size_t i = 0; i < kept->count && file != NULL; i++)
        (void)fprintf(file, "%s\n", kept->lines[i]);
    if (file != NULL)
        (void)fclose(file);
}

static void compare(const char *name, const char *line)
{
    struct kept *kept = calloc(1, sizeof *kept);
    CHECK(kept != NULL);
    if (kept == NULL)
        return;
    read_kept(kept);
    char *place = find_line(kept, name);
    if (!is_update()) {
        CHECK_STR(line, place == NULL ? "" : place);
    } else {
        if (place == NULL && kept->count < LINES)
            place = kept->lines[kept->count++];
        CHECK(place != NULL);
        if (place != NULL)
            (void)snprintf(place, TEXT, "%s", line);
        write_kept(kept);
    }
    free(kept);
}

/* ---- running ---- */

static void run_and_compare(const char *name, struct sim_scenario *scenario)
{
    struct test_job_rows rows = { .rows = NULL };
    struct sim_run_summary *summary = test_summary();
    char line[TEXT];
    CHECK(scenario != NULL && summary != NULL);
    if (scenario != NULL && summary != NULL) {
        CHECK_I64(test_job_rows_run(scenario, false, &rows, summary), WEIR_OK);
        CHECK_STR(summary->message, "");
        (void)snprintf(line, sizeof line, "%s %zu %016" PRIx64 " %016" PRIx64, name, rows.count,
                       test_job_rows_hash(&rows, scenario->workloads[0].name), rows.result_digest);
        compare(name, line);
    }
    test_job_rows_clear(&rows);
    free(summary);
    sim_scenario_destroy(scenario);
}

static void jobs_of_scenarios_have_their_fingerprints(void)
{
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        char path[128];
        (void)snprintf(path, sizeof path, "tests/golden/fingerprints/%s.yaml", own[i]);
        run_and_compare(own[i], test_scenario(path, NULL));
    }
}

static void jobs_of_traces_have_their_fingerprints(void)
{
    for (size_t i = 0; i < sizeof traces / sizeof traces[0]; i++) {
        char text[TEXT];
        const char *path = test_shared(traces[i].trace);
        if (path == NULL) {
            test_skip("the shared traces are not here");
            return;
        }
        (void)snprintf(text, sizeof text,
                       "schema: 1\nname: x\ncatalog: {node_types: {n: %s}}\ncluster: {nodes: "
                       "[{type: n, count: %s}]}\nsched: {placement: first_fit, queueing: %s}\n"
                       "workloads: [{name: w, mode: time, %s, file: %s}]\n",
                       traces[i].node, traces[i].nodes, traces[i].policy, traces[i].workload, path);
        run_and_compare(traces[i].name, test_scenario(text, ""));
    }
}

static const struct test tests[] = {
    { "the jobs of scenarios have their fingerprints", jobs_of_scenarios_have_their_fingerprints },
    { "the jobs of traces have their fingerprints", jobs_of_traces_have_their_fingerprints },
};
TEST_MAIN(tests)
