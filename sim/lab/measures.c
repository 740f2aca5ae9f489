/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measurements by node and their sums; see the header. */
#include "sim/lab/measures.h"

#include <math.h>
#include <stdlib.h>

static const double fixed_scale = 268435456;

struct sim_measures_node {
    int64_t parts[SIM_PARTS];
};

weir_status sim_measures_create(struct sim_measures *measures, const struct sim_target *target,
                                const struct sim_cluster *cluster)
{
    const size_t count = (size_t)cluster->node_count + 1;
    *measures = (struct sim_measures){ .target = target,
                                       .cluster = cluster,
                                       .frag = calloc(count, sizeof(*measures->frag)),
                                       .nodes = calloc(count, sizeof(*measures->nodes)) };
    return measures->frag == NULL || measures->nodes == NULL ? WEIR_ENOMEM : WEIR_OK;
}

void sim_measures_clear(struct sim_measures *measures)
{
    free(measures->frag);
    free(measures->nodes);
    *measures = (struct sim_measures){ .frag = NULL };
}

void sim_measures_update(struct sim_measures *measures, uint32_t rank, uint32_t node)
{
    struct sim_buckets buckets;
    double parts[SIM_PARTS];
    measures->frag[rank] = sim_target_buckets(measures->target, measures->cluster, node, &buckets);
    const struct sim_power_draw draw = sim_power_node(measures->cluster, node);
    for (int b = 0; b < SIM_BUCKETS; b++)
        parts[b] = buckets.milli[b];
    parts[SIM_PART_FRAG] = measures->frag[rank];
    parts[SIM_PART_GPU_POWER] = draw.gpu_w;
    parts[SIM_PART_CPU_POWER] = draw.cpu_w;
    for (int p = 0; p < SIM_PARTS; p++) {
        const int64_t part = (int64_t)llround(parts[p] * fixed_scale);
        measures->sums[p] += part - measures->nodes[rank].parts[p];
        measures->nodes[rank].parts[p] = part;
    }
}

double sim_measures_part(const struct sim_measures *measures, uint32_t part)
{
    return (double)measures->sums[part] / fixed_scale;
}
