/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The order of a static experiment: which rows of the pod table arrive, one after the other, and
 * the rank of every node (of equal nodes the lowest rank is first).
 *
 * Arrivals come from a file of kept orders, or are the rows of the table as they stand or shuffled;
 * then `demand` trims them: rows drawn with replacement arrive in addition at the end until the
 * next would pass the demanded share of the cluster's GPUs, or arrivals chosen at random are left
 * out until it is no longer passed. Ranks come from the file, from the order of the nodes, or are
 * shuffled. Everything random belongs to (seed, replication), never to the policy, so that all
 * variants of a comparison meet the same arrivals and the same nodes.
 */
#ifndef SIM_LAB_ARRIVAL_ORDER_H
#define SIM_LAB_ARRIVAL_ORDER_H

#include "sim/engine/random.h"
#include "sim/scenario/scenario.h"
#include "workloads/openb.h"

struct sim_order_query {
    const struct sim_workload *workload;
    struct sim_random random;
    uint32_t nodes;
    uint32_t gpus; /* of all nodes */
};

/* Fills `order`; free it with wl_openb_order_clear(). WEIR_EFORMAT when a kept order is not of this
 * table and cluster, WEIR_EINFEASIBLE when the demand cannot be reached. */
weir_status sim_arrival_order(const struct sim_order_query *query, struct wl_openb_order *order,
                              struct weir_error *error);

#endif
