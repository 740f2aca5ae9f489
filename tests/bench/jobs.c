/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Cost of jobs in time: 10^6 jobs of five kinds at 90 % load on growing clusters, each run in a
 * process of its own so that its memory can be told. The cost of a job must grow less than the
 * cluster does. A name of a policy as argument measures that one (fgd by default); with two more,
 * nodes and jobs, that size alone, in this process.
 */
#include "sim/world/run.h"
#include "tests/support/results.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEXT = 2048 };

static const char *const kinds =
    "    classes:\n"
    "      - {name: cpu, weight: 13, request: {cpus: 8}}\n"
    "      - {name: share, weight: 38, request: {cpus: 4, gpus: 0.5}}\n"
    "      - {name: g1, weight: 45, request: {cpus: 8, gpus: 1}}\n"
    "      - {name: g2, weight: 2, request: {cpus: 16, gpus: 2}}\n"
    "      - {name: g8, weight: 2, request: {cpus: 64, gpus: 8}}\n";

static int run_one(const char *policy, unsigned nodes, unsigned jobs)
{
    char text[TEXT];
    struct sim_scenario *scenario = NULL;
    struct sim_diagnostics diagnostics = { 0 };
    struct sim_run_summary *summary = test_summary();
    const struct sim_run_options options = {
        .seed = 1, .export_at_s = (double)NAN, .listen = test_listen, .listener = summary
    };
    (void)snprintf(
        text, sizeof text,
        "schema: 1\nname: bench\ncluster:\n  nodes:\n    - {name: n, count: %u, cpus: 96, "
        "ram: 384 GiB, gpus: {a100-80: 8}}\nsched: {placement: %s}\nworkloads:\n"
        "  - name: w\n    kind: generated\n    mode: time\n    jobs: %u\n"
        "    arrivals: {load: 90%%}\n    service: exp(1 h)\n%s",
        nodes, policy, jobs, kinds);
    const struct sim_scenario_source source = { .path = "-", .text = text };
    if (summary == NULL || sim_scenario_load(&source, &scenario, &diagnostics) != WEIR_OK) {
        sim_diagnostics_print(&diagnostics, stderr);
        return EXIT_FAILURE;
    }
    const weir_status status = sim_run(scenario, &options, summary);
    printf(
        "%-10s %7u nodes %8u jobs %8.2f s CPU = %6.2f us a job, %6.0f MiB, %.1f %% GPUs held%s\n",
        policy, nodes, jobs, summary->cpu_s, summary->cpu_s * 1e6 / jobs, summary->peak_rss_mib,
        100 * test_value(summary, "util.gpu.assigned", ""), status == WEIR_OK ? "" : " (failed)");
    (void)fflush(stdout);
    sim_scenario_destroy(scenario);
    free(summary);
    return status == WEIR_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    static const struct {
        unsigned nodes, jobs;
    } sizes[] = { { 100, 100000 }, { 1000, 1000000 }, { 10000, 1000000 }, { 100000, 1000000 } };
    int failures = 0;
    if (argc > 3)
        return run_one(argv[1], (unsigned)atoi(argv[2]), (unsigned)atoi(argv[3]));
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        int code = 0;
        const pid_t child = fork();
        if (child == 0)
            _exit(run_one(argc > 1 ? argv[1] : "fgd", sizes[i].nodes, sizes[i].jobs));
        if (child < 0 || waitpid(child, &code, 0) < 0 || code != 0)
            failures++;
    }
    return failures > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
