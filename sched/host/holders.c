/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who holds what was asked for: the device that comes nearest to having room for a shape, and the
 * workers on it.
 *
 * Idea: of all nodes that are up, the one that lacks the smallest part of what a worker needs: of
 * the first thing it is short of (CPUs, memory), or of the fullest GPU the worker would have to
 * use. The first of equal ones. Nodes that could never hold the worker (no GPU, another type) are
 * left out. Cost: O(nodes and their GPUs) a denial; none with explain off.
 */
#include "sched/cluster/state.h"
#include "sched/host/placer_state.h"
#include "sched/internal/plan.h"
#include "sched/placement/candidates.h"

#include <math.h>

enum { HOLDERS_MOST = 4 }; /* a denial */

struct nearest {
    uint32_t node, gpu;
    double missing; /* part of what is needed */
};

static double missing(int64_t need, int64_t free)
{
    return need > free ? (double)(need - free) / (double)need : 0;
}

/* How many free GPUs come before this one: freer, or as free and earlier. */
static uint32_t freer(const struct weir_cluster *cluster, uint32_t node, uint32_t gpu)
{
    const struct weir_node *const books = weir_cluster_node(cluster, node);
    const int64_t free = weir_cluster_gpu(cluster, node, gpu)->units_free;
    uint32_t count = 0;

    for (uint32_t g = 0; g < books->gpu_count; g++) {
        const int64_t other = weir_cluster_gpu(cluster, node, g)->units_free;
        count += other > free || (other == free && g < gpu);
    }
    return count;
}

/* The last of the GPUs that a worker would take if it took the freest ones. */
static void look_at_gpus(const struct weir_cluster *cluster, const struct weir_shape *shape,
                         struct nearest *at)
{
    const struct weir_node *const books = weir_cluster_node(cluster, at->node);
    const uint32_t wanted = shape->gpu_count > 0 ? shape->gpu_count : 1;

    for (uint32_t g = 0; g < books->gpu_count; g++) {
        const struct weir_gpu *const gpu = weir_cluster_gpu(cluster, at->node, g);
        if (freer(cluster, at->node, g) + 1 != wanted)
            continue;
        at->gpu = g;
        at->missing = missing(shape->gpu_units, gpu->units_free);
        const double memory = missing(shape->gpu_mem_bytes, gpu->mem_free_bytes);
        at->missing = memory > at->missing ? memory : at->missing;
    }
}

static struct nearest look_at_node(const struct weir_cluster *cluster,
                                   const struct weir_shape *shape, uint32_t node)
{
    const struct weir_node *const books = weir_cluster_node(cluster, node);
    struct nearest at = { .node = node, .gpu = WEIR_NO_INDEX, .missing = (double)INFINITY };

    switch (weir_candidates_reason(cluster, shape, node)) {
    case WEIR_REASON_NODE_DOWN:
    case WEIR_REASON_NO_GPU:
    case WEIR_REASON_GPU_TYPE:
        return at;
    case WEIR_REASON_CPU:
        at.missing = missing(shape->cpu_units, books->cpu_free);
        return at;
    case WEIR_REASON_RAM:
        at.missing = missing(shape->ram_bytes, books->ram_free_bytes);
        return at;
    default:
        look_at_gpus(cluster, shape, &at);
        return at;
    }
}

static bool is_on(const struct weir_worker *worker, uint32_t gpu)
{
    bool found = gpu == WEIR_NO_INDEX;

    for (uint32_t d = 0; d < worker->alloc.device_count; d++)
        found = found || worker->alloc.devices[d].gpu == gpu;
    return found;
}

weir_status weir_note_holders(struct weir_plan *plan, const struct weir_cluster *cluster,
                              const struct weir_shape *shape, struct weir_owner denied)
{
    const uint32_t nodes = weir_cluster_node_count(cluster);
    struct nearest best = { .node = WEIR_NO_INDEX, .missing = (double)INFINITY };
    struct weir_worker worker;
    uint32_t cursor = 0;
    uint32_t count = 0;

    if (weir_plan_explain(plan) == WEIR_EXPLAIN_OFF)
        return WEIR_OK;
    for (uint32_t n = 0; n < nodes; n++) {
        const struct nearest at = look_at_node(cluster, shape, n);
        if (at.missing < best.missing)
            best = at;
    }
    while (best.node != WEIR_NO_INDEX && count < HOLDERS_MOST &&
           weir_cluster_node_worker(cluster, best.node, &cursor, &worker)) {
        if (!is_on(&worker, best.gpu))
            continue;
        const struct weir_holder holder = { .denied = denied,
                                            .owner = worker.owner,
                                            .worker = worker.id,
                                            .node = best.node,
                                            .gpu = best.gpu };
        WEIR_TRY(weir_plan_holder(plan, &holder));
        count++;
    }
    return WEIR_OK;
}
