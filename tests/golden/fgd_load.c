/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * openb jobs at random on 76 nodes that they fill to 90 % of the GPUs, as a loss system
 * (scenarios/reference/openb_load.yaml): GPUs held and fragmented, against what an independent
 * program found for the same policies. That program drew other arrivals, so means must agree within
 * 4 standard errors of both, at least 2 points. Skipped where the trace is not at hand.
 */
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { REPLICATIONS = 3 };

struct published {
    const char *sched;
    double held, held_sd, fragmented; /* % of the GPUs */
};

#define SHUFFLED(policy) "sched.placement=" policy " sched.placement.order_seed=1"
static const struct published published[] = {
    { SHUFFLED("fgd"), 83.7, 1.1, 5.5 },
    { SHUFFLED("first_fit") " sched.placement.device=tightest", 83.1, 0.9, 6.9 },
    { SHUFFLED("best_fit") " sched.placement.measure=amounts", 83.5, 0.8, 7.0 },
    { SHUFFLED("gpu_packing"), 82.5, 0.7, 6.8 },
    { SHUFFLED("dot_product"), 81.2, 0.3, 10.5 },
    { "sched.placement=random", 70.7, 1.4, 13.3 },
};
enum { POLICIES = sizeof published / sizeof published[0] };

static void check_mean(const double *values, double exact, double deviation)
{
    const double mean = gsl_stats_mean(values, 1, REPLICATIONS);
    const double own = gsl_stats_sd(values, 1, REPLICATIONS);
    const double error = sqrt((own * own + deviation * deviation) / REPLICATIONS);
    CHECK_NEAR(mean, exact, fmax(4 * error, 2));
}

static void check_policy(const char *files, const struct published *expected)
{
    double held[REPLICATIONS];
    double fragmented[REPLICATIONS];
    char sets[4096];
    (void)snprintf(sets, sizeof sets, "%s %s", files, expected->sched);
    struct sim_scenario *scenario = test_scenario("scenarios/reference/openb_load.yaml", sets);
    CHECK(scenario != NULL);
    for (uint32_t r = 0; r < REPLICATIONS && scenario != NULL; r++) {
        struct sim_run_summary *summary = test_run_fast(scenario, r, NULL);
        held[r] = 100 * sim_run_value(summary, "util.gpu.assigned", "");
        fragmented[r] = sim_run_value(summary, "frag.gpu_pct", "");
        free(summary);
    }
    if (scenario != NULL) {
        check_mean(held, expected->held, expected->held_sd);
        check_mean(fragmented, expected->fragmented, 0);
    }
    sim_scenario_destroy(scenario);
}

/* covers: S1.14 */
static void policies_under_load_hold_what_another_program_found(void)
{
    char files[2048];
    const char *found = test_shared("traces/openb/openb_node_list_gpu_node.csv");
    const int length =
        found == NULL ? -1 : snprintf(files, sizeof files, "cluster.nodes_file=%s", found);
    found = test_shared("traces/openb/openb_pod_list_default.csv.gz");
    if (length < 0 || found == NULL) {
        test_skip("the openb trace is not there");
        return;
    }
    (void)snprintf(files + length, sizeof files - (size_t)length, " jobs[0].trace=%s", found);
    /* fgd and random always, the others when there is time. */
    for (size_t i = 0; i < POLICIES; i++)
        if (i == 0 || i == POLICIES - 1 || getenv("WEIR_SLOW") != NULL)
            check_policy(files, &published[i]);
}

static const struct test tests[] = {
    { "policies_under_load_hold_what_another_program_found",
      policies_under_load_hold_what_another_program_found },
};
TEST_MAIN(tests)
