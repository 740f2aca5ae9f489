/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All bundles of a group on one node, by search.
 *
 * Going through the bundles once, the larger first and each on its tightest device, misses places:
 * two GPUs hold shares of 0.5 + 0.3 + 0.2 and 0.4 + 0.4 + 0.2, but 0.5 + 0.4 leaves no room for
 * the last. So where a node has enough by its sums every place of every bundle is tried, depth
 * first, up to a number of tries: that many is exact for groups of a few bundles, and a bound on
 * the time for large ones.
 */
#include "sched/cluster/state.h"
#include "sched/placement/parts/candidates.h"
#include "sched/placement/parts/group.h"

enum { TRIES_MOST = 4096, DEPTH_MOST = 64 };

struct search {
    const struct weir_group_query *query;
    struct weir_alloc *allocs;
    uint32_t node, tries;
    weir_status status; /* WEIR_OK, or what ended it */
    struct weir_error *error;
};

struct turn {
    struct search *search;
    uint32_t bundle;
    bool is_placed; /* and all behind it */
};

static bool place_rest(struct search *search);

/* One place of a bundle, and the rest behind it. False = look no further. */
static bool try_place(void *state, const struct weir_alloc *candidate)
{
    struct turn *const turn = state;
    struct search *const search = turn->search;
    struct weir_cluster *const scratch = search->query->scratch;

    if (search->tries == TRIES_MOST)
        return false;
    search->tries++;
    const struct weir_alloc place = *candidate;
    search->status = weir_cluster_mark(scratch);
    if (search->status != WEIR_OK)
        return false;
    search->status = weir_cluster_add_worker(scratch, UINT64_MAX - turn->bundle,
                                             search->query->owner, &place, search->error);
    if (search->status == WEIR_OK) {
        search->allocs[turn->bundle] = place;
        turn->is_placed = place_rest(search);
    }
    if (turn->is_placed) {
        weir_cluster_release(scratch);
        return false;
    }
    weir_cluster_rollback(scratch);
    search->allocs[turn->bundle].node = WEIR_NO_INDEX;
    return search->status == WEIR_OK;
}

/* Whether all bundles without a place get one. */
static bool place_rest(struct search *search)
{
    const uint32_t bundle = weir_group_next(search->query, search->allocs, WEIR_NO_INDEX);
    struct turn turn = { .search = search, .bundle = bundle };
    struct weir_twins twins;

    if (bundle == WEIR_NO_INDEX)
        return true;
    weir_twins_find(search->query->scratch, search->node, &twins);
    const struct weir_candidate_query places = { .cluster = search->query->scratch,
                                                 .shape = &search->query->bundles[bundle],
                                                 .twins = &twins,
                                                 .node = search->node };
    (void)weir_candidates_visit(&places, try_place, &turn);
    return turn.is_placed;
}

static bool has_the_sum(const struct weir_group_query *query, uint32_t node)
{
    const struct weir_group_demand sum = weir_group_demand_sum(query);
    const struct weir_cluster *const cluster = query->scratch;
    const struct weir_node *const books = &cluster->nodes[node];
    int64_t gpu_units = 0;

    for (uint32_t g = 0; g < books->gpu_count; g++)
        gpu_units += cluster->gpus[books->gpu_first + g].units_free;
    return books->cpu_free >= sum.cpu_units && books->ram_free_bytes >= sum.ram_bytes &&
           gpu_units >= sum.gpu_units;
}

weir_status weir_group_search(const struct weir_group_query *query, uint32_t node,
                              struct weir_alloc *allocs, struct weir_error *error)
{
    struct search search = { .query = query, .allocs = allocs, .node = node, .error = error };

    if (query->bundle_count > DEPTH_MOST || !has_the_sum(query, node))
        return WEIR_EBUSY;
    if (place_rest(&search))
        return WEIR_OK;
    return search.status == WEIR_OK ? WEIR_EBUSY : search.status;
}
