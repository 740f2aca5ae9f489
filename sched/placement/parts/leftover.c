/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leftover shares of a place; see leftover.h.
 */
#include "sched/placement/parts/leftover.h"

#include "sched/cluster/state.h"

static double device_leftover(const struct weir_gpu *gpus, const struct weir_alloc *alloc)
{
    int64_t left = 0;
    int64_t touched = 0;

    for (uint32_t d = 0; d < alloc->device_count; d++) {
        const struct weir_device *const device = &alloc->devices[d];
        if (device->units == 0)
            continue;
        left += gpus[device->gpu].units_free - device->units;
        touched += WEIR_ONE;
    }
    return touched > 0 ? (double)left / (double)touched : 0;
}

static double node_leftover(const struct weir_node *node, const struct weir_gpu *gpus,
                            const struct weir_alloc *alloc)
{
    int64_t compute_left = 0;
    int64_t compute_total = 0;
    double sum = 0;
    int kinds = 0;

    for (uint32_t g = 0; g < node->gpu_count; g++) {
        compute_left += gpus[g].units_free;
        compute_total += gpus[g].units_total;
    }
    for (uint32_t d = 0; d < alloc->device_count; d++)
        compute_left -= alloc->devices[d].units;
    if (node->cpu_total > 0) {
        sum += (double)(node->cpu_free - alloc->cpu_units) / (double)node->cpu_total;
        kinds++;
    }
    if (compute_total > 0) {
        sum += (double)compute_left / (double)compute_total;
        kinds++;
    }
    return kinds > 0 ? sum / kinds : 0;
}

struct weir_score weir_leftover(const struct weir_cluster *cluster, const struct weir_alloc *alloc)
{
    const struct weir_node *const node = &cluster->nodes[alloc->node];
    const struct weir_gpu *const gpus = cluster->gpus + node->gpu_first;

    return (struct weir_score){ .primary = device_leftover(gpus, alloc),
                                .secondary = node_leftover(node, gpus, alloc) };
}
