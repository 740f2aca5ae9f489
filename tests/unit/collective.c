/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The all-reduce of a gigabyte by the places of its ranks, against the formulas by hand: 2 (n-1)/n
 * P over the narrowest way, or level by level.
 */
#include "sim/cluster/collective.h"

#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define JOBS                                                                                       \
    "jobs:\n  - name: w\n    step: {time: 1 s, sync: 1 GB}\n"                                      \
    "    classes: [{name: a, count: 1, run_time: 1 s, request: {cpus: 1}}]\n"

static struct sim_cluster *cluster_of(const char *cluster, struct sim_scenario **scenario)
{
    char text[1000];
    struct sim_cluster *made = NULL;
    (void)snprintf(text, sizeof text, "schema: 2\nname: t\ncluster: {%s}\n" JOBS, cluster);
    *scenario = test_scenario(text, NULL);
    CHECK(*scenario != NULL && sim_cluster_create(*scenario, &made) == WEIR_OK);
    return made;
}

/* "node.gpu node.gpu ..."; a node alone has no GPU. */
static uint32_t read_ranks(const char *places, struct sim_rank *ranks)
{
    uint32_t count = 0;
    char text[200];
    char *rest = text;
    (void)snprintf(text, sizeof text, "%s", places);
    for (char *place = strsep(&rest, " "); place != NULL; place = strsep(&rest, " "), count++) {
        ranks[count] = (struct sim_rank){ .gpu = WEIR_NO_INDEX };
        if (strchr(place, '.') != NULL)
            (void)sscanf(place, "%u.%u", &ranks[count].node, &ranks[count].gpu);
        else
            (void)sscanf(place, "%u", &ranks[count].node);
    }
    return count;
}

static struct sim_reach reach_of(const char *cluster, const char *places)
{
    struct sim_rank ranks[64];
    struct sim_scenario *scenario = NULL;
    struct sim_cluster *made = cluster_of(cluster, &scenario);
    const uint32_t count = read_ranks(places, ranks);
    struct sim_reach reach = { .ranks = 0 };
    if (made != NULL)
        reach = sim_reach_of(made, ranks, count);
    sim_cluster_destroy(made);
    sim_scenario_destroy(scenario);
    return reach;
}

struct exchange {
    const char *cluster, *places;
    double ms, latency_us;
};

#define EIGHT "0.0 0.1 0.2 0.3 0.4 0.5 0.6 0.7"
#define APART "0.3 1.1 2.0 3.7 4.2 5.5 6.6 7.4"
#define NODES "nodes: [{name: n, count: 8, cpus: 8, gpus: {h100: 8}, "

static void check_all(const struct exchange *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct sim_reach reach = reach_of(cases[i].cluster, cases[i].places);
        CHECK_NEAR(1e3 * sim_all_reduce_s(&reach, 1e9), cases[i].ms, 1e-6 * cases[i].ms);
        CHECK_NEAR(1e6 * sim_all_reduce_latency_s(&reach), cases[i].latency_us, 1e-9);
    }
}

/* covers: S1.12 */
static void the_narrowest_way_decides_in_every_topology(void)
{
    static const struct exchange cases[] = {
        /* one NVLink domain: 3.9 ms; of a ninth of the bandwidth 35 ms */
        { NODES "nvlink: 450 GB/s}]", EIGHT, 2 * 0.875 / 0.450, 50 },
        { NODES "nvlink: 50 GB/s}]", EIGHT, 35, 50 },
        /* one PCIe switch */
        { NODES "nvlink: 0, pcie: 25 GB/s}]", EIGHT, 70, 50 },
        /* one node, every GPU an island of its own: over PCIe */
        { NODES "nvlink: 450 GB/s, pcie: 25 GB/s, islands: 1}]", EIGHT, 70, 50 },
        /* one rack: the interfaces, or PCIe before them */
        { NODES "nic: 50 GB/s}]", APART, 35, 500 },
        { NODES "nic: 50 GB/s, pcie: 25 GB/s}]", APART, 70, 500 },
        /* over racks: the uplinks, or the interfaces before them */
        { NODES "nic: 50 GB/s}], racks: {nodes: 1, uplink: 10 GB/s}", APART, 175, 500 },
        { NODES "nic: 50 GB/s}], racks: {nodes: 1, uplink: 800 GB/s}", APART, 35, 500 },
    };
    check_all(cases, sizeof cases / sizeof cases[0]);
    CHECK_NEAR(cases[0].ms, 3.9, 0.01 * 3.9);
}

