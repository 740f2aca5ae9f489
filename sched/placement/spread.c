/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "spread": the node with the fewest workers of this pool or workload, then the one with
 * most free; on the node the GPU with most free compute. Removes from the node with most workers of
 * the pool, the youngest there.
 */
#include "sched/placement/parts/frag_state.h"
#include "sched/placement/parts/kept_scan.h"
#include "sched/placement/policies.h"

#include "sched/cluster/state.h"
#include "sched/internal/made.h"

struct spread {
    struct weir_allocator allocator;
    struct weir_grades *grades;
};

/* Least free compute a touched GPU keeps: the larger, the emptier the GPUs. */
static int64_t least_left(const struct weir_cluster *cluster, const struct weir_alloc *alloc)
{
    int64_t least = WEIR_ONE;

    for (uint32_t d = 0; d < alloc->device_count; d++) {
        const struct weir_device *const device = &alloc->devices[d];
        const struct weir_gpu *const gpu = weir_cluster_gpu(cluster, alloc->node, device->gpu);
        if (gpu->units_free - device->units < least)
            least = gpu->units_free - device->units;
    }
    return least;
}

static struct weir_score score(void *state, const struct weir_place_query *query,
                               const struct weir_alloc *candidate)
{
    const struct weir_cluster *const cluster = query->cluster;
    const int64_t stock = weir_stock_free(cluster, candidate->node) - weir_stock_alloc(candidate);

    (void)state; /* not looked at */
    /* The stock counts in units; the GPU's remainder, at most one unit here, only breaks ties. */
    return (struct weir_score){
        .primary = weir_cluster_peers(cluster, candidate->node, query->owner),
        .secondary = -((double)stock + weir_units_amount(least_left(cluster, candidate)) / 2),
    };
}

static void destroy(void *state)
{
    weir_grades_destroy(((struct spread *)state)->grades);
    weir_made_destroy(state);
}

static const struct weir_made made = WEIR_MADE_BARE(struct spread);

static weir_status create(const struct weir_params *given, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error)
{
    WEIR_TRY(weir_made_create(&made, given, allocator, state, error));
    struct spread *const own = *state;
    return weir_made_end(weir_grades_create(&own->allocator, &own->grades), destroy, state, error);
}

static weir_status place(void *state, const struct weir_place_query *query,
                         struct weir_place_answer *answer, struct weir_error *error)
{
    const struct spread *const spread = state;
    const struct weir_scan scan = { .score = score, .mode = WEIR_CANDIDATES_DISTINCT };

    return weir_kept_scan_place(spread->grades, &scan, true, query, answer, error);
}

static weir_status evict(void *state, const struct weir_evict_query *query, uint64_t *worker,
                         struct weir_error *error)
{
    const uint32_t count = weir_evict_count(query);
    uint32_t most = 0;

    (void)state; /* not looked at */
    if (count == 0)
        return weir_evict_nobody(query, error);
    for (uint32_t i = count; i-- > 0;) {
        const uint64_t id = weir_evict_candidate(query, i);
        const uint32_t slot = weir_id_table_find(&query->cluster->worker_ids, id);
        if (slot == WEIR_NO_INDEX)
            return weir_fail(error, WEIR_ENOTFOUND, "there is no worker %llu",
                             (unsigned long long)id);
        const uint32_t here =
            weir_cluster_peers(query->cluster, query->cluster->slots[slot].node, query->owner);
        if (here > most || i == count - 1) {
            most = here;
            *worker = id;
        }
    }
    return WEIR_OK;
}

const struct weir_placement_ops weir_placement_spread = {
    .size = sizeof weir_placement_spread,
    .abi = WEIR_ABI_MAJOR,
    .name = "spread",
    .summary = "the node with the fewest workers of the stage, then the emptiest",
    .create = create,
    .destroy = destroy,
    .score = score,
    .place = place,
    .evict = evict,
};
