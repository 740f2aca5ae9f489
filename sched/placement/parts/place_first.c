/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A place on one node that is given: no policy (see weir/policy.h and scan.h).
 */
#include "sched/placement/parts/scan.h"

#include "sched/cluster/state.h"

static bool take_first(void *state, const struct weir_alloc *candidate)
{
    weir_place_copy(state, candidate);
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

struct tightest {
    const struct weir_cluster *cluster;
    struct weir_alloc *alloc;
    int64_t least_left;
    bool is_share;
};

static bool take_tightest(void *state, const struct weir_alloc *candidate)
{
    struct tightest *const pick = state;
    int64_t left = 0;

    if (pick->is_share)
        left =
            weir_cluster_gpu(pick->cluster, candidate->node, candidate->devices[0].gpu)->units_free;
    if (left < pick->least_left) {
        pick->least_left = left;
        weir_place_copy(pick->alloc, candidate);
    }
    return pick->is_share;
}

bool weir_place_tightest(const struct weir_place_query *query, uint32_t node,
                         struct weir_alloc *alloc)
{
    const struct weir_candidate_query candidates = {
        .cluster = query->cluster, .shape = query->shape, .node = node, .asked = query
    };
    struct tightest pick = { .cluster = query->cluster,
                             .alloc = alloc,
                             .least_left = INT64_MAX,
                             .is_share = weir_shape_is_share(query->shape) };

    return weir_candidates_visit(&candidates, take_tightest, &pick) > 0;
}
