/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The compute of a GPU as a resource of the activities (sim/engine/activity.h).
 *
 * A GPU on which more may be asked for than there is, or whose users take turns, has a resource: a
 * whole device a ns, less on a slow node. Work on one place with one GPU is an activity on it, so
 * what it gets follows exactly what the others there do, at O(log users) a change. Work that goes
 * on in several places at once is as slow as its slowest place; there it stands on each GPU as an
 * activity without end, so that the others notice it.
 *
 * Parts: demand and cap are the share it uses, so everybody progresses alike. Turns: all of the GPU
 * for a quantum, then a switch (sharing.h). A GPU on which nothing can be scarce has none, and
 * costs nothing.
 */
#ifndef SIM_CLUSTER_COMPUTE_H
#define SIM_CLUSTER_COMPUTE_H

#include "sim/cluster/cluster.h"

/* Gives GPUs their resources, where something may be scarce. */
weir_status sim_compute_open(struct sim_cluster *cluster, struct sim_activities *activities);

/* The one use of compute that a lease works with when its work is on a resource; NULL = it is not,
 * whether the GPU has one or not. */
static inline const struct sim_use *sim_lease_compute(const struct sim_lease *lease)
{
    const struct sim_claim *claim = lease->claim;
    const bool is_one = claim->use_count == 1 && !lease->is_apart;
    const struct sim_use *use = &claim->parts[0].use;
    return is_one && use->slice == NULL && use->gpu_share > 0 ? use : NULL;
}

/* An activity of a use on a GPU that has a resource; `share` of it is not held up elsewhere.
 * Work is counted in compute_rate of it a ns. */
struct sim_activity_spec sim_compute_spec(const struct sim_cluster *cluster, uint32_t node,
                                          const struct sim_use *use, double share);
/* Quanta a ns of a use that has what it asks for. */
uint64_t sim_compute_rate(const struct sim_cluster *cluster, uint32_t node,
                          const struct sim_use *use);

/* What is resident on it changed, and with it what a switch costs. */
void sim_compute_memory(const struct sim_cluster *cluster, const struct sim_node *node,
                        const struct sim_gpu *gpu);

/* Its GPUs compute as fast as the node and their throttles let them. */
weir_status sim_compute_pace(struct sim_cluster *cluster, uint32_t node);
/* The node becomes slow, or is normal again (1). */
weir_status sim_cluster_set_slow(struct sim_cluster *cluster, uint32_t node, double slow);

#endif
