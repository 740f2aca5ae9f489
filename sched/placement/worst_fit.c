/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "worst_fit": the place that leaves most behind, first on its GPUs, then on its node
 * (leftover.h). It levels the load. Removes the youngest worker.
 */
#include "sched/placement/leftover.h"
#include "sched/placement/policies.h"

static struct weir_score score(void *state, const struct weir_place_query *query,
                               const struct weir_alloc *candidate)
{
    const struct weir_score left = weir_leftover(query->cluster, candidate);

    (void)state; /* there is none */
    return (struct weir_score){ .primary = -left.primary, .secondary = -left.secondary };
}

const struct weir_placement_ops weir_placement_worst_fit = {
    .size = sizeof weir_placement_worst_fit,
    .abi = WEIR_ABI_MAJOR,
    .name = "worst_fit",
    .summary = "the place that leaves the largest share free, on its GPUs, then on its node",
    .score = score,
};
