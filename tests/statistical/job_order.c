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
    int more; /* servers beside the one */
};

static void check_model(const struct model *model)
{
    char text[TEXT];
    double values[REPLICATIONS];
    char arrivals[64] = "";
    if (model->rate > 0)
        (void)snprintf(arrivals, sizeof arrivals, "    arrivals: {rate: %g/s}\n", model->rate);
    (void)snprintf(text, sizeof text,
                   "schema: 2\nname: q\nhorizon: 20000 s\nwarmup: 200 s\n"
                   "cluster: {nodes: [{name: n, cpus: %d}]}\n"
                   "sched: {placement: first_fit, queueing: %s}\njobs:\n  - name: w\n"
                   "%s    run_time: exp(1 s)\n    estimate: 1\n"
                   "    preemption: all\n    classes:\n%s",
                   1 + model->more, model->queueing, arrivals, model->classes);
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
    check_model(&(struct model){ "srtf", one, 0.8, "jct.mean", "", 2.352773270299722, 0 });
}

/* Phipps. */
static void the_shortest_job_goes_first(void)
{
    check_model(&(struct model){ "sjf", one, 0.9, "jct.mean", "", 4.196912589664111, 0 });
}

/* Cobham. */
static void the_urgent_wait_for_one_at_most(void)
{
    check_model(&(struct model){ "priority", two, 0.7, "wait.job.mean", "a", 1.0, 0 });
}

/* Whatever is gained is worth it: the urgent see only each other. */
static void the_urgent_do_not_wait_for_others(void)
{
    check_model(&(struct model){ "{policy: benefit, scale: 1e9}", two, 0.7, "jct.mean", "a",
                                 1.4285714285714286, 0 });
}

/* ---- closed populations ---- */

/* A station a class, each with one server that is a GPU type of its own. */
static const char stations[] =
    "schema: 2\nname: q\nhorizon: 4000 s\nwarmup: 100 s\n"
    "catalog: {gpu_types: {s1: {memory: 80 GB, speed: 1}, s2: {memory: 80 GB, speed: 1}, "
    "s3: {memory: 80 GB, speed: 1}}}\n"
    "cluster:\n  nodes:\n    - {name: n1, cpus: 9, gpus: {s1: 1}}\n"
    "    - {name: n2, cpus: 9, gpus: {s2: 1}}\n    - {name: n3, cpus: 9, gpus: {s3: 1}}\n"
    "sched: {placement: first_fit, queueing: first_fit}\n"
    "jobs:\n  - name: w\n    classes:\n"
    "      - {name: a, users: %u, until: c, think: exp(0.5 s), run_time: exp(0.1 s), request: "
    "{gpus: 1}, gpu_types: [s1]}\n"
    "      - {name: b, after: a, run_time: exp(0.04 s), request: {gpus: 1}, gpu_types: [s2]}\n"
    "      - {name: c, after: b, run_time: exp(0.06 s), request: {gpus: 1}, gpu_types: [s3]}\n";

/* Exact mean value analysis: customers that think for half a second and pass three stations. */
static void customers_go_round_as_fast_as_they_can(void)
{
    static const struct {
        unsigned customers;
        double per_s;
    } known[] = { { 1, 1.4285714285714286 },
                  { 2, 2.771179730799683 },
                  { 5, 6.156131774379472 },
                  { 10, 9.20657428865617 },
                  { 20, 9.992707802510523 } };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        char text[2 * TEXT];
        double values[REPLICATIONS];
        (void)snprintf(text, sizeof text, stations, known[i].customers);
        struct sim_scenario *scenario = test_scenario(text, NULL);
        for (uint32_t r = 0; r < REPLICATIONS && scenario != NULL; r++) {
            struct sim_run_summary *summary = test_run_fast(scenario, r, NULL);
            values[r] = test_value(summary, "thr.jobs_h", "") / 3600 / 3; /* jobs of a round */
            free(summary);
        }
        if (!CHECK(scenario != NULL))
            return;
        const double mean = gsl_stats_mean(values, 1, REPLICATIONS);
        const double error = gsl_stats_sd(values, 1, REPLICATIONS) / sqrt(REPLICATIONS);
        CHECK(error < 0.003 * known[i].per_s);
        if (!CHECK_NEAR(mean, known[i].per_s, fmax(4 * error, 0.003 * known[i].per_s)))
            printf("%u customers: standard error %.2g\n", known[i].customers, error);
        sim_scenario_destroy(scenario);
    }
}

/* Ten machines that fail after 10 s, two who repair one in 1 s each, by birth and death: 1.03863782
 * are down, so each is down for 1.03863782 / ((10 - 1.03863782) / 10). */
static void machines_wait_for_their_repair(void)
{
    check_model(&(struct model){ "fcfs",
                                 "      - {name: a, users: 10, think: exp(10 s), request: {cpus: "
                                 "1}}\n",
                                 0, "jct.mean", "", 10.3863782 / (10 - 1.03863782), 1 });
}

static const struct test tests[] = {
    { "customers go round as fast as they can", customers_go_round_as_fast_as_they_can },
    { "machines wait for their repair", machines_wait_for_their_repair },
    { "the shortest remaining time goes first", the_shortest_remaining_time_goes_first },
    { "the shortest job goes first", the_shortest_job_goes_first },
    { "the urgent wait for one at most", the_urgent_wait_for_one_at_most },
    { "the urgent do not wait for others", the_urgent_do_not_wait_for_others },
};
TEST_MAIN(tests)
