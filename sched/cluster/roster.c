/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is there: worker slots, the id table, pool lists, node lists, and the blocks for the devices
 * beyond a worker's first.
 *
 * Invariant: a used slot is in the id table, in its pool's list at the place of its sequence, and
 * in its node's list. The books (ledger.c) are not touched here.
 */
#include "sched/cluster/state.h"

#include "sched/internal/alloc.h"
#include "sched/internal/invariant.h"

#include <string.h>

static weir_status reserve_pool(struct weir_cluster *cluster, uint32_t pool)
{
    if (pool >= cluster->pool_count) {
        WEIR_ROOM(&cluster->allocator, cluster->pools, cluster->pool_capacity, pool + 1);
        memset(cluster->pools + cluster->pool_count, 0,
               (pool + 1 - cluster->pool_count) * sizeof *cluster->pools);
        cluster->pool_count = pool + 1;
    }
    struct weir_pool_list *const list = &cluster->pools[pool];
    return weir_pool_list_reserve(list, &cluster->allocator, list->count + 1);
}

static weir_status reserve_block(struct weir_cluster *cluster, uint32_t device_count)
{
    struct weir_device_blocks *const blocks = &cluster->more;

    if (device_count < 2 || blocks->free_first[device_count - 1] != WEIR_NO_INDEX)
        return WEIR_OK;
    WEIR_ROOM(&cluster->allocator, blocks->devices, blocks->capacity,
              blocks->count + device_count - 1);
    return WEIR_OK;
}

weir_status weir_roster_reserve(struct weir_cluster *cluster, const struct weir_owner *owner,
                                uint32_t device_count)
{
    if (cluster->slot_free == WEIR_NO_INDEX) {
        WEIR_ROOM(&cluster->allocator, cluster->slots, cluster->slot_capacity,
                  cluster->slot_count + 1);
    }
    WEIR_TRY(weir_id_table_reserve(&cluster->worker_ids, &cluster->allocator, 1));
    WEIR_TRY(weir_id_table_reserve(&cluster->peers, &cluster->allocator, 1));
    if (owner->kind == WEIR_OWNER_POOL)
        WEIR_TRY(reserve_pool(cluster, owner->index));
    return reserve_block(cluster, device_count);
}

uint32_t weir_roster_take_block(struct weir_cluster *cluster, uint32_t device_count)
{
    struct weir_device_blocks *const blocks = &cluster->more;

    if (device_count < 2)
        return WEIR_NO_INDEX;
    const uint32_t size = device_count - 1;
    uint32_t block = blocks->free_first[size];
    if (block != WEIR_NO_INDEX) {
        blocks->free_first[size] = blocks->devices[block].gpu;
        return block;
    }
    if (!WEIR_HOLDS(blocks->capacity - blocks->count >= size, &cluster->broken))
        return WEIR_NO_INDEX;
    block = blocks->count;
    blocks->count += size;
    return block;
}

static void give_block(struct weir_cluster *cluster, uint32_t more, uint32_t device_count)
{
    if (more == WEIR_NO_INDEX)
        return;
    cluster->more.devices[more].gpu = cluster->more.free_first[device_count - 1];
    cluster->more.free_first[device_count - 1] = more;
}

static uint32_t take_slot(struct weir_cluster *cluster)
{
    const uint32_t slot = cluster->slot_free;

    if (slot != WEIR_NO_INDEX) {
        cluster->slot_free = cluster->slots[slot].node_next;
        return slot;
    }
    if (!WEIR_HOLDS(cluster->slot_count < cluster->slot_capacity, &cluster->broken))
        return WEIR_NO_INDEX;
    return cluster->slot_count++;
}

static void link_worker(struct weir_cluster *cluster, uint32_t slot)
{
    struct weir_worker_slot *const worker = &cluster->slots[slot];
    uint32_t *const node_first = &cluster->lists[worker->node].first;
    const uint32_t peer =
        weir_id_table_swap(&cluster->peers, weir_peer_key(worker->node, &worker->owner), slot);

    worker->node_previous = WEIR_NO_INDEX;
    worker->node_next = *node_first;
    if (*node_first != WEIR_NO_INDEX)
        cluster->slots[*node_first].node_previous = slot;
    *node_first = slot;

    worker->peer_previous = WEIR_NO_INDEX;
    worker->peer_next = peer;
    if (peer != WEIR_NO_INDEX)
        cluster->slots[peer].peer_previous = slot;
}

static void unlink_worker(struct weir_cluster *cluster, const struct weir_worker_slot *worker)
{
    const uint64_t key = weir_peer_key(worker->node, &worker->owner);

    if (worker->node_next != WEIR_NO_INDEX)
        cluster->slots[worker->node_next].node_previous = worker->node_previous;
    if (worker->node_previous != WEIR_NO_INDEX)
        cluster->slots[worker->node_previous].node_next = worker->node_next;
    else
        cluster->lists[worker->node].first = worker->node_next;

    if (worker->peer_next != WEIR_NO_INDEX)
        cluster->slots[worker->peer_next].peer_previous = worker->peer_previous;
    if (worker->peer_previous != WEIR_NO_INDEX)
        cluster->slots[worker->peer_previous].peer_next = worker->peer_next;
    else if (worker->peer_next != WEIR_NO_INDEX)
        weir_id_table_put(&cluster->peers, key, worker->peer_next);
    else
        weir_id_table_remove(&cluster->peers, key);
}

void weir_roster_return(struct weir_cluster *cluster, uint32_t slot, uint32_t state)
{
    struct weir_worker_slot *const worker = &cluster->slots[slot];

    worker->state = state;
    link_worker(cluster, slot);
    if (worker->owner.kind == WEIR_OWNER_POOL)
        (void)WEIR_HOLDS(
            weir_pool_list_insert(&cluster->pools[worker->owner.index], cluster->slots, slot),
            &cluster->broken);
    weir_id_table_put(&cluster->worker_ids, worker->id, slot);
    cluster->worker_count++;
}

uint32_t weir_roster_insert(struct weir_cluster *cluster, const struct weir_worker_slot *worker)
{
    const uint32_t slot = take_slot(cluster);

    if (slot == WEIR_NO_INDEX)
        return slot;
    cluster->slots[slot] = *worker;
    weir_roster_return(cluster, slot, worker->state);
    return slot;
}

uint32_t weir_cluster_broken(const struct weir_cluster *cluster)
{
    return cluster->broken + cluster->node_ids.broken + cluster->worker_ids.broken +
           cluster->peers.broken;
}

void weir_roster_extract(struct weir_cluster *cluster, uint32_t slot)
{
    struct weir_worker_slot *const worker = &cluster->slots[slot];

    if (worker->owner.kind == WEIR_OWNER_POOL)
        (void)WEIR_HOLDS(
            weir_pool_list_extract(&cluster->pools[worker->owner.index], cluster->slots, slot),
            &cluster->broken);
    unlink_worker(cluster, worker);
    weir_id_table_remove(&cluster->worker_ids, worker->id);
    worker->state = WEIR_SLOT_FREE;
    cluster->worker_count--;
}

void weir_roster_give_slot(struct weir_cluster *cluster, uint32_t slot)
{
    struct weir_worker_slot *const worker = &cluster->slots[slot];

    give_block(cluster, worker->more, worker->device_count);
    worker->node_next = cluster->slot_free;
    cluster->slot_free = slot;
}
