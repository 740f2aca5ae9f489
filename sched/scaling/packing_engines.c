/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Engines of a GPU are alike. A worker whose engines went to somebody new, while one of its own
 * stage begins on the same GPUs with others, stays where it is: the new ones take what that one
 * would have had. Otherwise a worker was replaced for nothing, at the price of a set-up.
 */
#include "sched/scaling/packing_parts.h"

#include "sched/host/placer.h"

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

/* What begins with this plan. */
static bool begins(const struct weir_packing *packing, const struct weir_worker *worker)
{
    return worker->id >= packing->first_id && worker->owner.kind == WEIR_OWNER_POOL &&
           weir_packing_may_move(packing, worker->owner.index);
}

/* Who begins in the pool and stands on the GPUs of one that is not there. */
static bool find_newcomer(const struct weir_packing *packing, uint32_t pool,
                          const struct weir_alloc *had, struct weir_worker *newcomer)
{
    uint32_t cursor = 0;

    while (weir_cluster_node_worker(packing->scratch, had->node, &cursor, newcomer))
        if (begins(packing, newcomer) && newcomer->owner.index == pool &&
            is_alike(had, &newcomer->alloc) &&
            !weir_placer_was_there(packing->run->placer, pool, &newcomer->alloc))
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

/* Those who begin on its node leave it its engines. */
static weir_status give_way(struct weir_packing *packing, const struct weir_alloc *had,
                            const struct weir_alloc *other)
{
    struct weir_worker worker;
    uint32_t cursor = 0;

    while (weir_cluster_node_worker(packing->scratch, had->node, &cursor, &worker)) {
        if (!begins(packing, &worker) || !exchange_engines(&worker.alloc, had, other))
            continue;
        WEIR_TRY(weir_cluster_remove_worker(packing->scratch, worker.id, NULL));
        WEIR_TRY(weir_cluster_add_worker(packing->scratch, packing->next_id--, worker.owner,
                                         &worker.alloc, NULL));
        cursor = 0; /* it has none of them now */
    }
    return WEIR_OK;
}

/* Who is started where a worker was stopped is that worker. */
static weir_status exchange(struct weir_packing *packing, const struct weir_alloc *had,
                            const struct weir_worker *newcomer)
{
    struct weir_cluster *const scratch = packing->scratch;

    WEIR_TRY(weir_cluster_remove_worker(scratch, newcomer->id, NULL));
    WEIR_TRY(give_way(packing, had, &newcomer->alloc));
    return weir_cluster_add_worker(scratch, packing->next_id--, newcomer->owner, had, NULL);
}

static weir_status keep(struct weir_packing *packing, uint32_t pool, const struct weir_alloc *had)
{
    struct weir_worker newcomer;

    if (!find_newcomer(packing, pool, had, &newcomer))
        return WEIR_OK;
    WEIR_TRY(weir_packing_mark(packing));
    const weir_status status = exchange(packing, had, &newcomer);
    if (status == WEIR_OK)
        weir_cluster_release(packing->scratch);
    else
        weir_cluster_rollback(packing->scratch);
    return status == WEIR_ENOMEM ? weir_fail(packing->run->error, status, "out of memory")
                                 : WEIR_OK; /* what does not fit stays as it is */
}

weir_status weir_packing_keep_engines(struct weir_packing *packing, uint32_t pool)
{
    struct weir_alloc had;
    uint32_t cursor = 0;

    if (!weir_packing_may_move(packing, pool))
        return WEIR_OK;
    while (weir_placer_next_stopped(packing->run->placer, pool, &cursor, &had))
        WEIR_TRY(keep(packing, pool, &had));
    return WEIR_OK;
}
