/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Cost of the static placement experiment (scenarios/reference/openb_static.yaml, when its trace is
 * there, else the synthetic trace of the tests) for every graded policy: CPU seconds of the
 * arrivals alone, microseconds a job, and, for fgd, of the plain form that grades every node anew.
 * Then how that grows: scenarios/reference/openb_like.yaml with 8 times as many nodes and jobs, and
 * with 80 times as many (97 040 nodes, 850 000 jobs) after `--large`.
 */
#include "sched/placement/fgd.h"
#include "sched/cluster/state.h"
#include "sim/lab/lab.h"
#include "tests/support/clock.h"
#include "tests/support/oracle_plain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PLAIN_JOBS = 1000, SETS = 5, SET_BYTES = 64, TYPES = 32 };

static struct sim_scenario *load(const char *policy)
{
    static const char *const small[] = { "cluster.nodes_file=tests/golden/fgd_small/nodes.csv",
                                         "fill[0].trace=tests/golden/fgd_small/pods.csv",
                                         "fill[0].order=tests/golden/fgd_small/order.txt",
                                         "fill[0].order_key=small:1" };
    const char *root = getenv("WEIR_SOURCE_DIR");
    const char *sets[SETS];
    char placement[64];
    size_t count = 0;
    struct sim_scenario *scenario = NULL;
    struct sim_diagnostics diagnostics = { 0 };
    if (root != NULL && chdir(root) != 0)
        return NULL;
    (void)snprintf(placement, sizeof placement, "sched.placement=%s", policy);
    if (strcmp(policy, "best_fit") == 0)
        (void)snprintf(placement, sizeof placement,
                       "sched.placement={policy: best_fit, measure: amounts}");
    sets[count++] = placement;
    if (access("../shared/traces/openb", R_OK) != 0)
        for (size_t i = 0; i < sizeof small / sizeof small[0]; i++)
            sets[count++] = small[i];
    const struct sim_scenario_source source = { .path = "scenarios/reference/openb_static.yaml",
                                                .sets = sets,
                                                .sets_count = count };
    if (sim_scenario_load(&source, &scenario, &diagnostics) != WEIR_OK)
        sim_diagnostics_print(&diagnostics, stderr);
    sim_diagnostics_clear(&diagnostics);
    return scenario;
}

static void measure(const char *policy, struct sim_scenario *scenario)
{
    const struct sim_run_options options = { .seed = 42, .export_at_s = (double)NAN };
    struct sim_lab *run = NULL;
    struct weir_error error = { .phase = -1 };
    if (scenario == NULL || sim_lab_create(scenario, &options, &run, &error) != WEIR_OK)
        exit(EXIT_FAILURE);
    const double start = test_cpu_s();
    const weir_status status = sim_lab_arrive(run, &error);
    const double spent = test_cpu_s() - start;
    const struct sim_lab_counts *counts = sim_lab_counts(run);
    printf("%-15s %6llu jobs %8.3f s = %7.2f us a job, %.2f %% of the GPUs allocated%s\n", policy,
           (unsigned long long)counts->arrived, spent, spent * 1e6 / (double)counts->arrived,
           counts->used_milli / sim_lab_curve(run)->gpus / 10,
           status == WEIR_OK ? "" : " (failed)");
    sim_lab_destroy(run);
    sim_scenario_destroy(scenario);
}

/* `times` as many nodes of each type, and jobs with them; NULL without memory or file. */
static struct sim_scenario *load_times(const char *policy, size_t times)
{
    char texts[TYPES + 1][SET_BYTES];
    const char *sets[TYPES + 1];
    struct sim_scenario *scenario = NULL;
    struct sim_diagnostics diagnostics = { 0 };
    struct sim_scenario_source source = { .path = "scenarios/reference/openb_like.yaml",
                                          .sets = sets };
    if (sim_scenario_load(&source, &scenario, &diagnostics) != WEIR_OK ||
        scenario->node_groups_count > TYPES)
        return NULL;
    for (size_t t = 0; t < scenario->node_groups_count; t++) {
        (void)snprintf(texts[t], SET_BYTES, "cluster.nodes[%zu].count=%zu", t,
                       times * scenario->node_groups[t].count);
        sets[t] = texts[t];
    }
    (void)snprintf(texts[TYPES], SET_BYTES, "sched.placement=%s", policy);
    sets[scenario->node_groups_count] = texts[TYPES];
    source.sets_count = scenario->node_groups_count + 1;
    sim_scenario_destroy(scenario);
    scenario = NULL;
    if (sim_scenario_load(&source, &scenario, &diagnostics) != WEIR_OK)
        sim_diagnostics_print(&diagnostics, stderr);
    sim_diagnostics_clear(&diagnostics);
    return scenario;
}

