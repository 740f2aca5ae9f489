/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The scheduler's inventory; see the header. */
#include "sim/jobs/belief.h"

#include "sim/belief.h"

weir_status sim_belief_add_node(struct weir_cluster *belief, const struct sim_scenario *scenario,
                                uint32_t index, struct weir_error *error)
{
    struct weir_gpu_spec gpus[WEIR_MAX_NODE_GPUS];
    struct weir_node_spec spec;
    WEIR_TRY(sim_belief_node(scenario, index, gpus, &spec, error));
    return weir_cluster_add_node(belief, &spec, NULL, error);
}
