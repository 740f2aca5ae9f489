/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is near what inside a node: sockets and islands as the scenario gives them.
 */
#include "sim/cluster/topology.h"

#include "tests/support/check.h"
#include "tests/support/job_rows.h"
#include "tests/support/runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STAGE                                                                                      \
    "pipelines:\n  - name: p\n    input: {items: 1}\n"                                             \
    "    stages:\n      - {name: a, cpus: 1, workers: 1, service: 1 s}\n"

static struct sim_scenario *scenario_of(const char *catalog, const char *node)
{
    char text[1000];
    (void)snprintf(text, sizeof text,
                   "schema: 2\nname: t\n%s"
                   "cluster: {nodes: [{name: n, %s}]}\n" STAGE,
                   catalog, node);
    return test_scenario(text, NULL);
}

struct near {
    const char *node;
    uint32_t sockets;
    uint32_t socket_of[8], island_of[8];
};

/* covers: S1.33 S1.35 */
static void gpus_are_divided_evenly_and_in_order(void)
{
    static const struct near cases[] = {
        { "cpus: 64, gpus: {h100: 8}", 1, { 0 }, { 0 } },
        { "cpus: 64, gpus: {h100: 8}, sockets: 2, islands: 4",
          2,
          { 0, 0, 0, 0, 1, 1, 1, 1 },
          { 0, 0, 0, 0, 1, 1, 1, 1 } },
        { "cpus: 64, gpus: {h100: 8}, sockets: 2, islands: 2",
          2,
          { 0, 0, 0, 0, 1, 1, 1, 1 },
          { 0, 0, 1, 1, 2, 2, 3, 3 } },
        { "cpus: 64, gpus: {h100: 4, l4: 4}, sockets: 4", 4, { 0, 0, 1, 1, 2, 2, 3, 3 }, { 0 } },
        { "cpus: 64, gpus: {h100: 2}, sockets: 4", 4, { 0, 2 }, { 0 } },
        { "type: m, islands: 1", 2, { 0, 0, 1, 1 }, { 0, 1, 2, 3 } },
        { "type: m, sockets: 1", 1, { 0 }, { 0, 0, 1, 1 } },
    };
    static const char *const type =
        "catalog: {node_types: {m: {cpus: 64, gpus: {h100: 4}, sockets: 2, islands: 2}}}\n";
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sim_scenario *scenario = scenario_of(type, cases[i].node);
        struct sim_cluster *cluster = NULL;
        CHECK(scenario != NULL);
        if (scenario == NULL || !CHECK_I64(sim_cluster_create(scenario, &cluster), WEIR_OK))
            continue;
        CHECK_I64(sim_node_sockets(cluster, 0), cases[i].sockets);
        for (uint32_t g = 0; g < cluster->gpu_count; g++) {
            CHECK_I64(sim_gpu_socket(cluster, 0, g), cases[i].socket_of[g]);
            CHECK_I64(sim_gpu_island(cluster, 0, g), cases[i].island_of[g]);
        }
        sim_cluster_destroy(cluster);
        sim_scenario_destroy(scenario);
    }
}

static void cpus_of_sockets_are_all_of_the_node(void)
{
    struct sim_scenario *scenario =
        scenario_of("", "cpus: 13.0000001, gpus: {h100: 6}, sockets: 3");
    struct sim_cluster *cluster = NULL;
    CHECK(scenario != NULL);
    if (scenario == NULL || !CHECK_I64(sim_cluster_create(scenario, &cluster), WEIR_OK))
        return;
    int64_t sum = 0;
    for (uint32_t s = 0; s < 3; s++) {
        CHECK(sim_socket_cpus(cluster, 0, s) >= 13 * WEIR_ONE / 3);
        sum += sim_socket_cpus(cluster, 0, s);
    }
    CHECK_I64(sum, cluster->nodes[0].cpu_total);
    sim_cluster_destroy(cluster);
    sim_scenario_destroy(scenario);
}

/* ---- penalty ---- */

enum { SPANS = 16 };
static const double LATE = 1e-8;

