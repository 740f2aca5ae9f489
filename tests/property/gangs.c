/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What gangs reserve while they wait, against a queue that nobody may pass. Where every rank takes
 * one GPU, a gang that does not fit reserves all that is free: so jobs that may pass each other
 * (first_fit) start as those that may not (fcfs), each at the same time on the same devices,
 * whatever fails, leaves or comes again meanwhile.
 */
#include "tests/support/check.h"
#include "tests/support/job_rows.h"
#include "tests/support/runs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCENARIOS = 200, SLOW_SCENARIOS = 10000 };

static uint32_t roll(uint64_t *dice, uint32_t below)
{
    *dice = *dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((*dice >> 33) % below);
}

/* The caller frees. */
static char *scenario_of(uint64_t seed)
{
    static const char *const failures[] = {
        "", "  failures: {node_between: exp(10 min), node_repair: exp(1 min)}\n"
    };
    static const char *const patience[] = { "", ", patience: exp(2 min)" };
    uint64_t dice = seed;
    char *text = NULL;
    const uint32_t nodes = 1 + roll(&dice, 4);
    const uint32_t gpus = 1 + roll(&dice, 8);
    const uint32_t large = 2 + roll(&dice, nodes * gpus);
    const uint32_t small = 2 + roll(&dice, nodes * gpus);

    return asprintf(
               &text,
               "schema: 2\nname: gangs\nseed: %" PRIu64 "\nhorizon: 2 h\ncluster:\n"
               "  nodes: [{name: n, count: %u, cpus: 64, gpus: {l4: %u}}]\n%s"
               "sched: {placement: first_fit, queueing: first_fit}\njobs:\n  - name: w\n"
               "    count: 150\n    arrivals: {rate: %g}\n    run_time: exp(1 min)\n    classes:\n"
               "      - {name: one, weight: 5, request: {gpus: 1}}\n"
               "      - {name: small, members: %u, request: {gpus: 1}%s}\n"
               "      - {name: large, members: %u, request: {gpus: 1}}\n",
               seed, nodes, gpus, failures[roll(&dice, 3) == 0],
               0.002 * nodes * gpus * (1 + roll(&dice, 4)), small, patience[roll(&dice, 2)],
               large) < 0
               ? NULL
               : text;
}

static void run(const char *text, const char *sets, struct test_job_rows *rows, double *held)
{
    struct sim_scenario *const scenario = test_scenario(text, sets);
    struct sim_run_summary *const summary = test_summary();

    *rows = (struct test_job_rows){ .count = 0 };
    if (CHECK(scenario != NULL) &&
        !CHECK_I64(test_job_rows_run(scenario, true, rows, summary), WEIR_OK))
        printf("%s\n", summary->message);
    *held = test_value(summary, "gang.partial_holds", "");
    free(summary);
    sim_scenario_destroy(scenario);
}

/* covers: S1.17 */
static void gangs_that_reserve_are_not_passed(void)
{
    const uint64_t last = test_is_slow() ? SLOW_SCENARIOS : SCENARIOS;
    uint32_t passed = 0;
    uint32_t held = 0;

    for (uint64_t seed = 1; seed <= last; seed++) {
        char *const text = scenario_of(seed);
        struct test_job_rows strict, reserving, passing;
        double held_by[3];
        char difference[512];
        run(text, "sched.queueing=fcfs", &strict, &held_by[0]);
        run(text, "sched.hold_mode=reserve", &reserving, &held_by[1]);
        run(text, NULL, &passing, &held_by[2]);
        if (!CHECK(!test_job_rows_differ(&reserving, &strict, difference, sizeof difference)))
            printf("seed %" PRIu64 ": %s\n%s\n", seed, difference, text);
        passed += test_job_rows_differ(&passing, &strict, difference, sizeof difference);
        held += held_by[1] > 0;
        CHECK(!(held_by[0] > 0) && !(held_by[2] > 0));
        test_job_rows_clear(&strict);
        test_job_rows_clear(&reserving);
        test_job_rows_clear(&passing);
        free(text);
    }
    printf("%" PRIu64 " scenarios; gangs held something in %u, were passed in %u\n", last, held,
           passed);
    CHECK(held > last / 2 && passed > last / 2);
}

static const struct test tests[] = {
    { "gangs that reserve are not passed", gangs_that_reserve_are_not_passed },
};

TEST_MAIN(tests)
