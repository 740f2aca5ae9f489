/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One server whose queue is not in the order of arrival, against closed forms: shortest remaining
 * time, shortest job, and two classes of priority with and without pre-emption. Replications with
 * fixed seeds; a mean is wrong when it is off by more than 4 standard errors and 0.3 %.
 */
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <gsl/gsl_statistics_double.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { REPLICATIONS = 10, TEXT = 1024 };

struct model {
    const char *queueing, *classes;
    double rate;
    const char *metric, *label;
    double exact;
};

static void check_model(const struct model *model)
{
    char text[TEXT];
    double values[REPLICATIONS];
    (void)snprintf(text, sizeof text,
                   "schema: 2\nname: q\nhorizon: 20000 s\nwarmup: 200 s\n"
                   "cluster: {nodes: [{name: n, cpus: 1}]}\n"
                   "sched: {placement: first_fit, queueing: %s}\njobs:\n  - name: w\n"
                   "    arrivals: {rate: %g/s}\n    run_time: exp(1 s)\n    estimate: 1\n"
                   "    preemption: all\n    classes:\n%s",
                   model->queueing, model->rate, model->classes);
    struct sim_scenario *scenario = test_scenario(text, NULL);
    for (uint32_t r = 0; r < REPLICATIONS && scenario != NULL; r++) {
        struct sim_run_summary *summary = test_run_fast(scenario, r, NULL);
        values[r] = test_value(summary, model->metric, model->label);
        free(summary);
    }
    if (!CHECK(scenario != NULL))
        return;
    const double mean = gsl_stats_mean(values, 1, REPLICATIONS);
    const double error = gsl_stats_sd(values, 1, REPLICATIONS) / sqrt(REPLICATIONS);
    if (!CHECK_NEAR(mean, model->exact, fmax(4 * error, 0.003 * model->exact)))
        printf("%s: %.6g, standard error %.2g\n", model->queueing, mean, error);
    sim_scenario_destroy(scenario);
}

static const char one[] = "      - {name: a, request: {cpus: 1}}\n";
static const char two[] = "      - {name: a, weight: 3, priority: 1, request: {cpus: 1}}\n"
                          "      - {name: b, weight: 4, request: {cpus: 1}}\n";

/* Schrage and Miller. */
static void the_shortest_remaining_time_goes_first(void)
{
    check_model(&(struct model){ "srtf", one, 0.8, "jct.mean", "", 2.352773270299722 });
}

/* Phipps. */
static void the_shortest_job_goes_first(void)
{
    check_model(&(struct model){ "sjf", one, 0.9, "jct.mean", "", 4.196912589664111 });
}

/* Cobham. */
static void the_urgent_wait_for_one_at_most(void)
{
    check_model(&(struct model){ "priority", two, 0.7, "wait.job.mean", "a", 1.0 });
}

/* Whatever is gained is worth it: the urgent see only each other. */
static void the_urgent_do_not_wait_for_others(void)
{
    check_model(&(struct model){ "{policy: benefit, scale: 1e9}", two, 0.7, "jct.mean", "a",
                                 1.4285714285714286 });
}

static const struct test tests[] = {
    { "the shortest remaining time goes first", the_shortest_remaining_time_goes_first },
    { "the shortest job goes first", the_shortest_job_goes_first },
    { "the urgent wait for one at most", the_urgent_wait_for_one_at_most },
    { "the urgent do not wait for others", the_urgent_do_not_wait_for_others },
};
TEST_MAIN(tests)