struct ends {
    double took_s[SPANS];
    uint32_t stage[SPANS];
    size_t count;
};

static void add_span(void *state, const struct sim_span *span)
{
    struct ends *ends = state;
    if (ends->count == SPANS)
        return;
    ends->stage[ends->count] = span->stage;
    ends->took_s[ends->count++] = sim_time_s(span->end_ns - span->start_ns);
}

/* `cluster`: keys of the cluster with its one node of 64 CPUs and 8 GPUs; `stages` are pipelines of
 * their own. */
static struct ends run(const char *node, const char *pipelines)
{
    char text[2000];
    struct ends ends = { .count = 0 };
    (void)snprintf(text, sizeof text,
                   "schema: 2\nname: t\n"
                   "cluster: {nodes: [{name: n, cpus: 64, gpus: {h100: 8}, %s}]}\n"
                   "sched: {placement: first_fit, scaling: {policy: fixed, interval: 10000 s}}\n"
                   "pipelines:\n%s",
                   node, pipelines);
    const struct sim_observer observer = { .span = add_span, .state = &ends };
    free(test_watch_text(text, &observer));
    return ends;
}

#define PIPELINE(name, workers, stage)                                                             \
    "  - name: " name "\n    semantics: event\n    backpressure: none\n"                           \
    "    input: {items: " workers "}\n    stages:\n"                                               \
    "      - {name: s, workers: " workers ", service: 100 s, " stage "}\n"

struct numa_case {
    const char *node, *pipelines;
    double took_s[2]; /* by stage */
    size_t count;
};