/* The inventory of a scenario in file order. */
static struct weir_cluster *inventory(const struct sim_scenario *scenario)
{
    struct weir_cluster *cluster = NULL;
    struct weir_gpu_spec gpus[WEIR_MAX_NODE_GPUS] = { 0 };
    if (weir_cluster_create(NULL, &cluster) != WEIR_OK)
        exit(EXIT_FAILURE);
    for (uint32_t n = 0; n < sim_scenario_node_count(scenario); n++) {
        const struct sim_node_type *type = sim_scenario_node_type(scenario, n);
        const uint32_t count = type->gpus_count > 0 ? type->gpus[0].count : 0;
        for (uint32_t g = 0; g < count; g++)
            gpus[g] = (struct weir_gpu_spec){ .type = type->gpus[0].type, .units = WEIR_ONE };
        const struct weir_node_spec spec = { .size = sizeof(struct weir_node_spec),
                                             .id = n,
                                             .gpu_count = count,
                                             .cpu_units = llround(type->cpus * (double)WEIR_ONE),
                                             .ram_bytes = type->ram_bytes,
                                             .gpus = gpus };
        if (weir_cluster_add_node(cluster, &spec, NULL, NULL) != WEIR_OK)
            exit(EXIT_FAILURE);
    }
    return cluster;
}

static void measure_plain(void)
{
    const struct weir_fgd_rules rules = { .metric = WEIR_FRAG_PAPER,
                                          .tie = WEIR_FGD_FIRST,
                                          .score = WEIR_FGD_SCORE_GRADE,
                                          .steps = 100 };
    const struct weir_grader grader = { .grade = weir_fgd_grade,
                                        .rules = &rules,
                                        .uses_mix = true };
    struct sim_scenario *scenario = load("fgd");
    struct sim_target target = { .count = 0 };
    if (scenario == NULL || sim_target_create(&scenario->workloads[0], &target) != WEIR_OK)
        exit(EXIT_FAILURE);
    struct weir_cluster *cluster = inventory(scenario);
    const struct weir_mix mix = sim_target_mix(&target);
    const double start = test_cpu_s();
    size_t jobs = 0;
    for (; jobs < PLAIN_JOBS && jobs < scenario->workloads[0].jobs_count; jobs++) {
        const struct weir_place_query query = { .size = sizeof(struct weir_place_query),
                                                .cluster = cluster,
                                                .mix = &mix,
                                                .shape = &scenario->workloads[0].jobs[jobs].shape };
        struct weir_place_answer answer;
        if (plain_grades_place(&grader, &query, &answer, NULL) == WEIR_OK)
            (void)weir_cluster_add_worker(cluster, jobs + 1, weir_pool_owner(0), &answer.alloc,
                                          NULL);
    }
    const double spent = test_cpu_s() - start;
    printf("%-15s %6zu jobs %8.3f s = %7.2f us a job\n", "fgd, plain", jobs, spent,
           spent * 1e6 / (double)jobs);
    weir_cluster_destroy(cluster);
    sim_target_clear(&target);
    sim_scenario_destroy(scenario);
}

int main(int count, char **arguments)
{
    static const char *const growing[] = { "first_fit", "fgd" };
    const size_t most = count > 1 && strcmp(arguments[1], "--large") == 0 ? 80 : 8;
    static const char *const names[] = { "fgd",         "weir",           "best_fit", "dot_product",
                                         "gpu_packing", "gpu_clustering", "random" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        measure(names[i], load(names[i]));
    measure_plain();
    for (size_t times = 1; times <= most; times = times == 1 ? 8 : 10 * times)
        for (size_t i = 0; i < sizeof growing / sizeof growing[0]; i++)
            measure(growing[i], load_times(growing[i], times));
    return 0;
}
