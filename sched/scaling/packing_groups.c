/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups over several nodes in a packing: each member wants a whole node, so they come before all
 * that can stand beside others.
 *
 * Idea: a group that is missing takes the first nodes that have room, as the placer would. Where
 * there are too few, nodes are emptied, those first whose workers are the least part of all that
 * there is; these look for other places afterwards like all that is missing. Groups themselves stay
 * where they are. A group that was given up comes back as it was before another is begun.
 */
#include "sched/placement/parts/rooms.h"
#include "sched/scaling/packing_parts.h"

#include <stdlib.h>

/* Entries of the originals of a pool: members of one group follow each other, youngest first. */
static bool may_come_back(const struct weir_packing *packing, uint32_t pool, uint32_t first)
{
    const struct weir_stopped *const originals = &packing->pools[pool].originals;
    struct weir_alloc alloc;

    for (uint32_t i = 0; i < weir_shape_members(weir_packing_shape(packing, pool)); i++) {
        weir_stopped_alloc(originals, first + i, &alloc);
        if (weir_packing_is_there(packing, originals->entries[first + i].id) ||
            !weir_cluster_fits(packing->scratch, &alloc))
            return false;
    }
    return true;
}

/* The oldest group that was given up and whose places are free. WEIR_EBUSY. */
static weir_status bring_back(struct weir_packing *packing, uint32_t pool)
{
    const struct weir_stopped *const originals = &packing->pools[pool].originals;
    const uint32_t members = weir_shape_members(weir_packing_shape(packing, pool));
    struct weir_alloc alloc;
    uint32_t first = originals->entry_count;

    do {
        if (first < members)
            return WEIR_EBUSY;
        first -= members;
    } while (!may_come_back(packing, pool, first));
    for (uint32_t i = members; i-- > 0;) {
        weir_stopped_alloc(originals, first + i, &alloc);
        WEIR_TRY(weir_cluster_add_worker(packing->scratch, originals->entries[first + i].id,
                                         weir_pool_owner(pool), &alloc, packing->run->error));
    }
    return WEIR_OK;
}

/* On the first nodes that have room. WEIR_EBUSY: there are not enough; some are taken then. */
static weir_status add_members(struct weir_packing *packing, uint32_t pool)
{
    const struct weir_shape *const shape = weir_packing_shape(packing, pool);
    uint32_t node = 0;

    for (uint32_t i = 0; i < weir_shape_members(shape); i++, node++) {
        struct weir_room_walk walk = weir_rooms_begin(packing->scratch, shape);
        struct weir_choice choice = { .nodes_seen = 0 };
        struct weir_alloc alloc;
        walk.next = node;
        node = weir_rooms_next(&walk, &choice);
        if (node == WEIR_NO_INDEX)
            return WEIR_EBUSY;
        WEIR_TRY(weir_place_first(packing->scratch, node, shape, &alloc));
        WEIR_TRY(weir_cluster_add_worker(packing->scratch, packing->next_id--,
                                         weir_pool_owner(pool), &alloc, packing->run->error));
    }
    return WEIR_OK;
}

/* All members or none. WEIR_EBUSY when there is no room. */
static weir_status add(struct weir_packing *packing, uint32_t pool)
{
    weir_status status = bring_back(packing, pool);

    if (status != WEIR_EBUSY)
        return status;
    WEIR_TRY(weir_packing_mark(packing));
    status = add_members(packing, pool);
    if (status == WEIR_OK)
        weir_cluster_release(packing->scratch);
    else
        weir_cluster_rollback(packing->scratch);
    return status;
}

/* The one that came last: the members of each stand in a row. */
static weir_status remove_last(struct weir_packing *packing, uint32_t pool)
{
    for (uint32_t i = weir_shape_members(weir_packing_shape(packing, pool)); i > 0; i--) {
        const uint32_t last = weir_cluster_pool_workers(packing->scratch, pool) - 1;
        uint64_t id = 0;
        (void)weir_cluster_pool_worker_id(packing->scratch, pool, last, &id);
        WEIR_TRY(weir_cluster_remove_worker(packing->scratch, id, packing->run->error));
    }
    return WEIR_OK;
}

/* ---- making room ---- */

/* Whether a member could stand on the node once those had gone who may; their part of all that
 * there is. Nobody going makes no room. */
static bool may_empty(const struct weir_packing *packing, uint32_t pool, uint32_t node,
                      double *price)
{
    const struct weir_shape *const shape = weir_packing_shape(packing, pool);
    const struct weir_node *const seen = weir_cluster_node(packing->scratch, node);
    struct weir_worker worker;
    uint32_t cursor = 0;

    *price = 0;
    if (seen->flags != WEIR_NODE_UP || seen->gpu_count != shape->gpu_count ||
        !weir_shape_takes_type(shape, weir_cluster_gpu(packing->scratch, node, 0)->type))
        return false;
    while (weir_cluster_node_worker(packing->scratch, node, &cursor, &worker)) {
        if (worker.owner.kind != WEIR_OWNER_POOL || worker.owner.index >= packing->run->count ||
            !weir_packing_may_move(packing, worker.owner.index))
            return false;
        *price += packing->pools[worker.owner.index].weight;
    }
    return *price > 0;
}

static int cheaper_first(const void *a, const void *b)
{
    const struct weir_packing_price *const left = a;
    const struct weir_packing_price *const right = b;

    if (left->price < right->price || right->price < left->price)
        return left->price < right->price ? -1 : 1;
    return (left->node > right->node) - (left->node < right->node);
}

static weir_status list_prices(struct weir_packing *packing, uint32_t pool, uint32_t *count)
{
    WEIR_ROOM(&packing->run->allocator, packing->prices, packing->price_capacity,
              packing->node_count);
    *count = 0;
    for (uint32_t n = 0; n < packing->node_count; n++) {
        packing->prices[*count].node = n;
        *count += may_empty(packing, pool, n, &packing->prices[*count].price);
    }
    if (*count > 1)
        qsort(packing->prices, *count, sizeof packing->prices[0], cheaper_first);
    return WEIR_OK;
}

static weir_status add_with_room_made(struct weir_packing *packing, uint32_t pool)
{
    uint32_t count = 0;

    WEIR_TRY(list_prices(packing, pool, &count));
    for (uint32_t n = 0; n < count && weir_packing_missing(packing, pool) > 0;) {
        WEIR_TRY(weir_packing_empty_node(packing, packing->prices[n++].node));
        const weir_status status = add(packing, pool);
        if (status != WEIR_EBUSY)
            WEIR_TRY(status);
    }
    return WEIR_OK;
}

static weir_status add_missing(struct weir_packing *packing, uint32_t pool, bool moves)
{
    while (weir_packing_missing(packing, pool) > 0) {
        const weir_status status = add(packing, pool);
        if (status == WEIR_EBUSY)
            return moves ? add_with_room_made(packing, pool) : WEIR_OK;
        WEIR_TRY(status);
    }
    return WEIR_OK;
}

weir_status weir_packing_fit_groups(struct weir_packing *packing, bool moves)
{
    for (uint32_t i = 0; i < packing->run->count && moves; i++)
        while (weir_packing_is_free_group(packing, i) &&
               weir_packing_count(packing, i) > packing->pools[i].wanted)
            WEIR_TRY(remove_last(packing, i));
    for (uint32_t k = 0; k < packing->run->count; k++)
        if (weir_packing_is_free_group(packing, packing->order[k]))
            WEIR_TRY(add_missing(packing, packing->order[k], moves));
    return WEIR_OK;
}