/* k nodes of g GPUs: (g-1)/g P out and back in the node, 2 (k-1)/k P between them. */
static void levels_are_taken_one_by_one_where_that_is_faster(void)
{
    static const struct exchange cases[] = {
        { NODES "nvlink: 450 GB/s, nic: 50 GB/s}]", "0.0 1.4 0.2 1.6 0.4 1.1 0.6 1.7",
          2 * 0.75 / 0.45 + 2 * 0.5 / 0.05, 500 },
        /* interfaces as fast as NVLink: one ring */
        { NODES "nvlink: 450 GB/s, nic: 500 GB/s, pcie: 200 GB/s}]",
          "0.0 1.4 0.2 1.6 0.4 1.1 0.6 1.7", 2 * 0.875 / 0.45, 500 },
        /* islands of a node */
        { NODES "nvlink: 450 GB/s, pcie: 50 GB/s, islands: 4}]", EIGHT,
          2 * 0.75 / 0.45 + 2 * 0.5 / 0.05, 50 },
        /* four GPUs of a node feed its interface: 4 x 10 GB/s */
        { NODES "nvlink: 450 GB/s, pcie: 10 GB/s, nic: 50 GB/s}]",
          "0.0 0.1 0.2 0.3 1.0 1.1 1.2 1.3", 2 * 0.75 / 0.45 + 2 * 0.5 / 0.04, 500 },
        /* racks of two nodes */
        { NODES "nic: 50 GB/s}], racks: {nodes: 2, uplink: 20 GB/s}", "0.0 1.0 2.0 3.0",
          2 * 0.5 / 0.05 + 2 * 0.5 / 0.02, 500 },
        /* nodes that differ: the slower interface */
        { "nodes: [{name: n, cpus: 8, gpus: {h100: 8}}, {name: m, cpus: 8, gpus: {t4: 2}, nic: 1 "
          "GB/s}]",
          "0.0 1.0", 1000, 500 },
        /* unequal groups: the larger island and the slower way out decide */
        { NODES "nvlink: 100 GB/s, nic: 50 GB/s, pcie: 10 GB/s}]", "0.0 0.1 0.2 1.0",
          2 * 2.0 / 3 / 0.1 + 2 * 0.5 / 0.01, 500 },
    };
    check_all(cases, sizeof cases / sizeof cases[0]);
}

/* 4 GiB between 4 x 8 B200 with an interface of 400 Gb/s each took 22 ms (ml-engineering); with
 * what the catalogue says of such nodes the model is at most a tenth away. */
static void the_defaults_are_near_a_measurement(void)
{
    const struct sim_reach reach =
        reach_of("nodes: [{name: n, count: 4, cpus: 8, gpus: {b200: 8}}]",
                 "0.0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 1.0 1.1 1.2 1.3 1.4 1.5 1.6 1.7 "
                 "2.0 2.1 2.2 2.3 2.4 2.5 2.6 2.7 3.0 3.1 3.2 3.3 3.4 3.5 3.6 3.7");
    CHECK_NEAR(1e3 * sim_all_reduce_s(&reach, 4294967296.0), 22, 2.2);
}

static void ranks_without_gpus_exchange_over_the_network_alone(void)
{
    static const struct exchange cases[] = {
        { NODES "nic: 50 GB/s}]", "0.5", 0, 0 },
        { NODES "nic: 50 GB/s}]", "0 0 0 0", 0, 50 },
        { NODES "nic: 50 GB/s}]", "0 1 0 1", 20, 500 },
    };
    check_all(cases, sizeof cases / sizeof cases[0]);
}

struct given {
    const char *cluster;
    double nvlink, pcie, nic;
    size_t assumptions;
};

static void what_nobody_gave_is_of_the_catalogue_and_said(void)
{
    static const struct given cases[] = {
        { NODES "}]", 450, 55, 400, 2 },
        { NODES "nvlink: 100 GB/s, pcie: 10 GB/s, nic: 1 GB/s}]", 100, 10, 1, 0 },
        { NODES "islands: 4}]", 450, 55, 400, 3 },
        { "nodes: [{name: n, cpus: 8, gpus: {t4: 4}}]", 0, 12.3, 12.5, 1 },
        { "nodes: [{name: n, count: 2, cpus: 8, gpus: {g1: 4}}]", 0, 12.3, 12.5, 2 },
        { "nodes: [{name: n, count: 2, cpus: 8, gpus: {a100-80: 4}}]", 300, 25, 100, 2 },
        { "nodes: [{name: n, count: 2, cpus: 8}]", 0, 12.3, 12.5, 1 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sim_scenario *scenario = NULL;
        sim_cluster_destroy(cluster_of(cases[i].cluster, &scenario));
        if (scenario == NULL)
            continue;
        const struct sim_fabric *fabric = &scenario->node_types[0].fabric;
        CHECK_NEAR(fabric->nvlink_per_s, 1e9 * cases[i].nvlink, 1);
        CHECK_NEAR(fabric->pcie_per_s, 1e9 * cases[i].pcie, 1);
        CHECK_NEAR(fabric->nic_per_s, 1e9 * cases[i].nic, 1);
        CHECK_I64(scenario->assumptions_count, cases[i].assumptions);
        sim_scenario_destroy(scenario);
    }
}

static const struct test tests[] = {
    { "the narrowest way decides in every topology", the_narrowest_way_decides_in_every_topology },
    { "levels are taken one by one where that is faster",
      levels_are_taken_one_by_one_where_that_is_faster },
    { "the defaults are near a measurement", the_defaults_are_near_a_measurement },
    { "ranks without GPUs exchange over the network alone",
      ranks_without_gpus_exchange_over_the_network_alone },
    { "what nobody gave is of the catalogue and said",
      what_nobody_gave_is_of_the_catalogue_and_said },
};
TEST_MAIN(tests)
