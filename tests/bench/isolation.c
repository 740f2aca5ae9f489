/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a module in a process of its own costs: the same short runs with the template policies in
 * this process and in another one, in turns, and the difference of the fastest of each by decision
 * (whoever else is on the machine only adds): wall time, with the start of the process in it. It
 * may be 30 us at most. Both must give the same digests. An argument is the module's path.
 */
#include "sim/port/module.h"
#include "sim/world/run.h"
#include "tests/support/clock.h"
#include "tests/support/results.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 41, MOST_US = 30, PATH_BYTES = 4096, MOST_POLICIES = 128 };

struct load {
    const char *name, *text;
    const char *decisions; /* the result that counts them */
};

static const struct load loads[] = {
    { "pipeline",
      "schema: 1\nname: bench\nhorizon: 30 min\n"
      "cluster: {nodes: [{name: n, count: 8, cpus: 64, gpus: {h100: 8}}]}\n"
      "sched: {placement: fgd, scaling: {policy: template_queue_chaser, interval: 1 s}}\n"
      "pipelines:\n  - name: p\n    input: {items: 200000}\n    stages:\n"
      "      - {name: a, cpus: 1, service: exp(4 s)}\n"
      "      - {name: b, cpus: 1, gpus: 0.5, service: exp(6 s)}\n"
      "      - {name: c, cpus: 2, gpus: 1, service: exp(5 s)}\n",
      "sched.decisions" },
    { "jobs",
      "schema: 1\nname: bench\n"
      "cluster: {nodes: [{name: n, count: 16, cpus: 64, gpus: {h100: 8}}]}\n"
      "sched: {placement: template_fullest_first}\n"
      "workloads:\n  - name: w\n    kind: generated\n    mode: time\n    jobs: 1000\n"
      "    arrivals: {load: 80%}\n    service: exp(1 h)\n    classes:\n"
      "      - {name: share, weight: 1, request: {cpus: 4, gpus: 0.5}}\n"
      "      - {name: one, weight: 1, request: {cpus: 8, gpus: 1}}\n",
      "sched.passes" },
};

struct measured {
    double wall_us, decisions;
    uint64_t digest;
};

static bool run_once(const struct load *load, const struct weir_module *module,
                     struct measured *measured)
{
    const struct weir_placement_ops *placements[MOST_POLICIES];
    const struct weir_scaling_ops *scalings[MOST_POLICIES];
    const struct weir_queueing_ops *queueings[MOST_POLICIES];
    const struct sim_policies policies = { .placements = placements,
                                           .placements_count = weir_placement_count() + 1,
                                           .scalings = scalings,
                                           .scalings_count = weir_scaling_count() + 1,
                                           .queueings = queueings,
                                           .queueings_count = weir_queueing_count() };
    for (uint32_t i = 0; i < weir_placement_count(); i++)
        placements[i] = weir_placement_at(i);
    for (uint32_t i = 0; i < weir_scaling_count(); i++)
        scalings[i] = weir_scaling_at(i);
    for (uint32_t i = 0; i < weir_queueing_count(); i++)
        queueings[i] = weir_queueing_at(i);
    placements[weir_placement_count()] = module->placements[0];
    scalings[weir_scaling_count()] = module->scalings[0];
    const struct sim_scenario_source source = { .path = "-",
                                                .text = load->text,
                                                .policies = &policies };
    struct sim_diagnostics diagnostics = { 0 };
    struct sim_scenario *scenario = NULL;
    struct sim_run_summary *summary = test_summary();
    const struct sim_run_options options = {
        .seed = 1, .export_at_s = (double)NAN, .listen = test_listen, .listener = summary
    };
    if (summary == NULL || sim_scenario_load(&source, &scenario, &diagnostics) != WEIR_OK) {
        sim_diagnostics_print(&diagnostics, stderr);
        return false;
    }
    const double begin_us = test_wall_s() * 1e6;
    const weir_status status = sim_run(scenario, &options, summary);
    *measured = (struct measured){ .wall_us = test_wall_s() * 1e6 - begin_us,
                                   .decisions = test_value(summary, load->decisions, ""),
                                   .digest = summary->result_digest };
    if (status != WEIR_OK)
        (void)fprintf(stderr, "%s\n", summary->message);
    sim_scenario_destroy(scenario);
    free(summary);
    return status == WEIR_OK;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

static bool measure(const struct load *load, const struct weir_module *here,
                    const struct weir_module *there)
{
    struct measured best[2] = { { .wall_us = (double)INFINITY }, { .wall_us = (double)INFINITY } };
    struct measured one = { 0 };
    struct measured other = { 0 };
    for (int i = 0; i < ROUNDS; i++) {
        if (!run_once(load, here, &one) || !run_once(load, there, &other))
            return false;
        if (one.digest != other.digest || !(one.decisions > 0)) {
            printf("%s: other results in another process\n", load->name);
            return false;
        }
        best[0].wall_us = least(best[0].wall_us, one.wall_us);
        best[1].wall_us = least(best[1].wall_us, other.wall_us);
    }
    const double here_us = best[0].wall_us / one.decisions;
    const double more_us = best[1].wall_us / one.decisions - here_us;
    printf("%-10s %6.0f decisions: %6.2f us each with all between them; in a process of its own "
           "%6.2f us more, at most %d\n",
           load->name, one.decisions, here_us, more_us, MOST_US);
    return more_us <= MOST_US;
}

int main(int argc, char **argv)
{
    const struct weir_module *here = NULL;
    struct sim_module *described = NULL;
    struct weir_error error = { .phase = -1, .pool = -1 };
    char path[PATH_BYTES];
    const char *slash = strrchr(argv[0], '/');
    (void)snprintf(path, sizeof path, "%.*s/../plugins/template.so",
                   slash == NULL ? 1 : (int)(slash - argv[0]), slash == NULL ? "." : argv[0]);
    const char *file = argc > 1 ? argv[1] : path;
    if (sim_module_load(file, &here, &error) != WEIR_OK ||
        sim_module_describe(file, &described, &error) != WEIR_OK) {
        (void)fprintf(stderr, "%s\n", error.text);
        return EXIT_FAILURE;
    }
    bool is_good = true;
    for (size_t i = 0; i < sizeof loads / sizeof loads[0]; i++)
        is_good = measure(&loads[i], here, sim_module_policies(described)) && is_good;
    sim_module_destroy(described);
    return is_good ? EXIT_SUCCESS : EXIT_FAILURE;
}
