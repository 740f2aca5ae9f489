/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workers come and go: the public operations, each of which changes books, roster and journal
 * together or not at all.
 */
#include "sched/cluster/state.h"

#include <string.h>

void weir_slot_alloc(const struct weir_cluster *cluster, const struct weir_worker_slot *slot,
                     struct weir_alloc *alloc)
{
    alloc->node = slot->node;
    alloc->device_count = slot->device_count;
    alloc->cpu_units = slot->cpu_units;
    alloc->ram_bytes = slot->ram_bytes;
    if (slot->device_count > 0)
        alloc->devices[0] = slot->first;
    const struct weir_device *const more = weir_slot_more(cluster, slot);
    if (more != NULL && slot->device_count > 1)
        memcpy(alloc->devices + 1, more, (slot->device_count - 1) * sizeof alloc->devices[0]);
}

static void slot_worker(const struct weir_cluster *cluster, uint32_t slot,
                        struct weir_worker *worker)
{
    const struct weir_worker_slot *const place = &cluster->slots[slot];

    worker->id = place->id;
    worker->owner = place->owner;
    worker->state = place->state;
    worker->since_ns = place->since_ns;
    weir_slot_alloc(cluster, place, &worker->alloc);
}

weir_status weir_cluster_add_worker(struct weir_cluster *cluster, uint64_t id,
                                    struct weir_owner owner, const struct weir_alloc *alloc,
                                    struct weir_error *error)
{
    if (weir_id_table_find(&cluster->worker_ids, id) != WEIR_NO_INDEX)
        return weir_fail(error, WEIR_EDUPLICATE, "worker %llu exists already",
                         (unsigned long long)id);
    if (owner.index >= WEIR_MAX_POOLS || owner.kind > WEIR_OWNER_JOB)
        return weir_fail(error, WEIR_ERANGE, "worker %llu: stage must be < %d, got %u",
                         (unsigned long long)id, WEIR_MAX_POOLS, owner.index);
    const weir_status fit = weir_ledger_check(cluster, alloc, error);
    if (fit != WEIR_OK) {
        weir_error_wrap(error, "worker %llu", (unsigned long long)id);
        return fit;
    }
    if (weir_roster_reserve(cluster, &owner, alloc->device_count) != WEIR_OK ||
        weir_journal_reserve(cluster) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "worker %llu: out of memory", (unsigned long long)id);

    struct weir_worker_slot worker = { .id = id,
                                       .sequence = cluster->next_sequence++,
                                       .cpu_units = alloc->cpu_units,
                                       .ram_bytes = alloc->ram_bytes,
                                       .owner = owner,
                                       .state = WEIR_WORKER_STARTING,
                                       .node = alloc->node,
                                       .device_count = alloc->device_count,
                                       .more =
                                           weir_roster_take_block(cluster, alloc->device_count) };
    if (alloc->device_count > 1 && worker.more == WEIR_NO_INDEX)
        return weir_fail(error, WEIR_EINVARIANT, "worker %llu: no block for its devices",
                         (unsigned long long)id);
    if (alloc->device_count > 0)
        worker.first = alloc->devices[0];
    if (alloc->device_count > 1)
        memcpy(cluster->more.devices + worker.more, alloc->devices + 1,
               (alloc->device_count - 1) * sizeof alloc->devices[0]);
    const uint32_t slot = weir_roster_insert(cluster, &worker);
    if (slot == WEIR_NO_INDEX)
        return weir_fail(error, WEIR_EINVARIANT, "worker %llu: no slot", (unsigned long long)id);
    weir_ledger_apply(cluster, alloc, 1, &worker);
    (void)weir_journal_write(cluster, WEIR_UNDO_ADD, slot);
    cluster->begun += cluster->mark_count == 0 ? 1 : 0;
    return WEIR_OK;
}

weir_status weir_cluster_remove_worker(struct weir_cluster *cluster, uint64_t id,
                                       struct weir_error *error)
{
    const uint32_t slot = weir_id_table_find(&cluster->worker_ids, id);
    struct weir_alloc alloc;

    if (slot == WEIR_NO_INDEX)
        return weir_fail(error, WEIR_ENOTFOUND, "there is no worker %llu", (unsigned long long)id);
    if (weir_journal_reserve(cluster) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "worker %llu: out of memory", (unsigned long long)id);
    const struct weir_worker_slot *const worker = &cluster->slots[slot];
    weir_slot_alloc(cluster, worker, &alloc);
    weir_ledger_apply(cluster, &alloc, -1, worker);
    const bool may_come_back = weir_journal_write(cluster, WEIR_UNDO_REMOVE, slot);
    weir_roster_extract(cluster, slot);
    if (!may_come_back)
        weir_roster_give_slot(cluster, slot);
    cluster->ended += cluster->mark_count == 0 ? 1 : 0;
    return WEIR_OK;
}

