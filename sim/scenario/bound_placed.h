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
 * It stays a bound: CPUs and GPUs alone are counted, sizes of workers are rounded down to steps and
 * those of nodes up, other work is left out, nodes may be filled by parts of ways, and where the
 * programme is unsure the counts pass.
 */
#ifndef SIM_SCENARIO_BOUND_PLACED_H
#define SIM_SCENARIO_BOUND_PLACED_H

#include "sim/scenario/bound.h"

/* Source items a second; at most bound->integer_per_s, and equal to it where nodes change nothing
 * or nothing can be said: stages one after the other, workers that span nodes, many node types.
 * Cost: 1 to 100 knapsacks a node type, some ms. WEIR_ENOMEM. */
weir_status sim_bound_placed(const struct sim_bound_problem *problem, const struct sim_bound *bound,
                             double *rate_per_s);

#endif
