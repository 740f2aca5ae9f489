/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The bound of whole workers on nodes: that of another programme with another knapsack and another
 * solver (tests/support/scaling_bound.c) on random problems, and never below what a policy reaches.
 */
#include "sim/scenario/bound_placed.h"
#include "tests/support/check.h"
#include "tests/support/runs.h"
#include "tests/support/scaling_problems.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { QUICK = 24, ALL = 300 };

static void write_nodes(FILE *file, const struct scaling_problem *problem)
{
    (void)fputs("cluster:\n  nodes:\n", file);
    for (uint32_t t = 0; t < problem->types; t++) {
        const struct scaling_node_type *type = &problem->nodes[t];
        (void)fprintf(file, "    - {name: n%u, count: %u, cpus: %d", t, type->count,
                      (int)type->cpus);
        (void)(type->gpus > 0 ? fprintf(file, ", gpus: {h100: %u}}\n", type->gpus)
                              : fprintf(file, "}\n"));
    }
}

static void write_stages(FILE *file, const struct scaling_problem *problem)
{
    for (uint32_t i = 0; i < problem->stages; i++) {
        const struct weir_shape *shape = &problem->shapes[i];
        const double gpus = weir_units_amount(shape->gpu_units) * shape->gpu_count;
        (void)fprintf(file, "      - {name: s%u, cpus: %.17g, gpus: %.17g, ", i,
                      weir_units_amount(shape->cpu_units), gpus);
        if (shape->nvdecs > 0)
            (void)fprintf(file, "nvdecs: %u, ", shape->nvdecs);
        (void)fprintf(file, "service: %.17g s}\n", 1 / problem->speeds_per_s[i]);
    }
}

static struct sim_scenario *scenario_of(const struct scaling_problem *problem)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    if (file == NULL)
        abort();
    (void)fputs("schema: 2\nname: random\nhorizon: 1 h\n", file);
    write_nodes(file, problem);
    (void)fputs("pipelines:\n  - name: line\n    input: {items: 10}\n    stages:\n", file);
    write_stages(file, problem);
    (void)fclose(file);
    struct sim_scenario *scenario = test_scenario(text, NULL);
    free(text);
    return scenario;
}

static struct sim_placed placed_of(const struct sim_scenario *scenario, double *pool_per_s)
{
    struct sim_bound_problem problem;
    struct sim_bound bound = { .workers = NULL };
    struct sim_placed placed = { 0 };
    CHECK_I64(sim_bound_problem_create(scenario, 0, &problem), WEIR_OK);
    CHECK_I64(sim_bound_solve(&problem, &bound), WEIR_OK);
    CHECK_I64(sim_bound_placed(&problem, &bound, &placed), WEIR_OK);
    *pool_per_s = bound.integer_per_s;
    sim_bound_clear(&bound);
    sim_bound_problem_clear(&problem);
    return placed;
}

static double reached(const struct scaling_problem *problem)
{
    struct weir_host *host = scaling_host(problem, "weir", "fgd_xenna");
    struct scaling_pass pass;
    CHECK(scaling_decide(host, &pass));
    const double rate_per_s = scaling_throughput(host, problem);
    weir_host_destroy(host);
    return rate_per_s;
}

static void it_is_that_of_another_programme(void)
{
    const uint32_t problems = getenv("WEIR_SLOW") != NULL ? ALL : QUICK;
    uint32_t tighter = 0;
    uint32_t answers[SIM_PLACED_LIMIT + 1] = { 0 };
    uint32_t below = 0;
    for (uint32_t i = 0; i < problems; i++) {
        const struct scaling_problem problem = scaling_problem_draw(7001 + i);
        struct sim_scenario *scenario = scenario_of(&problem);
        double pool_per_s = 0;
        if (scenario == NULL)
            return;
        const struct sim_placed placed = placed_of(scenario, &pool_per_s);
        const double ratio = placed.rate_per_s / fmin(scaling_bound(&problem), pool_per_s);
        CHECK(ratio < 1 + 1e-4 && (ratio > 1 - 1e-4 || placed.by >= SIM_PLACED_WHOLE));
        CHECK(reached(&problem) <= placed.rate_per_s * (1 + 1e-4));
        tighter += placed.rate_per_s < pool_per_s * 0.999;
        below += ratio < 1 - 1e-4;
        answers[placed.by]++;
        sim_scenario_destroy(scenario);
    }
    printf("  of %u by parts of ways %u, by whole workers %u (lower: %u), cut off %u\n", problems,
           answers[SIM_PLACED_PARTS], answers[SIM_PLACED_WHOLE], below, answers[SIM_PLACED_LIMIT]);
    CHECK(tighter > problems / 10);
}

/* ---- by hand ---- */

