/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What lies idle in the end of a static experiment, by the same rules as in a pipeline's run: the
 * kinds of jobs of the target workload stand for its stages.
 */
#include "sim/lab/lab.h"
#include "sim/record/meter/fragmentation.h"

#include <stdlib.h>

static void add_node(const struct sim_frag_mix *mix, const struct sim_cluster *cluster,
                     uint32_t node, struct sim_frag *spare)
{
    struct weir_gpu gpus[WEIR_MAX_NODE_GPUS];
    const struct weir_node host = sim_cluster_free(cluster, node, gpus);
    const struct sim_frag frag = sim_frag_node(mix, &host, gpus);
    for (int p = 0; p < SIM_FRAG_COUNT; p++)
        spare->part[p] += frag.part[p];
}

weir_status sim_lab_spare(const struct sim_lab *lab, struct sim_frag *spare)
{
    const struct sim_target *target = sim_lab_target(lab);
    const struct sim_cluster *cluster = sim_lab_cluster(lab);
    struct sim_meter_stage_info *kinds = calloc(target->count + 1, sizeof(*kinds));
    struct sim_frag_mix mix;
    if (kinds == NULL)
        return WEIR_ENOMEM;
    for (uint32_t k = 0; k < target->count; k++) {
        kinds[k].mix = target->frequencies[k];
        kinds[k].shape = target->shapes[k];
    }
    sim_frag_mix_open(&mix, kinds, target->count);
    *spare = (struct sim_frag){ { 0 } };
    for (uint32_t n = 0; n < cluster->node_count; n++)
        add_node(&mix, cluster, n, spare);
    free(kinds);
    return WEIR_OK;
}
