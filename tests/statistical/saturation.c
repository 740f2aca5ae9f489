/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * 64 nodes of 8 GPUs filled with the mix of the FGD evaluation until 130 % are asked for: what
 * stays unallocated under FGD and under the other policies, seed by seed.
 */
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <stdio.h>
#include <stdlib.h>

enum { SEEDS = 10 };

static void unallocated(const char *policy, double values[SEEDS])
{
    char sets[512];
    (void)snprintf(sets, sizeof sets,
                   "cluster.nodes=[{\"name\":\"n\",\"count\":64,\"cpus\":96,\"ram\":\"384GiB\","
                   "\"gpus\":{\"g2\":8}}] sched.placement=%s",
                   policy);
    struct sim_scenario *scenario = test_scenario("scenarios/reference/openb_like.yaml", sets);
    CHECK(scenario != NULL);
    for (uint32_t r = 0; r < SEEDS && scenario != NULL; r++) {
        struct sim_run_summary *summary = test_run_fast(scenario, r, NULL);
        values[r] = 100 - test_value(summary, "alloc.gpu_pct", "");
        free(summary);
    }
    sim_scenario_destroy(scenario);
}

/* covers: S0.8 */
static void fgd_leaves_least_unallocated(void)
{
    static const char *const others[] = { "best_fit", "gpu_packing", "random" };
    double fgd[SEEDS] = { 0 };
    unallocated("fgd", fgd);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        double other[SEEDS] = { 0 };
        int wins = 0;
        unallocated(others[i], other);
        for (int r = 0; r < SEEDS; r++)
            wins += fgd[r] <= other[r] ? 1 : 0;
        if (wins < 9)
            printf("%s: fgd leaves less in %d of %d seeds only\n", others[i], wins, SEEDS);
        CHECK(wins >= 9);
    }
}

static const struct test tests[] = { { "fgd_leaves_least_unallocated",
                                       fgd_leaves_least_unallocated } };
TEST_MAIN(tests)
