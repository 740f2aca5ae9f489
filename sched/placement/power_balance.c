/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "power_balance": the place after which the power of the nodes differs least, by its
 * standard deviation over those that are up; of equal ones the GPUs with least left.
 *
 * A GPU draws its full power when something is on it and its idle power else (weir_gpu_spec; where
 * that is not known 1 and 0), so a job that joins others on a GPU changes nothing. With S the sum
 * of the powers p and Q that of their squares over n nodes, d watts more on a node make the n-fold
 * variance Q + 2 p d + d^2 - (S + d)^2 / n. CPUs are not looked at.
 *
 * Cost: O(GPUs of the cluster) a question.
 */
#include "sched/placement/parts/leftover.h"
#include "sched/placement/parts/scan.h"
#include "sched/placement/policies.h"

#include "sched/cluster/state.h"

/* The cluster as it is. */
struct powers {
    double nodes, sum, squares;
};

static double watts(const struct weir_gpu *gpu, bool is_used)
{
    if (gpu->full_w == 0)
        return is_used ? 1 : 0;
    return is_used ? gpu->full_w : gpu->idle_w;
}

static double node_watts(const struct weir_cluster *cluster, uint32_t node)
{
    double sum = 0;

    for (uint32_t g = 0; g < cluster->nodes[node].gpu_count; g++) {
        const struct weir_gpu *const gpu = weir_cluster_gpu(cluster, node, g);
        sum += watts(gpu, gpu->units_free < gpu->units_total);
    }
    return sum;
}

static struct weir_score score(void *state, const struct weir_place_query *query,
                               const struct weir_alloc *candidate)
{
    const struct powers *const all = state;
    const double before = node_watts(query->cluster, candidate->node);
    double more = 0;

    for (uint32_t d = 0; d < candidate->device_count; d++) {
        const struct weir_device *const device = &candidate->devices[d];
        const struct weir_gpu *const gpu =
            weir_cluster_gpu(query->cluster, candidate->node, device->gpu);
        more += watts(gpu, true) - watts(gpu, gpu->units_free < gpu->units_total);
    }
    const double sum = all->sum + more;
    return (struct weir_score){ .primary = all->squares + 2 * before * more + more * more -
                                           sum * sum / all->nodes,
                                .secondary = weir_leftover(query->cluster, candidate).primary };
}

static weir_status place(void *state, const struct weir_place_query *query,
                         struct weir_place_answer *answer, struct weir_error *error)
{
    struct powers all = { 0 };
    const struct weir_scan scan = { .score = score, .state = &all, .mode = WEIR_CANDIDATES_ALL };

    (void)state; /* there is none */
    for (uint32_t n = 0; n < query->cluster->node_count; n++) {
        const double power = node_watts(query->cluster, n);
        if ((query->cluster->nodes[n].flags & WEIR_NODE_UP) == 0)
            continue;
        all.nodes++;
        all.sum += power;
        all.squares += power * power;
    }
    return weir_scan_place(&scan, query, answer, error);
}

const struct weir_placement_ops weir_placement_power_balance = {
    .size = sizeof weir_placement_power_balance,
    .abi = WEIR_ABI_MAJOR,
    .name = "power_balance",
    .summary = "the place after which the power of the nodes' GPUs differs least",
    .flags = WEIR_PLACEMENT_WITHOUT_MIX,
    .place = place,
};
