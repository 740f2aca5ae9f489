/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is near what inside a node: sockets and islands as the scenario gives them.
 */
#include "sim/cluster/topology.h"

#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <stdio.h>
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

static const struct test tests[] = {
    { "GPUs are divided evenly and in order", gpus_are_divided_evenly_and_in_order },
    { "CPUs of sockets are all of the node", cpus_of_sockets_are_all_of_the_node },
};
TEST_MAIN(tests)
