/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What bytes move over: network interfaces of nodes, uplinks of racks, stores outside the nodes.
 *
 * Each is a resource of the activities (sim/engine/activity.h): so many bytes a second, in a
 * direction where it has two. A transfer uses all links on its way at once, and those that share
 * links share them max-min fairly; what is not given has no link and is never scarce. A transfer
 * inside one node uses none.
 *
 * Classes of a store: those of one class have its guaranteed share of the bandwidth together, as
 * weights of the max-min: what a class leaves goes to the others in proportion to their shares. A
 * class with a limit never has more, all of it together.
 *
 * Invariant (sim_links_check): what a link delivered is no more than bandwidth x time, no less than
 * what the transfers over it brought to their end, and no more than what they began with.
 */
#ifndef SIM_CLUSTER_LINK_H
#define SIM_CLUSTER_LINK_H

#include "sim/cluster/cluster.h"

#include <math.h>

/* Where bytes come from and go to: two nodes, or a store and a node, either way round. */
struct sim_way {
    uint32_t from, to; /* nodes; WEIR_NO_INDEX = the store */
    uint32_t store;    /* WEIR_NO_INDEX = none */
    uint32_t traffic;  /* class at the store, 0 = none */
};

enum { SIM_WAY_LINKS = 4 };

/* The interface of a node, or a store, gives nothing until it is back: what moves over it stands
 * still. */
weir_status sim_links_set_node(struct sim_cluster *cluster, uint32_t node, bool is_out);
weir_status sim_links_set_store(struct sim_cluster *cluster, uint32_t store, bool is_out);

/* Both at so much less than their bandwidth; INFINITY = they give nothing. Beside what is out. */
weir_status sim_links_slow_node(struct sim_cluster *cluster, uint32_t node, double times);
weir_status sim_links_slow_store(struct sim_cluster *cluster, uint32_t store, double times);

/* Makes the links among the activities. */
weir_status sim_links_open(struct sim_cluster *cluster, struct sim_activities *activities);
void sim_links_close(struct sim_cluster *cluster);

/* Writes the links of the way into `found`; returns how many. */
uint32_t sim_links_on(const struct sim_cluster *cluster, const struct sim_way *way,
                      uint32_t found[SIM_WAY_LINKS]);
/* A transfer of these bytes as an activity; its owner is the caller's to fill in. */
struct sim_activity_spec sim_transfer_spec(const struct sim_cluster *cluster,
                                           const struct sim_way *way, double bytes);
/* Time before the first byte: latency and items of a store. */
int64_t sim_way_delay_ns(const struct sim_cluster *cluster, const struct sim_way *way,
                         uint64_t items);

/* A transfer began as `work`; it is over, or taken away with so much work left. */
weir_status sim_links_begun(struct sim_cluster *cluster, const struct sim_way *way, double bytes,
                            sim_handle work);
weir_status sim_links_over(struct sim_cluster *cluster, const struct sim_way *way, double bytes,
                           sim_handle work, sim_quanta left);

/* Adds how much of what they could give links gave, up to now: every store, every link over
 * which something went, the interfaces of all nodes together, and the one that gave most. */
struct sim_results;
void sim_links_results(const struct sim_cluster *cluster, int64_t now_ns, struct sim_results *out);

/* Tells the meter what each has delivered up to now, and gives from now on at most. */
void sim_links_meter(const struct sim_cluster *cluster, struct sim_meter *meter, int64_t now_ns);
/* How many there could be; some are not modelled. */
uint32_t sim_links_count(const struct sim_cluster *cluster);
/* A row for each that is modelled. */
struct sim_recorder;
weir_status sim_links_record(const struct sim_cluster *cluster, struct sim_recorder *recorder,
                             struct weir_error *error);

weir_status sim_links_check(const struct sim_cluster *cluster, int64_t now_ns,
                            struct weir_error *error);

/* Quanta of bytes; what is beyond the bound of the engine never arrives. */
static inline sim_quanta sim_bytes_work(double bytes)
{
    const double most = 7e16;
    return bytes < most ? (sim_quanta)(uint64_t)llround(bytes) * 1000000000U << 16
                        : SIM_WORK_ENDLESS;
}

#endif
