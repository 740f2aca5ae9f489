/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Indices of how evenly something is divided, by hand. */
#include "sim/record/meter/meter_tenants.h"
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <math.h>
#include <stdlib.h>

/* covers: S1.135 */
static void jains_index_is_one_when_all_have_the_same(void)
{
    CHECK_NEAR(sim_jain_index((const double[]){ 1, 2, 3, 4 }, 4), 0.833333, 1e-6);
    CHECK_NEAR(sim_jain_index((const double[]){ 1, 2, 3 }, 3), 0.857143, 1e-6);
    CHECK_NEAR(sim_jain_index((const double[]){ 1, 0, 0, 0 }, 4), 0.25, 1e-12);
    CHECK_NEAR(sim_jain_index((const double[]){ 7, 7, 7 }, 3), 1, 1e-12);
    CHECK(isnan(sim_jain_index((const double[]){ 0, 0 }, 2)));
}

/* covers: S1.136 */
static void the_balance_is_the_least_load_over_the_most(void)
{
    CHECK_NEAR(sim_balance_index((const double[]){ 80, 60, 40 }, 3), 0.5, 1e-12);
    CHECK_NEAR(sim_balance_index((const double[]){ 0, 0 }, 2), 1, 1e-12);
    CHECK_NEAR(sim_balance_index((const double[]){ 5, 0 }, 2), 0, 1e-12);
    CHECK(isnan(sim_balance_index(NULL, 0)));
}

/* Of two GPUs each has one, or 1.5 and 0.5. Both of `first` run at once: alone the second would
 * have ended at 200 s, or at 133 1/3 s. The one of `second` ends 150 s after it came, alone it
 * takes 100, or 200. */
static void finish_times_are_held_against_an_own_part(void)
{
    static const char *const text =
        "schema: 2\nname: t\ncluster: {nodes: [{name: n, cpus: 8, gpus: {h100: 2}}]}\n"
        "tenants: [{name: first}, {name: second}]\njobs:\n  - name: w\n    run_time: 100 s\n"
        "    classes:\n"
        "      - {name: a, tenant: first, count: 2, at: 0 s, request: {gpus: 1}}\n"
        "      - {name: b, tenant: second, count: 1, at: 50 s, request: {gpus: 1}}\n";
    struct sim_run_summary *summary = test_run_text(text, NULL);
    CHECK_NEAR(test_value(summary, "fair.ftf.mean", "first"), 0.75, 1e-9);
    CHECK_NEAR(test_value(summary, "fair.ftf.max", "first"), 1, 1e-9);
    CHECK_NEAR(test_value(summary, "fair.ftf.mean", "second"), 1.5, 1e-9);
    CHECK_NEAR(test_value(summary, "fair.ftf.mean", ""), 1, 1e-9);
    CHECK_NEAR(test_value(summary, "fair.ftf.p95", ""), 1.5, 1e-9);
    free(summary);
    summary = test_run_text(text, "tenants.first.weight=3");
    CHECK_NEAR(test_value(summary, "fair.ftf.mean", "first"), 0.875, 1e-9);
    CHECK_NEAR(test_value(summary, "fair.ftf.mean", "second"), 0.75, 1e-9);
    free(summary);
}

/* The classic example of DRF (Ghodsi et al., NSDI 2011): 9 CPUs and 18 GB, tasks of <1, 4> and of
 * <3, 1>. DRF starts 3 and 2 of them, and with weight 2 the first has 4 and the other 1; so it is,
 * too, where all of the first come first. */
static void dominant_shares_lie_apart_as_the_policy_divides(void)
{
    static const char *const text =
        "schema: 2\nname: t\nhorizon: 100 s\nsched: {queueing: drf}\n"
        "cluster: {nodes: [{name: n, cpus: 9, ram: 18 GB}]}\n"
        "tenants: [{name: a}, {name: b}]\njobs:\n  - name: w\n    run_time: 1000 s\n"
        "    classes:\n"
        "      - {name: a, tenant: a, count: 9, at: 0 s, request: {cpus: 1, ram: 4 GB}}\n"
        "      - {name: b, tenant: b, count: 9, at: 0 s, request: {cpus: 3, ram: 1 GB}}\n";
    static const struct {
        const char *set;
        double gap;
    } cases[] = { { NULL, 0 },
                  { "tenants.a.weight=2", 16.0 / 18 / 2 - 3.0 / 9 },
                  { "sched.queueing=first_fit", 16.0 / 18 - 3.0 / 9 } };
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        struct sim_run_summary *summary = test_run_text(text, cases[c].set);
        CHECK_NEAR(test_value(summary, "fair.dominant_gap", ""), cases[c].gap, 1e-9);
        free(summary);
    }
}

static const struct test tests[] = {
    { "dominant shares lie apart as the policy divides",
      dominant_shares_lie_apart_as_the_policy_divides },
    { "finish times are held against an own part", finish_times_are_held_against_an_own_part },
    { "Jain's index is one when all have the same", jains_index_is_one_when_all_have_the_same },
    { "the balance is the least load over the most", the_balance_is_the_least_load_over_the_most },
};
TEST_MAIN(tests)
