/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Laws that rest on so many measurements: every replication takes one mean of each, within what
 * they leave open, the same for all that is drawn from the law, whatever the policies. Next to a
 * run that knows its means nothing else differs, so the ratio of two ends is the factor itself.
 */
#include "sim/engine/law.h"
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPLICATIONS = 400 };

static const char work[] =
    "schema: 2\nname: t\ncluster: {nodes: [{name: n, count: 1, cpus: 4}]}\n"
    "sched: {placement: fgd, scaling: fixed}\n"
    "pipelines: [{name: p, input: {items: 20}, stages: [{name: a, cpus: 1, workers: 1,"
    " service: {law: %}}]}]\n";
static const char items[] =
    "schema: 2\nname: t\ncluster: {nodes: [{name: n, count: 1, cpus: 4}]}\n"
    "sched: {placement: fgd, scaling: fixed}\n"
    "pipelines: [{name: p, input: {items: 20, arrivals: {%}}, stages: [{name: a, cpus: 1,"
    " workers: 1, service: 1 us}]}]\n";
static const char jobs[] =
    "schema: 2\nname: t\ncluster: {nodes: [{name: n, count: 1, cpus: 1}]}\n"
    "sched: {placement: fgd, queueing: fcfs}\n"
    "jobs: [{name: w, classes: [{name: a, count: 20, run_time: %, request: {cpus: 1}}]}]\n";
static const char arriving[] =
    "schema: 2\nname: t\ncluster: {nodes: [{name: n, count: 1, cpus: 4}]}\n"
    "sched: {placement: fgd, queueing: fcfs}\n"
    "jobs: [{name: w, count: 20, run_time: 1 us, arrivals: {%},"
    " classes: [{name: a, request: {cpus: 1}}]}]\n";

/* When all is done, in each replication. */
static void ends(const char *text, const char *law, const char *measured, const char *sets,
                 double found[REPLICATIONS])
{
    char scenario_text[1000];
    const char *place = strchr(text, '%');
    (void)snprintf(scenario_text, sizeof scenario_text, "%.*s%s%s%s", (int)(place - text), text,
                   law, measured, place + 1);
    struct sim_scenario *scenario = test_scenario(scenario_text, sets);
    for (uint32_t r = 0; r < REPLICATIONS && CHECK(scenario != NULL); r++) {
        struct sim_run_summary *summary = test_run_fast(scenario, r, NULL);
        found[r] = summary->simulated_s;
        free(summary);
    }
    sim_scenario_destroy(scenario);
}

/* 400 factors: the mean within 4 standard errors, the variation within 4 of its own. */
static void check_factors(const char *text, const char *law, const char *measured, double cv)
{
    static double known[REPLICATIONS];
    static double open[REPLICATIONS];
    double sum = 0;
    double squares = 0;
    ends(text, law, "", NULL, known);
    ends(text, law, measured, NULL, open);
    for (int r = 0; r < REPLICATIONS; r++) {
        sum += open[r] / known[r];
        squares += open[r] / known[r] * (open[r] / known[r]);
    }
    const double mean = sum / REPLICATIONS;
    const double found = sqrt(squares / REPLICATIONS - mean * mean);
    CHECK_NEAR(mean, 1, 4 * cv / sqrt(REPLICATIONS));
    CHECK_NEAR(found, cv, 4 * cv / sqrt(2.0 * REPLICATIONS));
}

static void a_mean_varies_as_its_measurements_leave_it_open(void)
{
    check_factors(work, "exp(1 s)", ", measurements: 25", 0.2);
    check_factors(work, "'gamma(1 s, 0.5)'", ", measurements: 4", 0.25);
    check_factors(jobs, "exp(1 min)", ", measurements: 100", 0.1);
    check_factors(items, "process: poisson, rate: 1/s", ", measurements: 16", 0.25);
    check_factors(items, "process: renewal, gap: 'gamma(1 s, 2)'", ", measurements: 400", 0.1);
    check_factors(arriving, "process: hyperexponential, rate: 1/s, cv: 3", ", measurements: 900",
                  0.1);
}

/* One factor for all of a law: 20 times with it end when 20 times without it do, times it. */
static void all_of_a_law_have_the_same_mean(void)
{
    static double all[REPLICATIONS], all_open[REPLICATIONS];
    static double few[REPLICATIONS], few_open[REPLICATIONS];
    ends(jobs, "exp(1 min)", "", NULL, all);
    ends(jobs, "exp(1 min)", ", measurements: 4", NULL, all_open);
    ends(jobs, "exp(1 min)", "", "jobs[0].classes.a.count=3", few);
    ends(jobs, "exp(1 min)", ", measurements: 4", "jobs[0].classes.a.count=3", few_open);
    for (int r = 0; r < REPLICATIONS; r++)
        CHECK_NEAR(all_open[r] / all[r], few_open[r] / few[r], 1e-6);
}

/* 40 000 factors of a single measurement of variation 1: mean within 4 standard errors. */
static void a_factor_has_mean_1(void)
{
    enum { DRAWS = 40000 };
    const struct sim_random root = { .seed = 5 };
    double sum = 0;
    for (uint64_t i = 0; i < DRAWS; i++)
        sum += sim_mean_factor(1, 1, &root, (struct sim_stream_key){ .item = i });
    CHECK_NEAR(sum / DRAWS, 1, 4 / sqrt(DRAWS));
}

static void no_policy_moves_it(void)
{
    static double one[REPLICATIONS], other[REPLICATIONS];
    ends(jobs, "exp(1 min)", ", measurements: 9", NULL, one);
    ends(jobs, "exp(1 min)", ", measurements: 9", "sched.queueing=sjf sched.placement=best_fit",
         other);
    for (int r = 0; r < REPLICATIONS; r++)
        CHECK_NEAR(one[r], other[r], 1e-6 * one[r]);
}

static void what_does_not_vary_has_no_error(void)
{
    static double known[REPLICATIONS], open[REPLICATIONS];
    ends(work, "3 s", "", NULL, known);
    ends(work, "3 s", ", measurements: 2", NULL, open);
    for (int r = 0; r < REPLICATIONS; r++)
        CHECK_NEAR(open[r], known[r], 0);
}

static const struct test tests[] = {
    { "a mean varies as its measurements leave it open",
      a_mean_varies_as_its_measurements_leave_it_open },
    { "all of a law have the same mean", all_of_a_law_have_the_same_mean },
    { "a factor has mean 1", a_factor_has_mean_1 },
    { "no policy moves it", no_policy_moves_it },
    { "what does not vary has no error", what_does_not_vary_has_no_error },
};
TEST_MAIN(tests)
