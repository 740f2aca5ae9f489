/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Means over the replications of a variant: of those that have a value. */
#include "sim/cli/experiment.h"
#include "tests/support/check.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Two variants of three runs; the first and the third run of the second have the value. */
static const char rows[] =
    "CREATE TABLE result (run_id, metric, label, value);"
    "CREATE TABLE result_wall (run_id, metric, label, value);"
    "INSERT INTO result VALUES (1, 'm', '', 100), (2, 'm', '', 200), (3, 'm', '', 600),"
    "(4, 'm', '', 5), (5, 'm', 'x', 1000), (5, 'm', '', NULL), (6, 'm', '', 7);"
    "INSERT INTO result_wall VALUES (2, 'w', '', 3);";

static void a_mean_is_of_the_runs_that_have_a_value(void)
{
    char path[] = "/tmp/weir_results_XXXXXX";
    struct sim_experiment experiment = { .variant_count = 2, .replications = 3, .path = path };
    struct weir_error error = { .phase = -1 };
    sqlite3 *db = NULL;
    const int file = mkstemp(path);
    CHECK(file >= 0);
    (void)close(file);
    CHECK_I64(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_I64(sqlite3_exec(db, rows, NULL, NULL, NULL), SQLITE_OK);
    CHECK_I64(sqlite3_close(db), SQLITE_OK);
    CHECK_I64(sim_experiment_open_results(&experiment, &error), WEIR_OK);
    CHECK_NEAR(sim_experiment_mean(&experiment, 0, "m", ""), 300, 1e-12);
    CHECK_NEAR(sim_experiment_mean(&experiment, 1, "m", ""), 6, 1e-12);
    CHECK_NEAR(sim_experiment_mean(&experiment, 1, "m", "x"), 1000, 1e-12);
    CHECK_NEAR(sim_experiment_mean(&experiment, 0, "w", ""), 3, 1e-12);
    CHECK(isnan(sim_experiment_mean(&experiment, 1, "w", "")));
    sim_experiment_close_results(&experiment);
    (void)unlink(path);
}

static const struct test tests[] = {
    { "a mean is of the runs that have a value", a_mean_is_of_the_runs_that_have_a_value },
};
TEST_MAIN(tests)
