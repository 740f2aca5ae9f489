/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How long ranks take to exchange bytes, by where they are: the all-reduce at the end of a step.
 *
 * Ranks stand in groups within groups: in one island (an NVLink domain, or a PCIe switch where
 * there is no NVLink), on one node, in one rack, in the cluster. At each of these levels that they
 * span, the groups of the level below reach each other over one way each:
 *
 *   island   its GPUs over NVLink, else over PCIe
 *   node     its islands over PCIe, one way each
 *   rack     its nodes over their network interfaces, and no faster than PCIe feeds these
 *   cluster  its racks over their uplinks, and no faster than their nodes feed these
 *
 * Time of n ranks with P bytes each (alpha-beta model): alpha + P x the smaller of
 *
 *   one ring    2 (n-1)/n / B, B = the narrowest way of all levels they span
 *   by levels   sum of 2 (c-1)/c / B over the levels, c groups and the narrowest way of each:
 *               reduce-scatter from the inside out, all-gather back
 *
 * (Patarasuk and Yuan 2009 for the ring; libraries choose the faster way, too.) What else moves
 * over the same links takes nothing from it.
 *
 * Ranks without a GPU exchange in no time on one node.
 */
#ifndef SIM_CLUSTER_COLLECTIVE_H
#define SIM_CLUSTER_COLLECTIVE_H

#include "sim/cluster/cluster.h"

enum sim_level { SIM_LEVEL_ISLAND, SIM_LEVEL_NODE, SIM_LEVEL_RACK, SIM_LEVEL_CLUSTER, SIM_LEVELS };

struct sim_rank {
    uint32_t node;
    uint32_t gpu; /* of the node; WEIR_NO_INDEX = none */
};

/* What ranks span. */
struct sim_reach {
    uint32_t ranks, nodes;
    double narrowest[SIM_LEVELS];  /* bytes a second, INFINITY = the level is not spanned */
    double s_per_byte[SIM_LEVELS]; /* of its group that takes longest */
};

/* Of at least one rank; sorts them by place. O(n log n). */
struct sim_reach sim_reach_of(const struct sim_cluster *cluster, struct sim_rank *ranks,
                              uint32_t count);

/* Without the latency. */
double sim_all_reduce_s(const struct sim_reach *reach, double bytes);

/* Latency of one: 50 us on one node, 0.5 ms over several (derived from ml-engineering's
 * measurements of all-reduces by payload, Aug 2026). */
double sim_all_reduce_latency_s(const struct sim_reach *reach);

#endif
