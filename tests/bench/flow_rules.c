/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the default flow rule costs beside `event`: one simulated hour of the saturated 14-stage
 * reference pipeline on 2, 50 and 1 000 nodes, without a recorder, each run in a process of its own
 * so that its memory can be told. The goal is 1.5 times as long an item at most. `--large`: 10 000
 * nodes under the default rule, too, which takes minutes. With a number of nodes and a rule: that
 * one alone, in this process.
 */
#include "sim/world/run.h"
#include "tests/support/results.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEXT = 64, HOUR_S = 3600 };
/* CPU seconds an item, or a negative number. */
static double run_one(unsigned nodes, const char *rule)
{
    char count[TEXT];
    char semantics[TEXT];
    (void)snprintf(count, sizeof count, "cluster.nodes.0.count=%u", nodes);
    (void)snprintf(semantics, sizeof semantics, "pipelines.curation.semantics=%s", rule);
    const char *const sets[] = { count, semantics, "pipelines.curation.input.items=100000000",
                                 "horizon=1 h" };
    struct sim_scenario *scenario = NULL;
    struct sim_diagnostics diagnostics = { 0 };
    struct sim_run_summary *summary = test_summary();
    const struct sim_scenario_source source = { .path = "scenarios/reference/xenna_plain_n2.yaml",
                                                .sets = sets,
                                                .sets_count = sizeof sets / sizeof sets[0] };
    if (summary == NULL || sim_scenario_load(&source, &scenario, &diagnostics) != WEIR_OK) {
        sim_diagnostics_print(&diagnostics, stderr);
        return -1;
    }
    const struct sim_run_options options = {
        .seed = 1, .export_at_s = (double)NAN, .listen = test_listen, .listener = summary
    };
    const weir_status status = sim_run(scenario, &options, summary);
    const double items = HOUR_S * test_value(summary, "thr.pipeline", "");
    printf("%6u nodes, %-8s %9.0f items %8.2f s CPU = %7.2f us an item, %6.0f MiB%s\n", nodes, rule,
           items, summary->cpu_s, summary->cpu_s * 1e6 / items, summary->peak_rss_mib,
           status == WEIR_OK ? "" : " (failed)");
    (void)fflush(stdout);
    const double cost_s = status == WEIR_OK ? summary->cpu_s / items : -1;
    sim_scenario_destroy(scenario);
    free(summary);
    return cost_s;
}

/* The same in a process of its own. */
static double run_apart(unsigned nodes, const char *rule)
{
    int ends[2];
    double cost_s = -1;
    if (pipe(ends) != 0)
        return -1;
    const pid_t child = fork();
    if (child == 0) {
        cost_s = run_one(nodes, rule);
        _exit(write(ends[1], &cost_s, sizeof cost_s) == sizeof cost_s ? 0 : 1);
    }
    (void)close(ends[1]);
    if (child < 0 || read(ends[0], &cost_s, sizeof cost_s) != sizeof cost_s)
        cost_s = -1;
    (void)close(ends[0]);
    if (child > 0)
        (void)waitpid(child, NULL, 0);
    return cost_s;
}

int main(int argc, char **argv)
{
    static const unsigned sizes[] = { 2, 50, 1000 };
    const bool is_large = argc > 1 && strcmp(argv[1], "--large") == 0;
    bool is_ok = true;
    if (argc > 2)
        return run_one((unsigned)atoi(argv[1]), argv[2]) > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const double event_s = run_apart(sizes[i], "event");
        const double runtime_s = run_apart(sizes[i], "runtime");
        printf("%6u nodes, runtime / event %.2f (goal 1.5)\n", sizes[i], runtime_s / event_s);
        (void)fflush(stdout);
        is_ok = is_ok && event_s > 0 && runtime_s > 0;
    }
    if (is_large)
        is_ok = run_apart(10000, "runtime") > 0 && is_ok;
    return is_ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
