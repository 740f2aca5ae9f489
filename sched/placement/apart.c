/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "apart": where the memory of GPUs slows down least. A job takes a part b of the
 * bandwidth of each GPU it uses, and waits for it in a part m of its time; where S = max(1, sum b)
 * is asked for each takes (1 - m) + m S times as long (weir_traffic). A place costs what is added
 * to this over all who are on its GPUs, the newcomer included; of equal places the one whose GPUs
 * have least left. So who competes shares a GPU only when no other has room, and who does not fills
 * up what others leave.
 *
 * Jobs that say nothing of their traffic cost nothing and are in nobody's way. GPUs in the same
 * state but for who is on them are different places. Cost: O(candidates x workers of their node).
 */
#include "sched/placement/policies.h"
#include "sched/placement/scan.h"

#include "sched/cluster/state.h"

#include <math.h>

struct pressure_on {
    double asked; /* bandwidth of all who are there */
    double bound; /* sum of their m */
};

static void add_worker(const struct weir_place_query *query, const struct weir_worker *worker,
                       struct pressure_on on[WEIR_MAX_NODE_GPUS])
{
    const struct weir_traffic traffic = weir_place_traffic(query, &worker->owner);

    for (uint32_t d = 0; d < worker->alloc.device_count; d++) {
        struct pressure_on *const gpu = &on[worker->alloc.devices[d].gpu];
        gpu->asked += traffic.bandwidth;
        gpu->bound += traffic.bandwidth > 0 ? traffic.bound : 0;
    }
}

/* What is added on one GPU: to those who are there, and to the newcomer. */
static double added(const struct pressure_on *on, const struct weir_traffic *traffic)
{
    const double before = fmax(1, on->asked);
    const double after = fmax(1, on->asked + traffic->bandwidth);

    return on->bound * (after - before) + traffic->bound * (after - 1);
}

static struct weir_score score(void *state, const struct weir_place_query *query,
                               const struct weir_alloc *candidate)
{
    struct pressure_on on[WEIR_MAX_NODE_GPUS] = { { 0, 0 } };
    struct weir_worker worker;
    uint32_t cursor = 0;
    double cost = 0;
    double left = 0;

    (void)state; /* there is none */
    while (query->traffic.bandwidth > 0 &&
           weir_cluster_node_worker(query->cluster, candidate->node, &cursor, &worker))
        add_worker(query, &worker, on);
    for (uint32_t d = 0; d < candidate->device_count; d++) {
        const struct weir_device *const device = &candidate->devices[d];
        cost += added(&on[device->gpu], &query->traffic);
        left += weir_units_amount(
            weir_cluster_gpu(query->cluster, candidate->node, device->gpu)->units_free -
            device->units);
    }
    return (struct weir_score){ .primary = cost, .secondary = left };
}

static weir_status place(void *state, const struct weir_place_query *query,
                         struct weir_place_answer *answer, struct weir_error *error)
{
    const struct weir_scan scan = { .score = score, .state = state, .mode = WEIR_CANDIDATES_ALL };

    return weir_scan_place(&scan, query, answer, error);
}

const struct weir_placement_ops weir_placement_apart = {
    .size = sizeof weir_placement_apart,
    .abi = WEIR_ABI_MAJOR,
    .name = "apart",
    .summary = "jobs that compete for the memory bandwidth of GPUs on different ones",
    .flags = WEIR_PLACEMENT_WITHOUT_MIX,
    .score = score,
    .place = place,
};
