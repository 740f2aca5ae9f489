/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "best_fit": the place that leaves least behind, first on its GPUs, then on its node
 * (leftover.h). It packs. Removes the youngest worker.
 */
#include "sched/placement/leftover.h"
#include "sched/placement/policies.h"

static struct weir_score score(void *state, const struct weir_place_query *query,
                               const struct weir_alloc *candidate)
{
    (void)state; /* there is none */
    return weir_leftover(query->cluster, candidate);
}

const struct weir_placement_ops weir_placement_best_fit = {
    .size = sizeof weir_placement_best_fit,
    .abi = WEIR_ABI_MAJOR,
    .name = "best_fit",
    .summary = "the place that leaves the smallest share free, on its GPUs, then on its node",
    .score = score,
};
