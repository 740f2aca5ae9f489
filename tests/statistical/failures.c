/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How often things fail: counts of many replications against their rates, within 4 standard errors
 * (false alarm 6e-5 a count; seeds are fixed). A repair takes a second, so counts are Poisson.
 */
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static struct sim_scenario *load(const char *failures, const char *nodes, const char *horizon)
{
    char text[2000];
    (void)snprintf(text, sizeof(text),
                   "schema: 2\nname: t\nhorizon: %s\nmetrics: {sample: %s}\n"
                   "cluster:\n  failures: %s\n"
                   "  nodes: [{name: n, count: %s, cpus: 8, gpus: {h100: 8}}]\n"
                   "jobs: [{name: w, classes: [{name: a, count: 1, run_time: 99999 h, "
                   "request: {gpus: 1}}]}]\n",
                   horizon, horizon, failures, nodes);
    struct sim_scenario *scenario = test_scenario(text, NULL);
    CHECK(scenario != NULL);
    return scenario;
}

/* Sum of a count over replications. */
static double count(const struct sim_scenario *scenario, const char *kind, uint32_t replications)
{
    double sum = 0;
    for (uint32_t r = 0; scenario != NULL && r < replications; r++) {
        struct sim_run_summary *summary = test_run_fast(scenario, r, NULL);
        CHECK_I64(summary->status, WEIR_OK);
        sum += test_value(summary, "failures", kind);
        free(summary);
    }
    return sum;
}

static void check_count(double got, double expected)
{
    CHECK_NEAR(got, expected, 4 * sqrt(expected));
}

static void every_kind_fails_at_its_rate(void)
{
    static const struct {
        const char *kind, *law;
        double entities;
    } kinds[] = { { "node", "{node_between: exp(100 h), node_repair: const(1 s)}", 6 },
                  { "gpu", "{gpu_between: exp(100 h), gpu_repair: const(1 s)}", 48 },
                  { "switch",
                    "{switch_between: exp(100 h), switch_repair: const(1 s), "
                    "switch_nodes: 3}",
                    2 },
                  { "rack", "{rack_between: exp(100 h), rack_repair: const(1 s)}", 2 },
                  { "gpu_straggler", "{gpu_slow_between: exp(100 h), gpu_slow_for: const(1 s)}",
                    48 },
                  { "straggler", "{slow_between: exp(100 h), slow_for: const(1 s)}", 6 } };
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        struct sim_scenario *scenario = load(kinds[k].law, "6", "1000 h");
        check_count(count(scenario, kinds[k].kind, 20), 20 * kinds[k].entities * 1000 / 100);
        sim_scenario_destroy(scenario);
    }
}

/* A cluster of 16 384 GPUs for 54 days: of the 419 interruptions of Llama 3 the 268 of GPUs are
 * expected; nodes fail every 63 105 h, racks of four every five years. */
static void default_rates_are_those_of_the_sources(void)
{
    struct sim_scenario *scenario = load("default", "2048", "1296 h");
    check_count(count(scenario, "gpu", 4), 4 * 268);
    check_count(count(scenario, "node", 4), 4 * 2048 * 1296 / 63105.0);
    check_count(count(scenario, "rack", 4), 4 * 512 * 1296 / 43830.0);
    sim_scenario_destroy(scenario);
}

static const struct test tests[] = {
    { "every kind fails at its rate", every_kind_fails_at_its_rate },
    { "default rates are those of the sources", default_rates_are_those_of_the_sources },
};
TEST_MAIN(tests)
