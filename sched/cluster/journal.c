/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The undo journal: marks, roll-back, release.
 *
 * While a mark is set, every change appends what is needed to take it back. A removed worker's
 * block of devices stays reserved in the journal, so that roll-back needs no memory and cannot
 * fail. Versions and stamps are not rolled back: fingerprints come out equal on their own.
 */
#include "sched/cluster/state.h"

#include "sched/internal/alloc.h"
#include "sched/internal/invariant.h"

weir_status weir_journal_reserve(struct weir_cluster *cluster)
{
    if (cluster->mark_count == 0)
        return WEIR_OK;
    WEIR_ROOM(&cluster->allocator, cluster->journal, cluster->journal_capacity,
              cluster->journal_count + 1);
    return WEIR_OK;
}

/* The entry that was reserved, or NULL without a mark. */
static struct weir_undo *next_entry(struct weir_cluster *cluster)
{
    if (cluster->mark_count == 0 ||
        !WEIR_HOLDS(cluster->journal_count < cluster->journal_capacity, &cluster->broken))
        return NULL;
    return &cluster->journal[cluster->journal_count++];
}

void weir_journal_write(struct weir_cluster *cluster, enum weir_undo_kind kind,
                        const struct weir_worker_slot *slot)
{
    struct weir_undo *const undo = next_entry(cluster);

    if (undo != NULL) {
        undo->kind = kind;
        undo->slot = *slot;
    } else if (kind == WEIR_UNDO_REMOVE && cluster->mark_count == 0) {
        weir_roster_give_block(cluster, slot->more, slot->device_count);
    }
}

void weir_journal_write_flags(struct weir_cluster *cluster, uint32_t node)
{
    struct weir_undo *const undo = next_entry(cluster);

    if (undo == NULL)
        return;
    undo->kind = WEIR_UNDO_FLAGS;
    undo->node = node;
    undo->flags = cluster->nodes[node].flags;
}

weir_status weir_cluster_mark(struct weir_cluster *cluster)
{
    WEIR_ROOM(&cluster->allocator, cluster->marks, cluster->mark_capacity, cluster->mark_count + 1);
    cluster->marks[cluster->mark_count++] = cluster->journal_count;
    return WEIR_OK;
}

static void undo_add(struct weir_cluster *cluster, uint64_t id)
{
    const uint32_t slot = weir_id_table_find(&cluster->worker_ids, id);
    struct weir_worker_slot worker = cluster->slots[slot];
    struct weir_alloc alloc;

    weir_slot_alloc(cluster, &worker, &alloc);
    weir_ledger_apply(cluster, &alloc, -1, &worker);
    weir_roster_extract(cluster, slot);
    weir_roster_give_block(cluster, worker.more, worker.device_count);
}

static void undo_remove(struct weir_cluster *cluster, const struct weir_worker_slot *worker)
{
    struct weir_alloc alloc;

    (void)weir_roster_insert(cluster, worker);
    weir_slot_alloc(cluster, worker, &alloc);
    weir_ledger_apply(cluster, &alloc, 1, worker);
}

static void undo_one(struct weir_cluster *cluster, const struct weir_undo *undo)
{
    switch ((enum weir_undo_kind)undo->kind) {
    case WEIR_UNDO_ADD:
        undo_add(cluster, undo->slot.id);
        return;
    case WEIR_UNDO_REMOVE:
        undo_remove(cluster, &undo->slot);
        return;
    case WEIR_UNDO_STATE: {
        const uint32_t slot = weir_id_table_find(&cluster->worker_ids, undo->slot.id);
        cluster->slots[slot].state = undo->slot.state;
        cluster->slots[slot].since_ns = undo->slot.since_ns;
        return;
    }
    case WEIR_UNDO_FLAGS:
        weir_ledger_set_flags(cluster, undo->node, undo->flags);
        return;
    }
}

void weir_cluster_rollback(struct weir_cluster *cluster)
{
    if (cluster->mark_count == 0)
        return;
    const uint32_t mark = cluster->marks[cluster->mark_count - 1];
    while (cluster->journal_count > mark)
        undo_one(cluster, &cluster->journal[--cluster->journal_count]);
    if (cluster->mark_count > cluster->lent)
        cluster->mark_count--;
}

weir_status weir_cluster_lend(struct weir_cluster *cluster)
{
    WEIR_TRY(weir_cluster_mark(cluster));
    cluster->lent = cluster->mark_count;
    cluster->flags_before = cluster->flags_sum;
    return WEIR_OK;
}

bool weir_cluster_take_back(struct weir_cluster *cluster)
{
    const bool is_whole = cluster->flags_sum == cluster->flags_before;

    cluster->lent = 0;
    while (cluster->mark_count > 0)
        weir_cluster_rollback(cluster);
    return is_whole;
}

void weir_cluster_release(struct weir_cluster *cluster)
{
    if (cluster->mark_count <= cluster->lent)
        return;
    cluster->mark_count--;
    if (cluster->mark_count == 0)
        weir_journal_clear(cluster);
}

void weir_journal_clear(struct weir_cluster *cluster)
{
    for (uint32_t i = 0; i < cluster->journal_count; i++) {
        const struct weir_undo *const undo = &cluster->journal[i];
        if (undo->kind == WEIR_UNDO_REMOVE)
            weir_roster_give_block(cluster, undo->slot.more, undo->slot.device_count);
    }
    cluster->journal_count = 0;
}
