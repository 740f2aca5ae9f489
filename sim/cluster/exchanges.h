/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whose exchanges meet on the ways out of nodes (`cluster.exchange`).
 *
 * A job in steps that stands on several nodes computes for c and exchanges for x when it is alone.
 * With others j that exchange over the way out of one of its nodes its exchange takes
 *
 *   alone      x: nobody is in its way
 *   clashing   sum over all there, itself included, of min(x, x_j): all begin at once and share
 *              alike. The worst case, whatever lengths their steps have
 *   aligned    x + max(0, sum of x_j - (c + x)) over those whose steps are as long as its own: they
 *              are shifted against one another and wait only when one step cannot hold all
 *              exchanges (Cassini, Rajasekaran et al., NSDI 2024). Others drift over it: they clash
 *
 * and of all its nodes the worst counts. Steps are as long as one another within a hundredth. Ways
 * inside nodes and above racks are everybody's own.
 *
 * Invariant: a job is on the list of a node at most once.
 */
#ifndef SIM_CLUSTER_EXCHANGES_H
#define SIM_CLUSTER_EXCHANGES_H

#include "sim/cluster/cluster.h"

weir_status sim_exchanges_open(struct sim_cluster *cluster);
void sim_exchanges_close(struct sim_cluster *cluster);

/* What a job is when it is alone. */
struct sim_exchanging {
    double step_s, exchange_s;
};

/* A job exchanges over the way out of a node, too. Its nodes are told one right after the other;
 * *chain is 0 before the first, names them then, and stays where it is. */
weir_status sim_exchanges_enter(struct sim_cluster *cluster, uint32_t node,
                                const struct sim_exchanging *job, uint32_t *chain);
/* It does so no more over one of them; false when none was left. */
bool sim_exchanges_leave(struct sim_cluster *cluster, uint32_t *chain, uint32_t *node);
/* What its exchange takes now. */
double sim_exchanges_s(const struct sim_cluster *cluster, uint32_t chain);

#endif
