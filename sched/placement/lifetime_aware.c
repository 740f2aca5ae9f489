/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "lifetime_aware": jobs that end together on the same nodes, so that whole nodes come
 * free (NILAS, Ling et al., "LAVA: Lifetime-Aware VM Allocation", MLSys 2025).
 *
 * A node ends with the last of those who are on it, an empty one now. The node whose end has to be
 * put off least is taken, by classes: not at all, at most 0.5, 1, 2, 4, 8, 16, 32, 168 hours, more;
 * of equal ones the node that has least GPU left, then the first. Ends are asked for anew at every
 * question: who runs longer than its estimate ends now. Workers of pools, and jobs without an
 * estimate, stay for ever.
 *
 * Cost: O(candidates x workers of their node).
 */
#include "sched/placement/parts/scan.h"
#include "sched/placement/policies.h"

#include "sched/cluster/state.h"

static const double later_h[] = { 0, 0.5, 1, 2, 4, 8, 16, 32, 168 };
static const double ns_per_h = 3600e9;

/* When the last of those on the node is over; `now_ns` when there is nobody. */
static double node_end_ns(const struct weir_place_query *query, uint32_t node, double now_ns)
{
    struct weir_worker worker;
    uint32_t cursor = 0;
    double end_ns = now_ns;

    while (weir_cluster_node_worker(query->cluster, node, &cursor, &worker)) {
        const double own_ns = (double)weir_place_end_ns(query, &worker.owner);
        end_ns = own_ns > end_ns ? own_ns : end_ns;
    }
    return end_ns;
}

static double class_of(double later_ns)
{
    uint32_t class = 0;

    while (class < sizeof later_h / sizeof *later_h && later_ns > later_h[class] * ns_per_h)
        class ++;
    return class;
}

static double gpu_left(const struct weir_place_query *query, const struct weir_alloc *candidate)
{
    int64_t left = 0;

    for (uint32_t g = 0; g < query->cluster->nodes[candidate->node].gpu_count; g++)
        left += weir_cluster_gpu(query->cluster, candidate->node, g)->units_free;
    for (uint32_t d = 0; d < candidate->device_count; d++)
        left -= candidate->devices[d].units;
    return weir_units_amount(left);
}

static struct weir_score score(void *state, const struct weir_place_query *query,
                               const struct weir_alloc *candidate)
{
    const double now_ns = (double)weir_place_now_ns(query);
    const double own_ns = (double)weir_place_end_ns(query, &query->owner);

    (void)state; /* there is none */
    return (struct weir_score){ .primary =
                                    class_of(own_ns - node_end_ns(query, candidate->node, now_ns)),
                                .secondary = gpu_left(query, candidate) };
}

const struct weir_placement_ops weir_placement_lifetime_aware = {
    .size = sizeof weir_placement_lifetime_aware,
    .abi = WEIR_ABI_MAJOR,
    .name = "lifetime_aware",
    .summary = "jobs that end together on the same nodes, by their estimates",
    .flags = WEIR_PLACEMENT_WITHOUT_MIX,
    .score = score,
};
