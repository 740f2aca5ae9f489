/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Engines of a GPU are alike. A worker whose engines went to somebody new, while one of its own
 * stage begins on the same GPUs with others, stays where it is: the new ones take what that one
 * would have had. Otherwise a worker was replaced for nothing, at the price of a set-up.
 */
#include "sched/scaling/packing_parts.h"

static bool has_engines(const struct weir_device *device)
{
    return (device->nvdec_mask | device->nvenc_mask) != 0;
}

/* The same but for the engines. */
static bool is_alike(const struct weir_alloc *had, const struct weir_alloc *other)
{
    bool has_any = false;

    if (had->node != other->node || had->device_count != other->device_count)
        return false;
    for (uint32_t d = 0; d < had->device_count; d++) {
        if (had->devices[d].gpu != other->devices[d].gpu ||
            had->devices[d].mig != other->devices[d].mig)
            return false;
        has_any = has_any || has_engines(&had->devices[d]);
    }
    return has_any;
}

/* Who is new of the pool and stands on the GPUs of one that is not there. */
static bool find_newcomer(const struct weir_packing *packing, uint32_t pool,
                          const struct weir_alloc *had, struct weir_worker *newcomer)
{
    uint32_t cursor = 0;

    while (weir_cluster_node_worker(packing->scratch, had->node, &cursor, newcomer))
        if (weir_packing_is_new(packing, newcomer->id) && newcomer->owner.kind == WEIR_OWNER_POOL &&
            newcomer->owner.index == pool && is_alike(had, &newcomer->alloc))
            return true;
    return false;
}

/* Engines that `had` has and `other` has not, for as many the other way round. */
static uint32_t exchanged(uint32_t mask, uint32_t had, uint32_t other)
{
    uint32_t from = had & ~other;
    uint32_t to = other & ~had;

    for (; from != 0 && to != 0; from &= from - 1, to &= to - 1)
        if ((mask & from & ~(from - 1)) != 0)
            mask = (mask & ~(from & ~(from - 1))) | (to & ~(to - 1));
    return mask;
}

/* Whether anything changed. */
static bool exchange_engines(struct weir_alloc *alloc, const struct weir_alloc *had,
                             const struct weir_alloc *other)
{
    bool is_changed = false;

    for (uint32_t d = 0; d < had->device_count; d++) {
        const struct weir_device *const a = &had->devices[d];
        const struct weir_device *const b = &other->devices[d];
        for (uint32_t e = 0; e < alloc->device_count; e++) {
            struct weir_device *const device = &alloc->devices[e];
            if (device->gpu != a->gpu)
                continue;
            const uint32_t nvdec = exchanged(device->nvdec_mask, a->nvdec_mask, b->nvdec_mask);
            const uint32_t nvenc = exchanged(device->nvenc_mask, a->nvenc_mask, b->nvenc_mask);
            is_changed = is_changed || nvdec != device->nvdec_mask || nvenc != device->nvenc_mask;
            device->nvdec_mask = nvdec;
            device->nvenc_mask = nvenc;
        }
    }
    return is_changed;
}

/* Those who are new on its node leave it its engines. */
static weir_status give_way(struct weir_packing *packing, const struct weir_alloc *had,
                            const struct weir_alloc *other)
{
    struct weir_worker worker;
    uint32_t cursor = 0;

    while (weir_cluster_node_worker(packing->scratch, had->node, &cursor, &worker)) {
        if (!weir_packing_is_new(packing, worker.id) ||
            !exchange_engines(&worker.alloc, had, other))
            continue;
        WEIR_TRY(weir_cluster_remove_worker(packing->scratch, worker.id, packing->run->error));
        WEIR_TRY(weir_cluster_add_worker(packing->scratch, worker.id, worker.owner, &worker.alloc,
                                         packing->run->error));
        cursor = 0; /* it has none of them now */
    }
    return WEIR_OK;
}

static weir_status exchange(struct weir_packing *packing, uint32_t pool, uint64_t id,
                            const struct weir_alloc *had, const struct weir_worker *newcomer)
{
    struct weir_cluster *const scratch = packing->scratch;

    WEIR_TRY(weir_cluster_remove_worker(scratch, newcomer->id, packing->run->error));
    WEIR_TRY(give_way(packing, had, &newcomer->alloc));
    return weir_cluster_add_worker(scratch, id, weir_pool_owner(pool), had, packing->run->error);
}

weir_status weir_packing_keep_engines(struct weir_packing *packing, uint32_t pool)
{
    const struct weir_stopped *const originals = &packing->pools[pool].originals;
    struct weir_worker newcomer;
    struct weir_alloc had;

    if (!weir_packing_may_move(packing, pool))
        return WEIR_OK;
    for (uint32_t i = 0; i < originals->entry_count; i++) {
        const uint64_t id = originals->entries[i].id;
        if (weir_packing_is_there(packing, id))
            continue;
        weir_stopped_alloc(originals, i, &had);
        if (!find_newcomer(packing, pool, &had, &newcomer))
            continue;
        WEIR_TRY(weir_packing_mark(packing));
        const weir_status status = exchange(packing, pool, id, &had, &newcomer);
        if (status == WEIR_OK)
            weir_cluster_release(packing->scratch);
        else
            weir_cluster_rollback(packing->scratch);
        if (status == WEIR_ENOMEM)
            return status;
    }
    return WEIR_OK;
}
