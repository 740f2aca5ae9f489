/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Random job scenarios in the product and in the oracle (tests/support/job_oracle): every job has
 * the same submission, start, end, outcome, attempts, and the same devices, to the nanosecond.
 *
 * WEIR_SLOW=1 runs ten times as many. WEIR_SEED=N runs that one alone and prints it.
 */
#include "tests/support/check.h"
#include "tests/support/job_oracle/oracle.h"
#include "tests/support/job_scenarios.h"
#include "tests/support/runs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { QUICK = 500, ALL = 10000, TEXT = 512 };

/* What happened over all scenarios: a comparison of nothing would pass. */
struct seen {
    uint64_t jobs, done, refused, left, waiting, running, again, gangs, failed_runs;
};

static void count(struct seen *seen, const struct test_job_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        const struct test_job_row *row = &rows->rows[i];
        seen->jobs++;
        seen->done += strcmp(row->outcome, "done") == 0 ? 1 : 0;
        seen->refused += strcmp(row->outcome, "refused") == 0 ? 1 : 0;
        seen->left += strcmp(row->outcome, "left") == 0 ? 1 : 0;
        seen->waiting += strcmp(row->outcome, "waiting") == 0 ? 1 : 0;
        seen->running += strcmp(row->outcome, "running") == 0 ? 1 : 0;
        seen->again += row->attempts > 1 ? 1 : 0;
        seen->gangs += row->members > 1 && row->attempts > 0 ? 1 : 0;
    }
}

static void compare(uint64_t seed, const struct sim_scenario *scenario, struct seen *seen)
{
    struct test_job_rows product = { .rows = NULL };
    struct test_job_rows oracle = { .rows = NULL };
    struct sim_run_summary *summary = test_summary();
    struct weir_error error = { .phase = -1 };
    char text[TEXT] = "";
    const weir_status expected = oracle_jobs_run(scenario, &oracle, &error);
    const weir_status actual = test_job_rows_run(scenario, false, &product, summary);
    CHECK_I64(actual, expected);
    if (actual != WEIR_OK || expected != WEIR_OK)
        printf("seed %" PRIu64 ": %s; oracle: %s\n", seed, summary->message, error.text);
    seen->failed_runs += expected == WEIR_OK ? 0 : 1;
    if (test_job_rows_differ(&product, &oracle, text, sizeof text)) {
        printf("WEIR_SEED=%" PRIu64 ": %s\n", seed, text);
        CHECK_STR(text, "");
    }
    count(seen, &oracle);
    test_job_rows_clear(&product);
    test_job_rows_clear(&oracle);
    free(summary);
}

static void run_seed(uint64_t seed, struct seen *seen)
{
    char trace[] = "/tmp/weir-trace-XXXXXX";
    const int file = mkstemp(trace);
    CHECK(file >= 0);
    if (file < 0)
        return;
    (void)close(file);
    char *text = test_job_scenario(seed, trace);
    struct sim_scenario *scenario = test_scenario(text, NULL);
    if (getenv("WEIR_SEED") != NULL)
        printf("%s", text);
    CHECK(scenario != NULL);
    if (scenario == NULL)
        printf("seed %" PRIu64 ":\n%s\n", seed, text);
    else
        compare(seed, scenario, seen);
    sim_scenario_destroy(scenario);
    (void)unlink(trace);
    free(text);
}

static void every_job_is_as_the_oracle_has_it(void)
{
    struct seen seen = { .jobs = 0 };
    const char *only = getenv("WEIR_SEED");
    const uint64_t last = getenv("WEIR_SLOW") != NULL ? ALL : QUICK;
    if (only != NULL) {
        run_seed(strtoull(only, NULL, 10), &seen);
        return;
    }
    for (uint64_t seed = 1; seed <= last; seed++)
        run_seed(seed, &seen);
    printf("%" PRIu64 " jobs: %" PRIu64 " done, %" PRIu64 " refused, %" PRIu64 " left, %" PRIu64
           " waiting, %" PRIu64 " running; %" PRIu64 " began anew, %" PRIu64
           " of several members\n",
           seen.jobs, seen.done, seen.refused, seen.left, seen.waiting, seen.running, seen.again,
           seen.gangs);
    CHECK_I64(seen.failed_runs, 0);
    CHECK(seen.jobs > 50 * last && seen.done > 20 * last && seen.refused > last);
    CHECK(seen.left > last && seen.again > last / 4 && seen.gangs > 5 * last);
    CHECK(seen.waiting > 0 && seen.running > 0);
}

static const struct test tests[] = {
    { "every job is as the oracle has it", every_job_is_as_the_oracle_has_it },
};
TEST_MAIN(tests)
