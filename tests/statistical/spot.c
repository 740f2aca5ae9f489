/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Spot nodes: how often they are taken back against the hazard that they lived under, and what a
 * job on one costs in the mean. Within 4 standard errors (false alarm 6e-5; seeds are fixed).
 */
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Twenty nodes that are asked for again as soon as they are gone, for forty days. */
static struct sim_run_summary *lose(const char *spot, uint32_t replication)
{
    char text[1500];
    (void)snprintf(text, sizeof(text),
                   "schema: 2\nname: t\nhorizon: 960 h\nmetrics: {sample: 96 h}\n"
                   "cluster:\n  nodes: [{name: n, count: 20, cpus: 8, gpus: {h100: 1},\n"
                   "    supply: {max: 20, boot: const(5 min), spot: {%s}}}]\n"
                   "sched: {capacity: {policy: threshold, t_up: 0 s, step: 10, step_most: 20, "
                   "cooldown_out: 0 s, interval: 1 h}}\n"
                   "jobs: [{name: w, classes: [{name: a, count: 40, run_time: 99999 h, "
                   "request: {gpus: 1}}]}]\n",
                   spot);
    struct sim_scenario *scenario = test_scenario(text, NULL);
    struct sim_run_summary *summary =
        scenario == NULL ? test_summary() : test_run_fast(scenario, replication, NULL);
    sim_scenario_destroy(scenario);
    return summary;
}

/* Losses less the hazard of all nodes together have the mean 0 and that hazard as variance, however
 * the price went. covers: S1.108 */
static void losses_follow_the_integral_of_the_hazard(void)
{
    static const char *const spots[] = {
        "hazard: 0.05/h", "hazard: 0.02/h, volatility: 0.8, pressure: 1.5, step: 30 min",
        "hazard: 0.05/h, volatility: 1, pressure: 1, correlation: 0.99"
    };
    for (size_t i = 0; i < sizeof spots / sizeof spots[0]; i++) {
        double losses = 0;
        double expected = 0;
        for (uint32_t r = 0; r < 4; r++) {
            struct sim_run_summary *summary = lose(spots[i], r);
            losses += test_value(summary, "spot.losses", "");
            expected += test_value(summary, "spot.expected", "");
            free(summary);
        }
        CHECK(expected > 1000);
        CHECK_NEAR(losses, expected, 4 * sqrt(expected));
        if (i == 0) /* 20 nodes, 960 h, but for boots */
            CHECK_NEAR(expected, 4 * 20 * 960 * 0.05, 100);
    }
}

/* The mean hazard is that of a lognormal price to the power of the pressure. */
static void prices_wander_about_their_mean(void)
{
    double expected = 0;
    for (uint32_t r = 0; r < 4; r++) {
        struct sim_run_summary *summary =
            lose("hazard: 0.05/h, volatility: 0.5, pressure: 2, correlation: 0", r);
        expected += test_value(summary, "spot.expected", "");
        free(summary);
    }
    /* exp(s^2 / 2) for s = 2 x 0.5; 5760 steps a run, cv of a step sqrt(e - 1) */
    const double mean = 4 * 20 * 960 * 0.05 * exp(0.5);
    CHECK_NEAR(expected, mean, mean * (4 * sqrt((exp(1) - 1) / (4 * 5760)) + 0.02));
}

/* A job of 10 h at 3 an hour on a spot node that is taken away with probability 0.1 in that time;
 * then it goes on elsewhere after a restart that costs 50: in the mean 30 + 0.1 x 50 = 35. */
/* covers: S1.110 */
static void a_job_on_spot_costs_what_it_pays_and_what_losses_cost(void)
{
    enum { RUNS = 4000 };
    static const char text[] =
        "schema: 2\nname: t\nmetrics: {sample: 100 h}\n"
        "catalog: {gpu_types: {h100: {price: 3}}}\nprices: {}\n"
        "cluster:\n  nodes:\n"
        "    - {name: spot, count: 1, cpus: 8, gpus: {h100: 1}, supply: {max: 1, spot: "
        "0.0105360516/h}}\n"
        "    - {name: steady, count: 1, cpus: 8, gpus: {h100: 1}}\n"
        "sched: {placement: first_fit}\n"
        "jobs:\n  - name: w\n    checkpoint: {interval: 10 s, cost: 0 s, restart: 1000 min}\n"
        "    classes: [{name: a, count: 1, run_time: 10 h, request: {gpus: 1}}]\n";
    struct sim_scenario *scenario = test_scenario(text, NULL);
    double sum = 0;
    double squares = 0;
    for (uint32_t r = 0; scenario != NULL && r < RUNS; r++) {
        struct sim_run_summary *summary = test_run_fast(scenario, r, NULL);
        const double cost = test_value(summary, "cost.total", "");
        CHECK(fabs(cost - 30) < 0.02 || fabs(cost - 80) < 0.02);
        sum += cost;
        squares += cost * cost;
        free(summary);
    }
    const double mean = sum / RUNS;
    const double error = sqrt((squares / RUNS - mean * mean) / RUNS);
    CHECK(error > 0.1 && error < 0.4);
    CHECK_NEAR(mean, 35, 4 * error);
    sim_scenario_destroy(scenario);
}

static const struct test tests[] = {
    { "losses follow the integral of the hazard", losses_follow_the_integral_of_the_hazard },
    { "prices wander about their mean", prices_wander_about_their_mean },
    { "a job on spot costs what it pays and what losses cost",
      a_job_on_spot_costs_what_it_pays_and_what_losses_cost },
};
TEST_MAIN(tests)
