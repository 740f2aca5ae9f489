/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The scheduler's inventory; see the header. */
#include "sim/jobs/belief.h"

weir_status sim_belief_add_node(struct weir_cluster *belief, const struct sim_scenario *scenario,
                                uint32_t index, struct weir_error *error)
{
    const struct sim_node_type *type = sim_scenario_node_type(scenario, index);
    struct weir_gpu_spec gpus[WEIR_MAX_NODE_GPUS] = { 0 };
    struct weir_node_spec spec = { .id = index,
                                   .gpu_count = sim_scenario_gpu_specs(scenario, index, gpus),
                                   .ram_bytes = type->ram_bytes,
                                   .gpus = gpus };
    WEIR_TRY(weir_units_from_amount(type->cpus, WEIR_QUANTUM_EXACT, &spec.cpu_units, error));
    return weir_cluster_add_node(belief, &spec, NULL, error);
}
