/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Drift: its moments over nodes and steps, what it does to work under way, and that it moves no
 * draw of another.
 */
#include "sim/cluster/cluster.h"
#include "sim/world/world.h"
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { NODES = 400, STEPS = 200, STEP_S = 60 };

/* A world that begins; `scenario` is the caller's to destroy. */
static struct sim_world *open_world(const char *text, struct sim_scenario **scenario)
{
    static const struct sim_run_options options = { .seed = 11 };
    static struct weir_error error; /* the world keeps writing to it */
    struct sim_world *world = NULL;
    error = (struct weir_error){ .phase = -1 };
    *scenario = test_scenario(text, NULL);
    if (!CHECK(*scenario != NULL) ||
        !CHECK(sim_world_create(*scenario, &options, &world, &error) == WEIR_OK))
        abort();
    CHECK_I64(sim_world_begin(world), WEIR_OK);
    return world;
}

/* ---- moments ---- */

/* Slow-downs of all nodes at all steps, [step][node]. */
static double *walk(const char *drift)
{
    char text[600];
    struct sim_scenario *scenario = NULL;
    double *slow = calloc((size_t)STEPS * NODES, sizeof(*slow));
    (void)snprintf(text, sizeof(text),
                   "schema: 2\nname: t\nhorizon: 100 h\n"
                   "cluster: {nodes: [{name: n, cpus: 1, count: %d}], drift: [%s]}\n"
                   "sched: {scaling: {policy: fixed, interval: 90 h}}\n"
                   "pipelines: [{name: p, input: {items: 1, arrivals: const(99 h)},"
                   " stages: [{name: a, service: 1 s, workers: 1}]}]\n",
                   NODES, drift);
    struct sim_world *world = open_world(text, &scenario);
    for (int s = 0; s < STEPS && slow != NULL; s++) {
        CHECK_I64(sim_world_advance(world, (int64_t)s * STEP_S * SIM_NS_PER_S), WEIR_OK);
        for (int n = 0; n < NODES; n++)
            slow[s * NODES + n] = world->context.cluster->nodes[n].slow;
    }
    sim_world_destroy(world);
    sim_scenario_destroy(scenario);
    return slow;
}

struct moments {
    double mean, cv, correlation; /* of neighbouring steps, of the logarithms */
};

static struct moments moments_of(const double *slow)
{
    double sum = 0, squares = 0, logs = 0, log_squares = 0, products = 0;
    const double count = (double)STEPS * NODES;
    for (int i = 0; i < STEPS * NODES; i++) {
        const double log_slow = log(slow[i]);
        sum += slow[i];
        squares += slow[i] * slow[i];
        logs += log_slow;
        log_squares += log_slow * log_slow;
        products += i < NODES ? 0 : log_slow * log(slow[i - NODES]);
    }
    const double mean = sum / count;
    const double log_mean = logs / count;
    const double variance = log_squares / count - log_mean * log_mean;
    return (struct moments){ mean, sqrt(squares / count - mean * mean) / mean,
                             (products / (count - NODES) - log_mean * log_mean) / variance };
}

/* 80 000 factors of 400 independent walks. With correlation r the mean of a walk has the standard
 * error cv sqrt((1 + r) / (1 - r) / 80 000): 0.0023 at cv 0.3 and r 0.6, and 5 of them are allowed.
 */
