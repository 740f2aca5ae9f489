/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What failures cost with checkpoints: goodput of one endless job against the exact value for
 * exponential failures, and against the first-order rule of Young that everybody quotes.
 *
 * A stretch of work T with its checkpoint C, begun anew after each failure with a restart of R,
 * takes M e^(R/M) (e^((T+C)/M) - 1) on average (Daly 2006), so goodput is T over that. Young: T =
 * sqrt(2 C M), goodput 1 - C/T - (T/2 + R)/M. About 10 000 failures give a standard error below
 * 0.001.
 */
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double M = 11135; /* seconds between failures: Llama 3 405B on 16 384 GPUs */

static double goodput(double interval_s, double cost_s, double restart_s)
{
    char text[1000];
    (void)snprintf(text, sizeof(text),
                   "schema: 2\nname: t\nhorizon: 30000 h\nmetrics: {sample: 30000 h}\n"
                   "cluster:\n  nodes: [{name: n, cpus: 8, gpus: {h100: 8}}]\n"
                   "  failures: {node_between: exp(%g s), node_repair: const(0)}\n"
                   "jobs:\n  - name: w\n"
                   "    checkpoint: {interval: %.9g s, cost: %g s, restart: %g s}\n"
                   "    classes: [{name: a, count: 1, run_time: 99999 h, request: {gpus: 8}}]\n",
                   M, interval_s, cost_s, restart_s);
    struct sim_scenario *scenario = test_scenario(text, NULL);
    double value = (double)NAN;
    if (!CHECK(scenario != NULL))
        return value;
    struct sim_run_summary *summary = test_run_fast(scenario, 0, NULL);
    CHECK_I64(summary->status, WEIR_OK);
    value = test_value(summary, "goodput.frac", "");
    free(summary);
    sim_scenario_destroy(scenario);
    return value;
}

static double exact(double interval_s, double cost_s, double restart_s)
{
    return interval_s / (M * exp(restart_s / M) * (exp((interval_s + cost_s) / M) - 1));
}

static void goodput_is_that_of_exponential_failures(void)
{
    static const struct {
        double cost_s, restart_s, interval_s, young;
    } cases[] = { { 30, 600, 817, 0.873 },
                  { 5, 600, 334, 0.916 },
                  { 5, 120, 334, 0.959 },
                  { 60, 900, 1156, 0.815 } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const double interval_s = sqrt(2 * cases[i].cost_s * M);
        const double got = goodput(interval_s, cases[i].cost_s, cases[i].restart_s);
        CHECK_NEAR(interval_s, cases[i].interval_s, 0.6);
        CHECK_NEAR(1 - cases[i].cost_s / interval_s - (interval_s / 2 + cases[i].restart_s) / M,
                   cases[i].young, 6e-4);
        CHECK_NEAR(got, exact(interval_s, cases[i].cost_s, cases[i].restart_s), 0.004);
        CHECK_NEAR(got, cases[i].young, 0.02); /* of first order */
    }
}

/* Half and twice the best interval are worse, by more than chance (paired: the same failures). */
static void youngs_interval_is_about_the_best(void)
{
    const double best_s = sqrt(2 * 30 * M);
    const double best = goodput(best_s, 30, 600);
    CHECK(best > goodput(best_s / 2, 30, 600));
    CHECK(best > goodput(best_s * 2, 30, 600));
}

static const struct test tests[] = {
    { "goodput is that of exponential failures", goodput_is_that_of_exponential_failures },
    { "Young's interval is about the best", youngs_interval_is_about_the_best },
};
TEST_MAIN(tests)