/* covers: S1.33 */
/* 32 CPUs and four GPUs are on a socket. */
static void cpus_away_from_the_gpu_cost_the_penalty(void)
{
    static const struct numa_case cases[] = {
        { "sockets: 2", PIPELINE("p", "1", "cpus: 32, gpus: 1"), { 100 }, 1 },
        { "sockets: 2", PIPELINE("p", "1", "cpus: 33, gpus: 1"), { 115 }, 1 },
        { "sockets: 1", PIPELINE("p", "1", "cpus: 33, gpus: 1"), { 100 }, 1 },
        { "sockets: 2, numa_penalty: 1.5", PIPELINE("p", "1", "cpus: 33, gpus: 1"), { 150 }, 1 },
        { "sockets: 4", PIPELINE("p", "1", "cpus: 17, gpus: 1"), { 115 }, 1 },
        { "sockets: 2", PIPELINE("p", "1", "cpus: 48, gpus: 5"), { 100 }, 1 }, /* on both */
        { "sockets: 2", PIPELINE("p", "1", "cpus: 48"), { 100 }, 1 },          /* near nothing */
        { "sockets: 2, share: timeslice", PIPELINE("p", "1", "cpus: 33, gpus: 1"), { 115 }, 1 },
        { "sockets: 2, power_cap: 9 kW", PIPELINE("p", "1", "cpus: 33, gpus: 1"), { 115 }, 1 },
        /* all of the first socket are taken: the second worker goes to the other one */
        { "sockets: 2",
          PIPELINE("p", "1", "cpus: 32, gpus: 1") PIPELINE("q", "1", "cpus: 2, gpus: 1"),
          { 100, 100 },
          2 },
        { "sockets: 2, islands: 8",
          PIPELINE("p", "1", "cpus: 20, gpus: 1") PIPELINE("q", "1", "cpus: 20, gpus: 1"),
          { 100, 100 },
          2 },
        /* 12 are left on each */
        { "sockets: 2",
          PIPELINE("p", "2", "cpus: 20, gpus: 1") PIPELINE("q", "1", "cpus: 13, gpus: 1"),
          { 100, 115 },
          3 },
        /* an island counts more than a socket */
        { "sockets: 4, islands: 4",
          PIPELINE("p", "1", "cpus: 40, gpus: 3") PIPELINE("q", "1", "cpus: 12, gpus: 1"),
          { 115, 100 },
          2 },
        /* those without a GPU leave as many on both */
        { "sockets: 2",
          PIPELINE("p", "2", "cpus: 30") PIPELINE("q", "1", "cpus: 2, gpus: 1"),
          { 100, 100 },
          3 },
        { "sockets: 2",
          PIPELINE("p", "2", "cpus: 30") PIPELINE("q", "1", "cpus: 3, gpus: 1"),
          { 100, 115 },
          3 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct ends ends = run(cases[i].node, cases[i].pipelines);
        CHECK_I64(ends.count, cases[i].count);
        for (size_t e = 0; e < ends.count; e++)
            if (!CHECK_NEAR(ends.took_s[e], cases[i].took_s[ends.stage[e]], LATE))
                (void)printf("    %s\n%s", cases[i].node, cases[i].pipelines);
    }
}

static void check_job(void *state, const struct sim_job_row *row)
{
    uint32_t *seen = state;
    CHECK_NEAR(sim_time_s(row->end_ns - row->start_ns), 100, LATE);
    ++*seen;
}

/* One job after the other has all CPUs near its GPU: the next finds them there again. */
static void cpus_that_are_given_back_are_near_again(void)
{
    uint32_t seen = 0;
    const struct sim_observer observer = { .job = check_job, .state = &seen };
    free(test_watch_text(
        "schema: 2\nname: t\n"
        "cluster: {nodes: [{name: n, cpus: 64, gpus: {h100: 8}, sockets: 2}]}\n"
        "sched: {placement: first_fit}\n"
        "jobs:\n"
        "  - name: w\n    run_time: const(100 s)\n    classes:\n"
        "      - {name: a, count: 5, at: 0 s, every: 150 s, request: {cpus: 32, gpus: 1}}\n",
        &observer));
    CHECK_I64(seen, 5);
}

/* ---- racks ---- */

/* Nodes of a gang's two ranks: the first node lacks four GPUs, two nodes are a rack. */
static void check_gang(const char *placement, uint32_t first, uint32_t second)
{
    char text[1000];
    struct test_job_rows rows = { .count = 0 };
    (void)snprintf(
        text, sizeof text,
        "schema: 2\nname: t\n"
        "cluster:\n  nodes: [{name: n, count: 6, cpus: 64, gpus: {h100: 8}}]\n"
        "  racks: {nodes: 2}\n"
        "sched: {placement: %s}\n"
        "jobs:\n"
        "  - name: w\n    run_time: const(100 s)\n    classes:\n"
        "      - {name: a, count: 1, at: 0 s, request: {cpus: 1, gpus: 4}}\n"
        "      - {name: b, count: 1, at: 1 s, members: 2, request: {cpus: 1, gpus: 8}}\n",
        placement);
    struct sim_scenario *scenario = test_scenario(text, NULL);
    struct sim_run_summary *summary = test_summary();
    CHECK(scenario != NULL);
    if (scenario != NULL && CHECK_I64(test_job_rows_run(scenario, true, &rows, summary), WEIR_OK) &&
        CHECK_I64(rows.count, 2) && CHECK(rows.rows[1].places != NULL)) {
        CHECK_I64(rows.rows[1].places[0].node, first);
        CHECK_I64(rows.rows[1].places[1].node, second);
    }
    test_job_rows_clear(&rows);
    free(summary);
    sim_scenario_destroy(scenario);
}

/* covers: S1.115 */
static void a_gang_stays_inside_a_rack(void)
{
    check_gang("first_fit", 1, 2);
    check_gang("topology", 2, 3);
}

static const struct test tests[] = {
    { "GPUs are divided evenly and in order", gpus_are_divided_evenly_and_in_order },
    { "CPUs of sockets are all of the node", cpus_of_sockets_are_all_of_the_node },
    { "CPUs away from the GPU cost the penalty", cpus_away_from_the_gpu_cost_the_penalty },
    { "CPUs that are given back are near again", cpus_that_are_given_back_are_near_again },
    { "a gang stays inside a rack", a_gang_stays_inside_a_rack },
};
TEST_MAIN(tests)
