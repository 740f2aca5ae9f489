/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The whole evaluation: every openb list that is at hand x six policies x five orders of arrival,
 * each with fragmentation, causes and bound (shared as in an experiment), as CPU seconds of one
 * core. Nothing is measured where the traces are not at hand.
 */
#include "sim/lab/bound_shelf.h"
#include "sim/world/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT = 512 };

static const char *const traces[] = { "default",    "cpu050",     "cpu200",
                                      "gpushare40", "gpushare80", "gpuspec10",
                                      "gpuspec33",  "multigpu20", "multigpu40" };
static const char *const policies[] = { "fgd",         "best_fit",       "dot_product",
                                        "gpu_packing", "gpu_clustering", "random" };

static double run_one(const char *file, const char *trace, int seed, const char *policy,
                      struct sim_bound_shelf *bounds)
{
    char texts[3][TEXT + 32];
    const char *const sets[] = { texts[0], texts[1], texts[2] };
    struct sim_scenario *scenario = NULL;
    struct sim_diagnostics diagnostics = { 0 };
    struct sim_run_summary *summary = calloc(1, sizeof *summary);
    const struct sim_run_options options = { .seed = 42,
                                             .bounds = bounds,
                                             .export_at_s = (double)NAN };
    (void)snprintf(texts[0], sizeof texts[0], "fill[0].trace=%s", file);
    (void)snprintf(texts[1], sizeof texts[1], "fill[0].order_key=%s:%d", trace, seed);
    (void)snprintf(texts[2], sizeof texts[2], "sched.placement=%s", policy);
    if (strcmp(policy, "best_fit") == 0)
        (void)snprintf(texts[2], sizeof texts[2],
                       "sched.placement={policy: best_fit, measure: amounts}");
    const struct sim_scenario_source source = { .path = "scenarios/reference/openb_static.yaml",
                                                .sets = sets,
                                                .sets_count = 3 };
    if (summary == NULL || sim_scenario_load(&source, &scenario, &diagnostics) != WEIR_OK ||
        sim_run(scenario, &options, summary) != WEIR_OK) {
        sim_diagnostics_print(&diagnostics, stderr);
        exit(EXIT_FAILURE);
    }
    const double spent = summary->cpu_s;
    sim_scenario_destroy(scenario);
    free(summary);
    return spent;
}

int main(void)
{
    const char *root = getenv("WEIR_SOURCE_DIR");
    struct sim_bound_shelf *bounds = calloc(1, sim_bound_shelf_size());
    double sum = 0;
    int runs = 0;
    if (root != NULL && chdir(root) != 0)
        return EXIT_FAILURE;
    for (size_t t = 0; t < sizeof traces / sizeof traces[0]; t++) {
        char path[TEXT];
        (void)snprintf(path, sizeof path, "../shared/traces/openb/openb_pod_list_%s.csv",
                       traces[t]);
        if (access(path, R_OK) != 0)
            (void)snprintf(path, sizeof path, "../shared/traces/openb/openb_pod_list_%s.csv.gz",
                           traces[t]);
        for (int seed = 42; seed <= 46 && access(path, R_OK) == 0; seed++)
            for (size_t p = 0; p < sizeof policies / sizeof policies[0]; p++, runs++)
                sum += run_one(path, traces[t], seed, policies[p], bounds);
    }
    printf("%d runs %8.1f s CPU = %.3f s a run\n", runs, sum, runs > 0 ? sum / runs : 0);
    free(bounds);
    return EXIT_SUCCESS;
}
