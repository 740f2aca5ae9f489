/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exchange between ranks; see the header. */
#include "sim/cluster/collective.h"

#include "sim/cluster/topology.h"

#include <math.h>
#include <stdlib.h>

/* ---- what they span ---- */

/* Ranks in the order of their places; `at` is the next one. */
struct walk {
    const struct sim_cluster *cluster;
    const struct sim_rank *ranks;
    uint32_t count, at;
    struct sim_reach *reach;
};

/* Some parts of a group, and the ways over which they reach the other parts. */
struct parts {
    uint32_t count;
    double narrowest, sum;
};

static void add_part(struct parts *parts, double per_s)
{
    parts->narrowest = parts->count == 0 ? per_s : fmin(parts->narrowest, per_s);
    parts->sum += per_s;
    parts->count++;
}

static double share_moved(uint32_t parts)
{
    return 2.0 * (parts - 1) / parts;
}

/* The parts of one group of the level exchange. */
static void note(struct sim_reach *reach, enum sim_level level, const struct parts *parts)
{
    const double s = share_moved(parts->count) / parts->narrowest;
    if (parts->count < 2)
        return;
    reach->narrowest[level] = fmin(reach->narrowest[level], parts->narrowest);
    reach->s_per_byte[level] = fmax(reach->s_per_byte[level], s);
}

static const struct sim_fabric *fabric_of(const struct walk *walk, uint32_t node)
{
    return walk->cluster->nodes[node].fabric;
}

static uint32_t island_of(const struct walk *walk, const struct sim_rank *rank)
{
    return rank->gpu == WEIR_NO_INDEX ? WEIR_NO_INDEX
                                      : sim_gpu_island(walk->cluster, rank->node, rank->gpu);
}

/* Passes the ranks of an island; returns how many have a GPU. */
static uint32_t pass_island(struct walk *walk)
{
    const struct sim_rank *first = &walk->ranks[walk->at];
    const struct sim_fabric *fabric = fabric_of(walk, first->node);
    const uint32_t island = island_of(walk, first);
    struct parts gpus = { .count = 0 };
    for (; walk->at < walk->count && walk->ranks[walk->at].node == first->node &&
           island_of(walk, &walk->ranks[walk->at]) == island;
         walk->at++)
        if (island != WEIR_NO_INDEX)
            add_part(&gpus, fabric->nvlink_per_s > 0 ? fabric->nvlink_per_s : fabric->pcie_per_s);
    note(walk->reach, SIM_LEVEL_ISLAND, &gpus);
    return gpus.count;
}

/* Passes the ranks of a node; returns the way out of it. */
static double pass_node(struct walk *walk)
{
    const uint32_t node = walk->ranks[walk->at].node;
    const struct sim_fabric *fabric = fabric_of(walk, node);
    struct parts islands = { .count = 0 };
    uint32_t gpus = 0;
    while (walk->at < walk->count && walk->ranks[walk->at].node == node) {
        const uint32_t found = pass_island(walk);
        gpus += found;
        if (found > 0)
            add_part(&islands, fabric->pcie_per_s);
    }
    note(walk->reach, SIM_LEVEL_NODE, &islands);
    walk->reach->nodes++;
    return gpus == 0 ? fabric->nic_per_s : fmin(fabric->nic_per_s, gpus * fabric->pcie_per_s);
}

/* Without racks all nodes are in one. */
static uint32_t rack_of(const struct walk *walk, uint32_t node)
{
    const uint32_t per_rack = walk->cluster->scenario->racks.nodes;
    return per_rack == 0 ? 0 : node / per_rack;
}

/* Likewise of a rack. */
static double pass_rack(struct walk *walk)
{
    const uint32_t rack = rack_of(walk, walk->ranks[walk->at].node);
    const double uplink_per_s = walk->cluster->scenario->racks.uplink_per_s; /* 0 = not scarce */
    struct parts nodes = { .count = 0 };
    while (walk->at < walk->count && rack_of(walk, walk->ranks[walk->at].node) == rack)
        add_part(&nodes, pass_node(walk));
    note(walk->reach, SIM_LEVEL_RACK, &nodes);
    return uplink_per_s > 0 ? fmin(uplink_per_s, nodes.sum) : nodes.sum;
}

static int by_place(const void *left, const void *right)
{
    const struct sim_rank *a = left;
    const struct sim_rank *b = right;
    if (a->node != b->node)
        return a->node < b->node ? -1 : 1;
    return a->gpu == b->gpu ? 0 : a->gpu < b->gpu ? -1 : 1;
}

struct sim_reach sim_reach_of(const struct sim_cluster *cluster, struct sim_rank *ranks,
                              uint32_t count)
{
    struct sim_reach reach = { .ranks = count };
    struct walk walk = { .cluster = cluster, .ranks = ranks, .count = count, .reach = &reach };
    struct parts racks = { .count = 0 };
    for (int level = 0; level < SIM_LEVELS; level++)
        reach.narrowest[level] = (double)INFINITY;
    qsort(ranks, count, sizeof *ranks, by_place);
    while (walk.at < walk.count)
        add_part(&racks, pass_rack(&walk));
    note(&reach, SIM_LEVEL_CLUSTER, &racks);
    return reach;
}

/* ---- how long it takes ---- */

double sim_all_reduce_s(const struct sim_reach *reach, double bytes)
{
    double narrowest = (double)INFINITY;
    double by_levels = 0;
    for (int level = 0; level < SIM_LEVELS; level++) {
        narrowest = fmin(narrowest, reach->narrowest[level]);
        by_levels += reach->s_per_byte[level];
    }
    return bytes * fmin(share_moved(reach->ranks) / narrowest, by_levels);
}

double sim_all_reduce_latency_s(const struct sim_reach *reach)
{
    if (reach->ranks < 2)
        return 0;
    return reach->nodes < 2 ? 50e-6 : 500e-6;
}