weir_status weir_cluster_set_worker_state(struct weir_cluster *cluster, uint64_t id, uint32_t state,
                                          int64_t since_ns)
{
    const uint32_t slot = weir_id_table_find(&cluster->worker_ids, id);

    if (slot == WEIR_NO_INDEX)
        return WEIR_ENOTFOUND;
    if (state == WEIR_SLOT_FREE)
        return WEIR_ERANGE;
    WEIR_TRY(weir_journal_reserve(cluster));
    struct weir_worker_slot *const worker = &cluster->slots[slot];
    (void)weir_journal_write(cluster, WEIR_UNDO_STATE, slot);
    worker->state = state;
    worker->since_ns = since_ns;
    return WEIR_OK;
}

bool weir_cluster_fits(const struct weir_cluster *cluster, const struct weir_alloc *alloc)
{
    if (alloc->node >= cluster->node_count || alloc->device_count > WEIR_MAX_DEVICES)
        return false;
    const struct weir_node *const node = &cluster->nodes[alloc->node];
    if (node->flags != WEIR_NODE_UP || alloc->cpu_units < 0 || alloc->ram_bytes < 0 ||
        alloc->cpu_units > node->cpu_free || alloc->ram_bytes > node->ram_free_bytes)
        return false;
    for (uint32_t d = 0; d < alloc->device_count; d++) {
        const struct weir_device *const device = &alloc->devices[d];
        if (device->gpu >= node->gpu_count || (d > 0 && device->gpu <= alloc->devices[d - 1].gpu))
            return false;
        const struct weir_gpu *const gpu = &cluster->gpus[node->gpu_first + device->gpu];
        if (device->units < 0 || device->mem_bytes < 0 || device->units > gpu->units_free ||
            device->mem_bytes > gpu->mem_free_bytes || (device->nvdec_mask & ~gpu->nvdec_free) ||
            (device->nvenc_mask & ~gpu->nvenc_free) || gpu->is_closed != 0 ||
            !weir_ledger_instance_fits(gpu, device))
            return false;
    }
    return true;
}

bool weir_cluster_worker(const struct weir_cluster *cluster, uint64_t id,
                         struct weir_worker *worker)
{
    const uint32_t slot = weir_id_table_find(&cluster->worker_ids, id);

    if (slot == WEIR_NO_INDEX)
        return false;
    if (worker != NULL)
        slot_worker(cluster, slot, worker);
    return true;
}

uint32_t weir_cluster_pool_workers(const struct weir_cluster *cluster, uint32_t pool)
{
    return pool < cluster->pool_count ? cluster->pools[pool].count : 0;
}

bool weir_cluster_pool_worker(const struct weir_cluster *cluster, uint32_t pool, uint32_t position,
                              struct weir_worker *worker)
{
    if (position >= weir_cluster_pool_workers(cluster, pool))
        return false;
    if (worker != NULL)
        slot_worker(cluster, weir_pool_list_at(&cluster->pools[pool], position), worker);
    return true;
}

bool weir_cluster_pool_worker_id(const struct weir_cluster *cluster, uint32_t pool,
                                 uint32_t position, uint64_t *id)
{
    if (position >= weir_cluster_pool_workers(cluster, pool))
        return false;
    *id = cluster->slots[weir_pool_list_at(&cluster->pools[pool], position)].id;
    return true;
}

uint32_t weir_cluster_peers(const struct weir_cluster *cluster, uint32_t node,
                            struct weir_owner owner)
{
    uint32_t count = 0;

    for (uint32_t s = weir_first_peer(cluster, node, &owner); s != WEIR_NO_INDEX;
         s = cluster->slots[s].peer_next)
        count++;
    return count;
}

/* The cursor is the slot last shown, plus one. */
bool weir_cluster_node_worker(const struct weir_cluster *cluster, uint32_t node, uint32_t *cursor,
                              struct weir_worker *worker)
{
    if (node >= cluster->node_count)
        return false;
    const uint32_t slot =
        *cursor == 0 ? cluster->lists[node].first : cluster->slots[*cursor - 1].node_next;
    if (slot == WEIR_NO_INDEX)
        return false;
    *cursor = slot + 1;
    slot_worker(cluster, slot, worker);
    return true;
}

bool weir_cluster_node_worker_id(const struct weir_cluster *cluster, uint32_t node, uint64_t *id)
{
    if (node >= cluster->node_count || cluster->lists[node].first == WEIR_NO_INDEX)
        return false;
    *id = cluster->slots[cluster->lists[node].first].id;
    return true;
}

uint32_t weir_cluster_worker_count(const struct weir_cluster *cluster)
{
    return cluster->worker_count;
}
