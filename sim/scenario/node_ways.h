/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The most valuable way to fill one node with workers: a knapsack over CPUs and GPUs, solved by
 * dynamic programming. Workers take CPUs and nothing else, a part of one GPU, or whole GPUs, in
 * whole steps; parts are packed GPU by GPU. Cost: O(GPUs CPUs rises + (GPUs + steps)
 * CPUs items), rises = numbers of CPUs at which one GPU of parts is worth more.
 */
#ifndef SIM_SCENARIO_NODE_WAYS_H
#define SIM_SCENARIO_NODE_WAYS_H

#include "weir/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One kind of worker. At most one of `part` and `gpus` is not 0. */
struct sim_way_item {
    uint32_t cpus; /* steps of CPUs */
    uint32_t part; /* steps of one GPU */
    uint32_t gpus; /* whole ones */
    bool is_allowed;
    double value;
};

struct sim_way_node {
    uint32_t cpus; /* steps of CPUs */
    uint32_t gpus;
    uint32_t steps; /* of a GPU */
};

struct sim_node_ways;

/* Room for nodes up to these sizes; the caller destroys it. NULL = out of memory. */
struct sim_node_ways *sim_node_ways_create(const struct sim_way_node *largest);
void sim_node_ways_destroy(struct sim_node_ways *ways);

/* The value of the best way, and how many of each item it has. */
double sim_node_ways_fill(struct sim_node_ways *ways, const struct sim_way_node *node,
                          const struct sim_way_item *items, size_t count, double *workers);

#endif
