/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jobs a second of processor time through a whole run, by queueing policy: 82 000 jobs like those
 * of Philly (four of five ask for one GPU, run times over five decades, exact estimates) on 512
 * nodes of one GPU, at a load of 95 %, without a recorder. Best of five.
 *
 * Gavel's policies on Gavel's own trace of 8 000 jobs, two an hour, and its 36 GPUs of each of
 * three types, in rounds of 360 s; the trace is $WEIR_SHARED/traces/gavel (../shared without it),
 * and without that these are left out.
 */
#include "sim/world/run.h"
#include "tests/support/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JOBS = 82000, TIMES = 5 };

static struct sim_scenario *load_text(const char *text)
{
    struct sim_scenario *scenario = NULL;
    struct sim_diagnostics diagnostics = { 0 };
    const struct sim_scenario_source source = { .path = "queues.yaml", .text = text };
    if (sim_scenario_load(&source, &scenario, &diagnostics) != WEIR_OK) {
        sim_diagnostics_print(&diagnostics, stderr);
        exit(EXIT_FAILURE);
    }
    return scenario;
}

static struct sim_scenario *load(const char *queueing)
{
    char text[2048];
    (void)snprintf(text, sizeof text,
                   "schema: 2\nname: queues\n"
                   "cluster: {nodes: [{name: n, count: 512, cpus: 8, gpus: {p100: 1}}]}\n"
                   "sched: {placement: first_fit, explain: off, queueing: %s}\n"
                   "jobs:\n  - name: w\n    count: %d\n    preemption: all\n    arrivals: "
                   "{process: poisson, load: 0.95}\n"
                   "    run_time: \"lognormal(6 h, 4)\"\n    run_time_limit: 20 d\n    classes:\n"
                   "      - {name: a, weight: 80, request: {gpus: 1}}\n"
                   "      - {name: b, weight: 6, members: 2, request: {gpus: 1}}\n"
                   "      - {name: c, weight: 6, members: 4, request: {gpus: 1}}\n"
                   "      - {name: d, weight: 6, members: 8, request: {gpus: 1}}\n"
                   "      - {name: e, weight: 2, members: 16, request: {gpus: 1}}\n",
                   queueing, JOBS);
    return load_text(text);
}

static struct sim_scenario *load_gavel(const char *path, const char *goal)
{
    char text[2048];
    (void)snprintf(text, sizeof text,
                   "schema: 2\nname: gavel\ncluster:\n  nodes:\n"
                   "    - {name: v, count: 9, cpus: 32, gpus: {v100m16: 4}}\n"
                   "    - {name: p, count: 9, cpus: 32, gpus: {p100: 4}}\n"
                   "    - {name: k, count: 9, cpus: 32, gpus: {k80: 4}}\n"
                   "sched: {placement: first_fit, explain: off, queueing: {policy: gavel, fill: "
                   "false, goal: %s}}\n"
                   "jobs:\n  - name: w\n    trace: %s\n    columns: gavel\n    arrivals: "
                   "{process: trace, scale: 2}\n    preemption: all\n    work: dense\n    "
                   "measured_on: v100m16\n",
                   goal, path);
    return load_text(text);
}

static double run_s(const struct sim_scenario *scenario)
{
    struct sim_run_summary *summary = calloc(1, sizeof *summary);
    const struct sim_run_options options = { .seed = 1, .export_at_s = (double)NAN };
    const double begin_s = test_cpu_s();
    if (summary == NULL || sim_run(scenario, &options, summary) != WEIR_OK) {
        fprintf(stderr, "%s\n", summary == NULL ? "out of memory" : summary->message);
        exit(EXIT_FAILURE);
    }
    const double taken_s = test_cpu_s() - begin_s;
    free(summary);
    return taken_s;
}

static void measure(const char *name, struct sim_scenario *scenario, uint32_t jobs, int times)
{
    double best_s = HUGE_VAL;
    for (int i = 0; i < times; i++)
        best_s = fmin(best_s, run_s(scenario));
    printf("%-16s %10.0f jobs/s\n", name, jobs / best_s);
    (void)fflush(stdout);
    sim_scenario_destroy(scenario);
}

static void measure_gavel(const char *only, int times)
{
    static const char *const goals[] = { "fifo", "max_min" };
    const char *shared = getenv("WEIR_SHARED");
    char path[512];
    (void)snprintf(path, sizeof path, "%s/traces/gavel/continuous_single_seed0.csv.gz",
                   shared != NULL ? shared : "../shared");
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        printf("gavel: %s is not there\n", path);
        return;
    }
    (void)fclose(file);
    for (size_t g = 0; g < sizeof goals / sizeof goals[0]; g++) {
        char name[32];
        (void)snprintf(name, sizeof name, "gavel %s", goals[g]);
        if (only == NULL || strcmp(only, name) == 0)
            measure(name, load_gavel(path, goals[g]), 8000, times);
    }
}

int main(int argc, char **argv)
{
    static const char *const policies[] = { "fcfs",         "first_fit", "sjf",   "easy",
                                            "conservative", "srtf",      "las_2d" };
    const char *only = argc > 1 ? argv[1] : NULL;
    const int times = argc > 2 ? atoi(argv[2]) : TIMES;
    for (size_t p = 0; p < sizeof policies / sizeof policies[0]; p++)
        if (only == NULL || strcmp(only, policies[p]) == 0)
            measure(policies[p], load(policies[p]), JOBS, times);
    measure_gavel(only, times);
    return EXIT_SUCCESS;
}
