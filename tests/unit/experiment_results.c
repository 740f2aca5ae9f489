/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs as their rows say, and means over the replications of a variant: of those with a value. */
#include "sim/cli/experiment/experiment.h"
#include "tests/support/check.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TABLES                                                                                     \
    "CREATE TABLE result (run_id, metric, label, value, is_lower_bound, n, censored);"             \
    "CREATE TABLE result_wall (run_id, metric, label, value);"

/* Two variants of three runs; the first and the third run of the second have the value. */
static const char rows[] = TABLES "INSERT INTO result VALUES (1, 'm', '', 100, 0, 9, 0), (2, 'm', "
                                  "'', 200, 0, 9, 0), (3, 'm', '', 600, 0, 9, 0),"
                                  "(4, 'm', '', 5, 0, 9, 0), (5, 'm', 'x', 1000, 0, 9, 0), (5, "
                                  "'m', '', NULL, 0, 9, 0), (6, 'm', '', 7, 0, 9, 0);"
                                  "INSERT INTO result_wall VALUES (2, 'w', '', 3);";

static struct sim_experiment open_rows(char *path, const char *sql)
{
    struct sim_experiment experiment = { .variant_count = 2, .replications = 3, .path = path };
    struct weir_error error = { .phase = -1 };
    sqlite3 *db = NULL;
    const int file = mkstemp(path);
    CHECK(file >= 0);
    (void)close(file);
    CHECK_I64(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_I64(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    CHECK_I64(sqlite3_close(db), SQLITE_OK);
    CHECK_I64(sim_experiment_open_results(&experiment, &error), WEIR_OK);
    return experiment;
}

static void a_mean_is_of_the_runs_that_have_a_value(void)
{
    char path[] = "/tmp/weir_results_XXXXXX";
    struct sim_experiment experiment = open_rows(path, rows);
    CHECK_NEAR(sim_experiment_mean(&experiment, 0, "m", ""), 300, 1e-12);
    CHECK_NEAR(sim_experiment_mean(&experiment, 1, "m", ""), 6, 1e-12);
    CHECK_NEAR(sim_experiment_mean(&experiment, 1, "m", "x"), 1000, 1e-12);
    CHECK_NEAR(sim_experiment_mean(&experiment, 0, "w", ""), 3, 1e-12);
    CHECK(isnan(sim_experiment_mean(&experiment, 1, "w", "")));
    sim_experiment_close_results(&experiment);
    free(experiment.trouble);
    (void)unlink(path);
}

/* A run that failed, one that is under way, two that are over; the last has no row of the clock. */
static const char runs[] = TABLES
    "CREATE TABLE run (run_id, status, message, variant_order, replication, seed, event_digest,"
    " result_digest, events, items_done, end_s);"
    "CREATE TABLE run_wall (run_id, wall_s, cpu_s, peak_rss_mib);"
    "INSERT INTO run VALUES (1, 'failed', 'why', 0, 0, 5, NULL, NULL, NULL, NULL, NULL),"
    "(2, 'running', '', 0, 1, 6, NULL, NULL, NULL, NULL, NULL),"
    "(4, 'complete', '', 1, 0, -1, '00000000000000ff', 'fedcba9876543210', 21, 22, 23.5),"
    "(5, 'ended early', 'nothing can happen', 1, 1, 7, '1', '2', 31, 32, 33.5);"
    "INSERT INTO run_wall VALUES (4, 1.5, 2.5, 3.5);"
    "INSERT INTO result VALUES (5, 'run.ended_early.at', '', 30.5, 0, 1, 0);";

/* Every field of a run is that of its row, and nobody else's. */
static void a_run_is_what_its_row_says(void)
{
    char path[] = "/tmp/weir_results_XXXXXX";
    struct sim_experiment experiment = open_rows(path, runs);
    struct sim_run_summary found = { .events = 99 };
    CHECK(!sim_experiment_summary(&experiment, 2, &found));
    CHECK(!sim_experiment_summary(&experiment, 5, &found));
    CHECK_I64(found.events, 99);
    CHECK(sim_experiment_summary(&experiment, 3, &found));
    CHECK_STR(found.outcome, "complete");
    CHECK_STR(found.message, "");
    CHECK_I64(found.variant_order, 1);
    CHECK_I64(found.replication, 0);
    CHECK(found.seed == UINT64_MAX && found.digest == 0xff);
    CHECK(found.result_digest == UINT64_C(0xfedcba9876543210));
    CHECK_I64(found.events, 21);
    CHECK_I64(found.items_done, 22);
    CHECK_NEAR(found.simulated_s, 23.5, 0);
    CHECK_NEAR(found.completion_s, 23.5, 0);
    CHECK_NEAR(found.wall_s, 1.5, 0);
    CHECK_NEAR(found.cpu_s, 2.5, 0);
    CHECK_NEAR(found.peak_rss_mib, 3.5, 0);
    CHECK(isnan(found.early_s));
    CHECK(sim_experiment_summary(&experiment, 4, &found));
    CHECK_STR(found.outcome, "ended early");
    CHECK_STR(found.message, "nothing can happen");
    CHECK_I64(found.replication, 1);
    CHECK_NEAR(found.early_s, 30.5, 0);
    CHECK(isnan(found.completion_s));
    CHECK(sim_experiment_summary(&experiment, 0, &found));
    CHECK_STR(found.message, "why");
    CHECK_I64(found.variant_order, 0);
    CHECK(found.digest == 0 && found.events == 0);
    CHECK(sim_experiment_has_failed(&experiment) && sim_experiment_has_results(&experiment));
    CHECK_I64(sim_experiment_first(&experiment), 3);
    sim_experiment_close_results(&experiment);
    free(experiment.trouble);
    (void)unlink(path);
}

static const struct test tests[] = {
    { "a mean is of the runs that have a value", a_mean_is_of_the_runs_that_have_a_value },
    { "a run is what its row says", a_run_is_what_its_row_says },
};
TEST_MAIN(tests)
