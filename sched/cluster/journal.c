/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The undo journal: marks, roll-back, release.
 *
 * While a mark is set, every change appends what is needed to take it back. A removed worker keeps
 * its slot and its block of devices until the journal is cleared, so that roll-back needs no memory
 * and cannot fail. Versions and stamps are not rolled back: fingerprints come out equal on their
 * own.
 */
#include "sched/cluster/state.h"

#include "sched/internal/alloc.h"
#include "sched/internal/invariant.h"

enum { FETCHED_AHEAD = 6 }; /* changes to be taken back */

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

bool weir_journal_write(struct weir_cluster *cluster, enum weir_undo_kind kind, uint32_t slot)
{
    struct weir_undo *const undo = next_entry(cluster);

    if (undo == NULL)
        return false;
    *undo = (struct weir_undo){ .kind = kind,
                                .place = slot,
                                .before = cluster->slots[slot].state,
                                .since_ns = cluster->slots[slot].since_ns };
    return true;
}

void weir_journal_write_flags(struct weir_cluster *cluster, uint32_t node)
{
    struct weir_undo *const undo = next_entry(cluster);

    if (undo == NULL)
        return;
    *undo = (struct weir_undo){ .kind = WEIR_UNDO_FLAGS,
                                .place = node,
                                .before = cluster->nodes[node].flags };
}

weir_status weir_cluster_mark(struct weir_cluster *cluster)
{
    WEIR_ROOM(&cluster->allocator, cluster->marks, cluster->mark_capacity, cluster->mark_count + 1);
    cluster->marks[cluster->mark_count++] = cluster->journal_count;
    return WEIR_OK;
}

static void undo_add(struct weir_cluster *cluster, uint32_t slot)
{
    struct weir_alloc alloc;

    weir_slot_alloc(cluster, &cluster->slots[slot], &alloc);
    weir_ledger_apply(cluster, &alloc, -1, &cluster->slots[slot]);
    weir_roster_extract(cluster, slot);
    weir_roster_give_slot(cluster, slot);
}

static void undo_remove(struct weir_cluster *cluster, const struct weir_undo *undo)
{
    struct weir_alloc alloc;

    weir_roster_return(cluster, undo->place, undo->before);
    weir_slot_alloc(cluster, &cluster->slots[undo->place], &alloc);
    weir_ledger_apply(cluster, &alloc, 1, &cluster->slots[undo->place]);
}

static void undo_one(struct weir_cluster *cluster, const struct weir_undo *undo)
{
    switch ((enum weir_undo_kind)undo->kind) {
    case WEIR_UNDO_ADD:
        undo_add(cluster, undo->place);
        return;
    case WEIR_UNDO_REMOVE:
        undo_remove(cluster, undo);
        return;
    case WEIR_UNDO_STATE:
        cluster->slots[undo->place].state = undo->before;
        cluster->slots[undo->place].since_ns = undo->since_ns;
        return;
    case WEIR_UNDO_FLAGS:
        weir_ledger_set_flags(cluster, undo->place, undo->before);
        return;
    }
}

/* Workers lie far apart in the order in which they came and went. */
static void fetch(const struct weir_cluster *cluster, const struct weir_undo *undo)
{
    if (undo->kind == WEIR_UNDO_FLAGS)
        return;
    __builtin_prefetch(&cluster->slots[undo->place], 1);
    __builtin_prefetch(&cluster->slots[undo->place].first, 1);
}

void weir_cluster_rollback(struct weir_cluster *cluster)
{
    if (cluster->mark_count == 0)
        return;
    const uint32_t mark = cluster->marks[cluster->mark_count - 1];
    while (cluster->journal_count > mark) {
        if (cluster->journal_count - mark > FETCHED_AHEAD)
            fetch(cluster, &cluster->journal[cluster->journal_count - 1 - FETCHED_AHEAD]);
        undo_one(cluster, &cluster->journal[--cluster->journal_count]);
    }
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
        if (cluster->journal[i].kind == WEIR_UNDO_REMOVE)
            weir_roster_give_slot(cluster, cluster->journal[i].place);
    }
    cluster->journal_count = 0;
}
