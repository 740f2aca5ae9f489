/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jobs a second of processor time through a whole run, by queueing policy: 82 000 jobs like those
 * of Philly (four of five ask for one GPU, run times over five decades, exact estimates) on 512
 * nodes of one GPU, at a load of 95 %, without a recorder. Best of five.
 */
#include "sim/world/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { JOBS = 82000, TIMES = 5 };

static struct sim_scenario *load(const char *queueing)
{
    char text[2048];
    struct sim_scenario *scenario = NULL;
    struct sim_diagnostics diagnostics = { 0 };
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
    const struct sim_scenario_source source = { .path = "queues.yaml", .text = text };
    if (sim_scenario_load(&source, &scenario, &diagnostics) != WEIR_OK) {
        sim_diagnostics_print(&diagnostics, stderr);
        exit(EXIT_FAILURE);
    }
    return scenario;
}

static double cpu_s(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double run_s(const struct sim_scenario *scenario)
{
    struct sim_run_summary *summary = calloc(1, sizeof *summary);
    const struct sim_run_options options = { .seed = 1, .export_at_s = (double)NAN };
    const double begin_s = cpu_s();
    if (summary == NULL || sim_run(scenario, &options, summary) != WEIR_OK) {
        fprintf(stderr, "%s\n", summary == NULL ? "out of memory" : summary->message);
        exit(EXIT_FAILURE);
    }
    const double taken_s = cpu_s() - begin_s;
    free(summary);
    return taken_s;
}

int main(int argc, char **argv)
{
    static const char *const policies[] = { "fcfs",         "first_fit", "sjf",   "easy",
                                            "conservative", "srtf",      "las_2d" };
    for (size_t p = 0; p < sizeof policies / sizeof policies[0]; p++) {
        struct sim_scenario *scenario = NULL;
        double best_s = HUGE_VAL;
        if (argc > 1 && strcmp(argv[1], policies[p]) != 0)
            continue;
        scenario = load(policies[p]);
        for (int i = 0; i < (argc > 2 ? atoi(argv[2]) : TIMES); i++)
            best_s = fmin(best_s, run_s(scenario));
        printf("%-14s %10.0f jobs/s\n", policies[p], JOBS / best_s);
        (void)fflush(stdout);
        sim_scenario_destroy(scenario);
    }
    return EXIT_SUCCESS;
}
