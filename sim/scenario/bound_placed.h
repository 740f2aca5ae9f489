/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What whole workers reach on nodes: the integer bound (bound.h) takes the cluster for one pool,
 * here every worker stands on a node.
 *
 * For a rate z stage i has x_i = max(1, ceil(z / c_i)) workers, or its fixed number. They pass when
 * fractions of nodes, each filled in a way that one node can be filled, hold them: the largest
 * lambda with sum_p n_ip y_p >= lambda x_i and sum of y over the ways of a node type <= its nodes
 * is at least 1. The ways are found as they are needed, the most valuable one under the dual prices
 * (column generation: Gilmore and Gomory, Operations Research 9, 1961). The answer is the largest z
 * that passes, by bisection.
 *
 * On at most four nodes whole workers are asked for (node_pack.h), from that z downwards, count by
 * count, until they have places or the search has gone on for too long.
 *
 * It stays a bound: CPUs and GPUs alone are counted, sizes of workers are rounded down to steps and
 * those of nodes up, other work is left out, nodes may be filled by parts of ways, and where the
 * programme is unsure the counts pass.
 */
#ifndef SIM_SCENARIO_BOUND_PLACED_H
#define SIM_SCENARIO_BOUND_PLACED_H

#include "sim/scenario/bound.h"

enum sim_placed_by {
    SIM_PLACED_POOL,  /* nothing can be said of nodes */
    SIM_PLACED_PARTS, /* nodes may be filled by parts of ways */
    SIM_PLACED_WHOLE, /* few nodes: each worker has CPUs and GPUs on one */
    SIM_PLACED_LIMIT  /* few nodes, and the search for such places was cut off */
};

struct sim_placed {
    double rate_per_s; /* source items a second; at most bound->integer_per_s */
    /* Plans that change over time on average: the same programme without whole workers and without
     * one of each stage at all times. At most bound->fluid_per_s. */
    double in_time_per_s;
    enum sim_placed_by by;
};

/* Nothing can be said, and the answer is bound->integer_per_s, of stages one after the other,
 * workers that span nodes, and many node types. Cost: 1 to 100 knapsacks a node type, some ms; on
 * few nodes up to 100 integer programmes. WEIR_ENOMEM. */
weir_status sim_bound_placed(const struct sim_bound_problem *problem, const struct sim_bound *bound,
                             struct sim_placed *answer);

#endif
