/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How slow a node is (see world.h): a product of what the timeline says, of its own straggling and
 * of drift, worked out here alone. Throttles of its GPUs are theirs (power.c).
 */
#include "sim/cluster/compute.h"
#include "sim/world/world.h"

weir_status sim_world_pace_node(struct sim_world *world, uint32_t node)
{
    const double slow = sim_timeline_factor(world, SIM_ACTION_NODE_SLOW, node) *
                        world->straggle[node] * sim_drift_factor(world, node);
    WEIR_TRY(sim_cluster_set_slow(world->context.cluster, node, slow));
    sim_workers_node_paced(world->workers, node);
    return WEIR_OK;
}