static double of_text(const char *nodes, const char *stages, double *pool_per_s)
{
    char text[1024];
    (void)snprintf(text, sizeof text,
                   "schema: 2\nname: hand\nhorizon: 1 h\ncluster:\n  nodes:\n%s"
                   "pipelines:\n  - name: line\n    input: {items: 10}\n    stages:\n%s",
                   nodes, stages);
    struct sim_scenario *scenario = test_scenario(text, NULL);
    if (scenario == NULL)
        return 0;
    const double placed_per_s = placed_of(scenario, pool_per_s).rate_per_s;
    sim_scenario_destroy(scenario);
    return placed_per_s;
}

/* Six GPUs hold ten workers of 0.6 in one pool, and six on nodes. */
static void parts_do_not_span_gpus(void)
{
    double pool_per_s = 0;
    const double placed_per_s =
        of_text("    - {name: n, count: 3, cpus: 64, gpus: {h100: 2}}\n",
                "      - {name: s, cpus: 1, gpus: 0.6, service: 1 s}\n", &pool_per_s);
    CHECK_NEAR(pool_per_s, 10, 1e-9);
    CHECK_NEAR(placed_per_s, 6, 1e-4);
}

/* Four nodes of 6 CPUs hold six workers of 4 in one pool, and four on nodes. */
static void workers_do_not_span_nodes(void)
{
    double pool_per_s = 0;
    const double placed_per_s = of_text("    - {name: n, count: 4, cpus: 6}\n",
                                        "      - {name: s, cpus: 4, service: 1 s}\n", &pool_per_s);
    CHECK_NEAR(pool_per_s, 6, 1e-9);
    CHECK_NEAR(placed_per_s, 4, 1e-4);
}

/* One node holds what asks for GPUs and 2 CPUs more, the other two fives: 5 and twice 3 are on none
 * of the two, though parts of ways would hold them.
 * covers: S1.16 */
static void whole_workers_have_whole_places(void)
{
    double pool_per_s = 0;
    const double placed_per_s = of_text("    - {name: a, count: 1, cpus: 10}\n"
                                        "    - {name: b, count: 1, cpus: 5, gpus: {h100: 1}}\n",
                                        "      - {name: s, cpus: 5, service: 1 s}\n"
                                        "      - {name: t, cpus: 1, gpus: 0.5, service: 3 s}\n"
                                        "      - {name: u, cpus: 2, gpus: 0.5, service: 2 s}\n"
                                        "      - {name: v, cpus: 3, service: 6 s}\n",
                                        &pool_per_s);
    CHECK_NEAR(pool_per_s, 1 / 3.0, 1e-9);
    CHECK_NEAR(placed_per_s, 1 / 6.0, 1e-9);
}

/* No two of them fit on a node together. */
static void not_even_one_worker_each(void)
{
    double pool_per_s = 0;
    const double placed_per_s = of_text("    - {name: n, count: 1, cpus: 10}\n"
                                        "    - {name: m, count: 1, cpus: 8}\n",
                                        "      - {name: s, cpus: 7, service: 1 s}\n"
                                        "      - {name: t, cpus: 6, service: 1 s}\n"
                                        "      - {name: u, cpus: 5, service: 1 s}\n",
                                        &pool_per_s);
    CHECK_NEAR(pool_per_s, 1, 1e-9);
    CHECK_NEAR(placed_per_s, 0, 1e-7);
}

/* Nodes without GPUs hold no worker of a GPU, however many CPUs they have. */
static void gpus_are_where_they_are(void)
{
    double pool_per_s = 0;
    const double placed_per_s =
        of_text("    - {name: g, count: 1, cpus: 2, gpus: {h100: 8}}\n"
                "    - {name: c, count: 1, cpus: 64}\n",
                "      - {name: s, cpus: 1, gpus: 1, service: 1 s}\n", &pool_per_s);
    CHECK_NEAR(pool_per_s, 8, 1e-9);
    CHECK_NEAR(placed_per_s, 2, 1e-4);
}

/* Quarters of a CPU and eighths of a GPU are whole steps: nothing is lost. */
static void fine_sizes_are_exact(void)
{
    double pool_per_s = 0;
    const double placed_per_s = of_text("    - {name: n, count: 2, cpus: 8, gpus: {h100: 4}}\n",
                                        "      - {name: a, cpus: 0.25, gpus: 0.125, service: 1 s}\n"
                                        "      - {name: b, cpus: 0.25, service: 1 s}\n",
                                        &pool_per_s);
    CHECK_NEAR(pool_per_s, 32, 1e-9);
    CHECK_NEAR(placed_per_s, 32, 1e-4);
}

static const struct test tests[] = {
    { "it is that of another programme", it_is_that_of_another_programme },
    { "parts do not span GPUs", parts_do_not_span_gpus },
    { "workers do not span nodes", workers_do_not_span_nodes },
    { "whole workers have whole places", whole_workers_have_whole_places },
    { "not even one worker each", not_even_one_worker_each },
    { "GPUs are where they are", gpus_are_where_they_are },
    { "fine sizes are exact", fine_sizes_are_exact },
};

TEST_MAIN(tests)
