/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Telling a scheduler about nodes; see the header. */
#include "sim/scenario/belief.h"

#include <math.h>

/* Whole watts; 0 when the catalogue does not know. */
static uint16_t watts(double power_w)
{
    return power_w > 0 ? (uint16_t)lround(fmin(power_w, UINT16_MAX)) : 0;
}

static struct weir_topology topology_of(const struct sim_scenario *scenario,
                                        const struct sim_node_type *type, uint32_t index)
{
    return (struct weir_topology){ .sockets = type->topology.sockets,
                                   .island_gpus = type->topology.island_gpus,
                                   .rack = scenario->racks.nodes == 0
                                               ? 0
                                               : index / scenario->racks.nodes,
                                   .labels = sim_scenario_node_labels(scenario, index) };
}

weir_status sim_belief_node(const struct sim_scenario *scenario, uint32_t index,
                            struct weir_gpu_spec gpus[WEIR_MAX_NODE_GPUS],
                            struct weir_node_spec *spec, struct weir_error *error)
{
    const struct sim_node_type *type = sim_scenario_node_type(scenario, index);
    const uint32_t group = sim_scenario_node_group(scenario, index);
    uint32_t count = 0;
    for (size_t i = 0; i < type->gpus_count; i++) {
        const struct sim_gpu_type *belief = &scenario->gpu_types[type->gpus[i].type];
        const struct weir_gpu_spec gpu = {
            .type = type->gpus[i].type,
            .nvdecs = belief->nvdecs,
            .nvencs = belief->nvencs,
            .idle_w = watts(belief->idle_w),
            .full_w = watts(belief->limit_w),
            .units = WEIR_ONE,
            .mem_bytes = belief->mem_bytes,
            .mig = type->share == SIM_SHARING_MIG ? belief->mig : NULL,
            .mig_cut = type->cuts == NULL ? 0 : type->cuts[i],
        };
        for (uint32_t g = 0; g < type->gpus[i].count && count < WEIR_MAX_NODE_GPUS; g++)
            gpus[count++] = gpu;
    }
    *spec = (struct weir_node_spec){ .size = sizeof(struct weir_node_spec),
                                     .id = index,
                                     .type = scenario->node_groups[group].supply.max > 0 ? group + 1
                                                                                         : 0,
                                     .gpu_count = count,
                                     .ram_bytes = type->ram_bytes,
                                     .gpus = gpus,
                                     .topology = topology_of(scenario, type, index) };
    return weir_units_from_amount(type->cpus, WEIR_QUANTUM_EXACT, &spec->cpu_units, error);
}