static void a_factor_has_the_moments_it_promises(void)
{
    static const struct {
        const char *drift;
        double cv, correlation;
    } cases[] = {
        { "{of: node, step: 1 min, cv: 0.1}", 0.1, 0 },
        { "{of: node, step: 1 min, cv: 0.3, correlation: 0.6}", 0.3, 0.6 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        double *slow = walk(cases[i].drift);
        const struct moments got = moments_of(slow);
        CHECK_NEAR(got.mean, 1, 5 * 0.0023);
        CHECK_NEAR(got.cv, cases[i].cv, 0.03 * cases[i].cv + 0.003);
        CHECK_NEAR(got.correlation, cases[i].correlation, 0.02);
        free(slow);
    }
}

static void one_of_the_cluster_is_that_of_every_node(void)
{
    double *slow = walk("{of: cluster, step: 1 min, cv: 0.3}");
    bool has_moved = false;
    for (int s = 0; s < STEPS; s++) {
        has_moved = has_moved || fabs(slow[s * NODES] - slow[0]) > 0.01;
        for (int n = 1; n < NODES; n++)
            CHECK_NEAR(slow[s * NODES + n], slow[s * NODES], 0);
    }
    CHECK(has_moved);
    free(slow);
}

/* Both together are a product: what they share makes nodes alike by s1^2 / (s1^2 + s2^2). */
static void nodes_share_what_is_common(void)
{
    double *node = walk("{of: node, step: 1 min, cv: 0.2}");
    double *common = walk("{of: cluster, step: 1 min, cv: 0.2}");
    double *both = walk("{of: node, step: 1 min, cv: 0.2}, {of: cluster, step: 1 min, cv: 0.2}");
    for (int i = 0; i < STEPS * NODES; i++)
        CHECK_NEAR(both[i], node[i] * common[i], 1e-12);
    free(node);
    free(common);
    free(both);
}

static void full_correlation_stays_as_it_began(void)
{
    double *slow = walk("{of: node, step: 1 min, cv: 0.3, correlation: 1}");
    for (int i = NODES; i < STEPS * NODES; i++)
        CHECK_NEAR(slow[i], slow[i % NODES], 1e-12);
    CHECK(fabs(slow[0] - slow[1]) > 1e-6);
    free(slow);
}

/* ---- work ---- */

#define LINE(drift)                                                                                \
    "schema: 2\nname: t\ncluster: {nodes: [{name: n, cpus: 8, gpus: {l40s: 1}}]" drift "}\n"       \
    "sched: {placement: first_fit, scaling: {policy: fixed, interval: 10000 s}}\n"                 \
    "pipelines: [{name: p, semantics: event, input: {items: 1},"                                   \
    " stages: [{name: a, " STAGE ", workers: 1, service: 1000 s}]}]\n"                             \
    "timeline: [{at: 200 s, for: 300 s, action: node_slow, node: n, factor: 2}]\n"

/* The task of 1 000 s is over when the integral of 1 / slow is 1 000 s, steps and the timeline
 * (twice as slow for 300 s) included. */
static void check_work(const char *text)
{
    struct sim_scenario *scenario = NULL;
    struct sim_world *world = open_world(text, &scenario);
    double done_s = 0;
    double end_s = 0;
    for (int s = 1; done_s < 1000 && s < 1000; s++) {
        CHECK_I64(sim_world_advance(world, (int64_t)(s - 1) * 20 * SIM_NS_PER_S), WEIR_OK);
        const double slow = world->context.cluster->nodes[0].slow;
        end_s = 20.0 * (s - 1) + (1000 - done_s) * slow;
        done_s += 20 / slow;
    }
    CHECK_I64(sim_world_advance(world, 4000 * SIM_NS_PER_S), WEIR_OK);
    const int64_t ended_ns = test_stage(world, 0)->pipeline->completed_ns;
    CHECK_NEAR(sim_time_s(ended_ns), end_s, 1e-4);
    CHECK(fabs(end_s - 1150) > 1); /* what the timeline alone makes of it */
    sim_world_destroy(world);
    sim_scenario_destroy(scenario);
}

static void work_under_way_goes_on_at_the_new_rate(void)
{
#define STAGE "cpus: 1"
    check_work(LINE(", drift: [{step: 20 s, cv: 0.5, correlation: 0.8}]"));
#undef STAGE
#define STAGE "cpus: 1, gpus: 0.5"
    check_work(LINE(", drift: [{of: cluster, step: 40 s, cv: 0.5}]"));
#undef STAGE
}

/* ---- draws ---- */

static int64_t demand_of(const char *drift)
{
    char text[700];
    struct sim_scenario *scenario = NULL;
    (void)snprintf(text, sizeof(text),
                   "schema: 2\nname: t\ncluster: {nodes: [{name: n, cpus: 8}]%s}\n"
                   "pipelines: [{name: p, semantics: event,"
                   " input: {items: 300, size: exp(2), arrivals: exp(1 s)},"
                   " stages: [{name: a, service: exp(2 s)}, {name: b, service: exp(1 s)}]}]\n",
                   drift);
    struct sim_world *world = open_world(text, &scenario);
    CHECK_I64(sim_world_advance(world, scenario->horizon_ns), WEIR_OK);
    CHECK_I64(test_stage(world, 0)->pipeline->finished, 300);
    const int64_t demand_ns = test_stage(world, 0)->pipeline->demand_ns;
    sim_world_destroy(world);
    sim_scenario_destroy(scenario);
    return demand_ns;
}

static void drift_moves_no_draw_of_another(void)
{
    CHECK_I64(demand_of(", drift: [{step: 10 s, cv: 0.4}, {of: cluster, step: 7 s, cv: 0.2}]"),
              demand_of(""));
}

static const struct test tests[] = {
    { "a factor has the moments it promises", a_factor_has_the_moments_it_promises },
    { "one of the cluster is that of every node", one_of_the_cluster_is_that_of_every_node },
    { "nodes share what is common", nodes_share_what_is_common },
    { "full correlation stays as it began", full_correlation_stays_as_it_began },
    { "work under way goes on at the new rate", work_under_way_goes_on_at_the_new_rate },
    { "drift moves no draw of another", drift_moves_no_draw_of_another },
};
TEST_MAIN(tests)
