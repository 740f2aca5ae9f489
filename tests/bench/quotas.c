/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A large cluster of many teams: 10^6 jobs on 10 000 nodes of 8 GPUs, single GPUs, whole nodes and
 * gangs of up to 64 GPUs, of three tenants with guarantees, weights and a quota, at 90 % load,
 * without a recorder. Time of the processor, loading included, and memory, by queueing policy;
 * names of policies as arguments measure these.
 */
#include "sim/world/run.h"
#include "tests/support/clock.h"
#include "tests/support/results.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEXT = 2048, JOBS = 1000000 };

static const char *const parts[] = {
    "schema: 2\nname: quotas\ncluster: {nodes: [{name: n, count: 10000, cpus: 128, gpus: {h100: "
    "8}}]}\n"
    "tenants:\n  - {name: a, guarantee: 30000, weight: 3}\n"
    "  - {name: b, guarantee: 20000, weight: 2, quota: 40000}\n"
    "  - {name: c, guarantee: 10000, weight: 1}\n",
    "jobs:\n  - name: w\n    arrivals: {load: 90%}\n    run_time: exp(1 h)\n    classes:\n"
    "      - {name: a1, tenant: a, weight: 6, request: {cpus: 1, gpus: 1}}\n"
    "      - {name: a8, tenant: a, weight: 2, request: {cpus: 8, gpus: 8}}\n"
    "      - {name: a32, tenant: a, weight: 1, members: 4, request: {cpus: 8, gpus: 8}}\n"
    "      - {name: b1, tenant: b, weight: 6, request: {cpus: 1, gpus: 1}}\n"
    "      - {name: b16, tenant: b, weight: 1, members: 2, request: {cpus: 8, gpus: 8}}\n"
    "      - {name: c4, tenant: c, weight: 3, request: {cpus: 4, gpus: 4}}\n"
    "      - {name: c64, tenant: c, weight: 0.2, members: 8, request: {cpus: 8, gpus: 8}}\n"
};

static int run_one(const char *queueing)
{
    char text[TEXT];
    struct sim_scenario *scenario = NULL;
    struct sim_diagnostics diagnostics = { 0 };
    struct sim_run_summary *summary = test_summary();
    const struct sim_run_options options = {
        .seed = 1, .export_at_s = (double)NAN, .listen = test_listen, .listener = summary
    };
    (void)snprintf(text, sizeof text,
                   "%ssched: {placement: first_fit, explain: off, queueing: %s}\n%s    count: %d\n",
                   parts[0], queueing, parts[1], JOBS);
    const struct sim_scenario_source source = { .path = "quotas.yaml", .text = text };
    if (summary == NULL || sim_scenario_load(&source, &scenario, &diagnostics) != WEIR_OK) {
        sim_diagnostics_print(&diagnostics, stderr);
        return EXIT_FAILURE;
    }
    const weir_status status = sim_run(scenario, &options, summary);
    printf("%-14s %8.2f s CPU, %6.0f MiB, %.1f %% GPUs held%s\n", queueing, test_cpu_s(),
           summary->peak_rss_mib, 100 * test_value(summary, "util.gpu.assigned", ""),
           status == WEIR_OK ? "" : " (failed)");
    (void)fflush(stdout);
    sim_scenario_destroy(scenario);
    free(summary);
    return status == WEIR_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    static const char *const usual[] = { "first_fit", "easy", "quota_queues", "cohorts", "drf" };
    const int count = argc > 1 ? argc - 1 : (int)(sizeof usual / sizeof usual[0]);
    int failures = 0;
    for (int i = 0; i < count; i++) {
        int code = 0;
        const pid_t child = fork();
        if (child == 0)
            _exit(run_one(argc > 1 ? argv[i + 1] : usual[i]));
        failures += child < 0 || waitpid(child, &code, 0) < 0 || code != 0;
    }
    return failures > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
