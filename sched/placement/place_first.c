/* SPDX-License-Identifier: Apache-2.0 */
/* The first place on one node: no policy, for initial states (see weir/policy.h). */
#include "sched/placement/candidates.h"
#include "weir/policy.h"

static bool take_first(void *state, const struct weir_alloc *candidate)
{
    *(struct weir_alloc *)state = *candidate;
    return false;
}

weir_status weir_place_first(const struct weir_cluster *cluster, uint32_t node,
                             const struct weir_shape *shape, struct weir_alloc *alloc)
{
    const struct weir_candidate_query query = { .cluster = cluster, .shape = shape, .node = node };
    struct weir_alloc found;
    if (weir_candidates_visit(&query, take_first, &found) == 0)
        return WEIR_EBUSY;
    *alloc = found;
    return WEIR_OK;
}
