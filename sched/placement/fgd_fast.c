/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FGD that follows changes; see fgd.h.
 *
 * A board is one tournament over nodes: the best place for one shape, the best victim of one pool,
 * or the best worker of one pool to reuse. A node's entry is recomputed when a question comes and
 * the node changed since the board was last asked. What is kept of a node (books) is shared by all
 * boards. Entries for places depend on the node's fingerprint alone, entries for victims on the
 * stamp of the node's history, those for reuse on that and on who was stopped there. So they
 * survive a change of inventory where these agree; the change ring only saves looking at all nodes.
 * What is found for a state of a node is kept for other nodes that come into it (fgd_memo.h). What
 * is compared is in fgd_keys.c.
 *
 * Invariant: after board_follow, every entry equals what a recomputation would give.
 */
#include "sched/placement/fgd_keys.h"
#include "sched/placement/parts/near.h"
#include "sched/placement/parts/scan.h"

#include "sched/cluster/state.h"
#include "sched/internal/alloc.h"
#include "sched/internal/bits.h"
#include "sched/internal/hash.h"
#include "sched/internal/stopped.h"

#include <string.h>

enum {
    BOARDS_KEPT = 64, /* beyond that the one not used for longest is dropped */
    SMALL_POOL = 24   /* up to this many candidates a victim is found by looking at each */
};

struct entry {
    uint64_t version; /* of the node, or the stamp of its history for victims */
    uint64_t worker;  /* victim boards; reuse boards: its number */
    union {
        struct { /* place boards */
            uint32_t candidates;
            uint32_t ties;
            uint32_t reason;
        };
        struct { /* who of the pool is or was there, in the board's list */
            uint32_t first, count;
            uint32_t slot; /* of the victim; reuse boards: how many had come */
        };
    };
    bool known;
    bool is_listed;  /* until one of the pool comes */
    bool is_uniform; /* all hold the same of the node */
};

/* A worker of the pool of a victim or reuse board. Those who hold the same of a node stand
 * together, who goes first of them behind the others. */
struct listed {
    struct weir_memo_hold hold;
    uint64_t order;
    uint32_t slot; /* reuse boards: number */
};

enum board_kind { BOARD_PLACES, BOARD_VICTIMS, BOARD_REUSE };

struct board {
    uint32_t kind;
    uint32_t pool;                        /* victim and reuse boards */
    uint64_t round;                       /* reuse boards: of the list of stopped workers */
    struct listed *listed;                /* node by node */
    const struct weir_cluster *listed_of; /* whose slots they are; not read */
    uint32_t listed_count, listed_capacity;
    struct weir_shape shape; /* place boards */
    struct weir_change_mark mark;
    uint64_t used; /* question number, for dropping */
    struct weir_tournament tournament;
    struct entry *entries;
    struct weir_memo_places memo; /* place boards */
    uint32_t entry_capacity;
    uint32_t candidates;
    uint32_t rejected[WEIR_REASON_ROOM];
};

struct weir_fgd {
    struct weir_fgd_keys keys;
    uint64_t question;                  /* counts questions */
    const struct weir_stopped *stopped; /* of the question being answered only */
    struct board *boards[BOARDS_KEPT];
    uint32_t board_count;
};

weir_status weir_fgd_create(const struct weir_fgd_rules *rules,
                            const struct weir_allocator *allocator, struct weir_fgd **fgd)
{
    const struct weir_allocator memory = weir_allocator_copy(allocator);
    struct weir_fgd *const created = weir_alloc(&memory, 1, sizeof *created);

    if (created == NULL)
        return WEIR_ENOMEM;
    if (weir_fgd_keys_open(&created->keys, rules, &memory) != WEIR_OK) {
        weir_free(&memory, created);
        return WEIR_ENOMEM;
    }
    *fgd = created;
    return WEIR_OK;
}

static void board_destroy(struct weir_fgd *fgd, struct board *board)
{
    const struct weir_allocator *const memory = &fgd->keys.allocator;

    weir_tournament_free(&board->tournament, memory);
    weir_memo_places_free(&board->memo, memory);
    weir_free(memory, board->listed);
    weir_free(memory, board->entries);
    weir_free(memory, board);
}

void weir_fgd_destroy(struct weir_fgd *fgd)
{
    if (fgd == NULL)
        return;
    const struct weir_allocator memory = fgd->keys.allocator;
    for (uint32_t b = 0; b < fgd->board_count; b++)
        board_destroy(fgd, fgd->boards[b]);
    weir_fgd_keys_close(&fgd->keys);
    weir_free(&memory, fgd);
}

const struct weir_fgd_rules *weir_fgd_rules(const struct weir_fgd *fgd)
{
    return &fgd->keys.rules;
}

/* Starts a question: follows mix and size of the inventory. */
static weir_status begin(struct weir_fgd *fgd, const struct weir_cluster *cluster,
                         const struct weir_mix *mix)
{
    bool changed;

    fgd->question++;
    WEIR_TRY(weir_fgd_keys_begin(&fgd->keys, cluster, mix, &changed));
    for (uint32_t b = 0; changed && b < fgd->board_count; b++) {
        fgd->boards[b]->mark = (struct weir_change_mark){ .count = 0 };
        fgd->boards[b]->tournament.count = 0; /* start over */
    }
    return WEIR_OK;
}

/* ---- boards ---- */

static bool board_matches(const struct board *board, const struct board *wanted)
{
    if (board->kind != wanted->kind)
        return false;
    if (board->kind != BOARD_PLACES)
        return board->pool == wanted->pool;
    return memcmp(&board->shape, &wanted->shape, sizeof board->shape) == 0;
}

/* The board of this kind, pool and shape. */
static struct board *board_for(struct weir_fgd *fgd, const struct board *wanted)
{
    uint32_t oldest = 0;

    for (uint32_t b = 0; b < fgd->board_count; b++) {
        if (board_matches(fgd->boards[b], wanted)) {
            fgd->boards[b]->used = fgd->question;
            return fgd->boards[b];
        }
        if (fgd->boards[b]->used < fgd->boards[oldest]->used)
            oldest = b;
    }
    struct board *board;
    if (fgd->board_count < BOARDS_KEPT) {
        board = weir_alloc(&fgd->keys.allocator, 1, sizeof *board);
        if (board == NULL)
            return NULL;
        fgd->boards[fgd->board_count++] = board;
    } else {
        board = fgd->boards[oldest];
    }
    board->kind = wanted->kind;
    board->pool = wanted->pool;
    board->shape = wanted->shape;
    board->tournament.count = 0; /* it starts anew */
    board->used = fgd->question;
    return board;
}

/* Only one device of the best place is kept. */
static void keep_device(struct weir_memo_place *kept, const struct weir_alloc *alloc)
{
    /* cppcheck-suppress uninitvar ; a node without a reason has a place, which is written there */
    kept->device_count = alloc->device_count <= 1 ? alloc->device_count : WEIR_NO_INDEX;
    if (kept->device_count == 1)
        kept->device = alloc->devices[0];
}

/* What the best place for a shape depends on. Where GPUs in the same state are not as good, or few
 * places are looked at, it is which GPU is in which state. */
static uint64_t state_for(const struct weir_fgd *fgd, const struct weir_shape *shape, uint32_t node)
{
    const struct weir_cluster *const cluster = fgd->keys.cluster;
    const struct weir_fgd_rules *const rules = &fgd->keys.rules;
    const bool sees_all =
        shape->kind != WEIR_SHAPE_SPMD_SMALL && shape->kind != WEIR_SHAPE_SPMD_MULTI &&
        (!weir_fgd_is_single(&fgd->keys) ||
         (rules->engines != WEIR_FGD_LOWEST_ENGINES &&
          (rules->whole != WEIR_FGD_FIRST_FREE || shape->kind != WEIR_SHAPE_WHOLE)));

    return sees_all && !weir_near_matters(weir_topology_of(cluster, node))
               ? cluster->lists[node].likeness
               : cluster->nodes[node].version;
}

/* What is found on a node in this state. */
static const struct weir_memo_place *look_at_state(struct weir_fgd *fgd, const struct board *board,
                                                   uint32_t node)
{
    const struct weir_cluster *const cluster = fgd->keys.cluster;
    const uint64_t state = state_for(fgd, &board->shape, node);
    struct weir_memo_place *const kept = weir_memo_place(&board->memo, state);
    struct weir_alloc alloc;
    struct weir_fgd_best best = { .key = WEIR_KEY_ABSENT, .alloc = &alloc };

    /* Of so many places only the first were visited. */
    if (kept->state == state && state != 0 &&
        (kept->candidates < WEIR_CANDIDATES_MOST || kept->version == cluster->nodes[node].version))
        return kept;
    *kept = (struct weir_memo_place){ .state = state, .version = cluster->nodes[node].version };
    kept->reason = weir_candidates_reason(cluster, &board->shape, node);
    if (kept->reason == WEIR_REASON_NONE)
        weir_fgd_keys_place(&fgd->keys, &board->shape, node, &best);
    if (best.candidates > 0)
        keep_device(kept, &alloc);
    kept->candidates = best.candidates;
    kept->primary = best.key.primary;
    kept->secondary = best.key.secondary;
    kept->ties = best.ties;
    return kept;
}

static weir_status refresh_place(struct weir_fgd *fgd, struct board *board, uint32_t node)
{
    struct entry *const entry = &board->entries[node];
    const uint64_t version = fgd->keys.cluster->nodes[node].version;

    if (entry->known && entry->version == version)
        return WEIR_OK;
    if (entry->known) {
        board->candidates -= entry->candidates;
        board->rejected[entry->reason]--;
    }
    const struct weir_memo_place *const kept = look_at_state(fgd, board, node);
    entry->known = true;
    entry->version = version;
    entry->candidates = kept->candidates;
    entry->reason = kept->reason;
    entry->ties = kept->ties;
    board->candidates += entry->candidates;
    board->rejected[entry->reason]++;
    const struct weir_key key = { kept->primary, kept->secondary,
                                  kept->primary == INT64_MAX ? UINT64_MAX : node };
    weir_tournament_set(&board->tournament, node, &key);
    return WEIR_OK;
}

/* The place itself, on the node that won. */
static void take_best(struct weir_fgd *fgd, const struct board *board,
                      const struct weir_place_query *query, uint32_t node, struct weir_alloc *alloc)
{
    const uint64_t version = fgd->keys.cluster->nodes[node].version;
    const uint64_t state = state_for(fgd, query->shape, node);
    struct weir_memo_place *const kept = weir_memo_place(&board->memo, state);
    struct weir_fgd_best best = { .alloc = alloc, .asked = query };

    if (kept->state != state || kept->version != version || state == 0 ||
        kept->device_count == WEIR_NO_INDEX ||
        weir_near_matters(weir_topology_of(fgd->keys.cluster, node))) {
        weir_fgd_keys_place(&fgd->keys, query->shape, node, &best);
        if (kept->state == state && kept->candidates < WEIR_CANDIDATES_MOST) {
            kept->version = version;
            keep_device(kept, alloc);
        }
        return;
    }
    alloc->node = node;
    alloc->device_count = kept->device_count;
    alloc->cpu_units = query->shape->cpu_units;
    alloc->ram_bytes = query->shape->ram_bytes;
    if (kept->device_count == 1)
        alloc->devices[0] = kept->device;
}

/* ---- victims ---- */

static struct weir_memo_hold hold_of(const struct weir_fgd *fgd,
                                     const struct weir_worker_slot *worker)
{
    struct weir_alloc alloc;

    weir_slot_alloc(fgd->keys.cluster, worker, &alloc);
    return weir_memo_hold(&alloc);
}

/* Then they have the same key on a node, but for the order. */
static bool holds_same(const struct weir_memo_hold *a, const struct weir_memo_hold *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* Who goes first of equal victims: the oldest; in single precision who is on the first node, there
 * (and of all the rest that is equal) the one with the lowest id. */
static uint64_t victim_order(const struct weir_fgd *fgd, uint32_t node, uint64_t rank)
{
    return weir_fgd_is_single(&fgd->keys) ? node : rank;
}

static bool stands_behind(const struct listed *a, const struct listed *b)
{
    const int order = memcmp(&a->hold, &b->hold, sizeof a->hold);

    return order < 0 || (order == 0 && a->order < b->order);
}

static void open_list(const struct board *board, struct entry *entry)
{
    entry->first = board->listed_count;
    entry->count = 0;
    entry->is_listed = false; /* until all are in it */
    entry->is_uniform = true;
}

/* Into the last list of the board. */
static weir_status add_listed(const struct weir_fgd *fgd, struct board *board, struct entry *entry,
                              const struct listed *added)
{
    WEIR_ROOM(&fgd->keys.allocator, board->listed, board->listed_capacity, board->listed_count + 1);
    struct listed *const list = &board->listed[entry->first];
    uint32_t place = entry->count++;

    board->listed_count++;
    entry->is_uniform &= place == 0 || holds_same(&list[0].hold, &added->hold);
    for (; place > 0 && stands_behind(&list[place - 1], added); place--)
        list[place] = list[place - 1];
    list[place] = *added;
    return WEIR_OK;
}

static weir_status list_workers(const struct weir_fgd *fgd, struct board *board, uint32_t node,
                                struct entry *entry)
{
    const struct weir_cluster *const cluster = fgd->keys.cluster;
    const struct weir_owner owner = weir_pool_owner(board->pool);

    open_list(board, entry);
    entry->slot = WEIR_NO_INDEX;
    for (uint32_t s = weir_first_peer(cluster, node, &owner); s != WEIR_NO_INDEX;
         s = cluster->slots[s].peer_next) {
        const struct weir_worker_slot *const worker = &cluster->slots[s];
        const uint64_t order = weir_fgd_is_single(&fgd->keys) ? worker->id : worker->sequence;
        const struct listed added = { hold_of(fgd, worker), order, s };
        WEIR_TRY(add_listed(fgd, board, entry, &added));
    }
    entry->is_listed = true;
    return WEIR_OK;
}

static void strike_out(const struct board *board, struct entry *entry, uint32_t slot)
{
    struct listed *const list = &board->listed[entry->first];
    uint32_t place = entry->count;

    while (place > 0 && list[place - 1].slot != slot)
        place--;
    if (place == 0)
        return;
    for (entry->count--; place <= entry->count; place++)
        list[place - 1] = list[place];
}

/* One is looked at for all that hold the same. */
static weir_status refresh_victim(struct weir_fgd *fgd, struct board *board, uint32_t node)
{
    const uint64_t stamp = fgd->keys.cluster->lists[node].stamp;
    struct entry *const entry = &board->entries[node];
    struct weir_key best = WEIR_KEY_ABSENT;
    const struct listed *last = NULL;
    const struct listed *first = NULL; /* who goes */

    if (entry->known && entry->version == stamp)
        return WEIR_OK;
    if (!entry->is_listed)
        WEIR_TRY(list_workers(fgd, board, node, entry));
    entry->known = true;
    entry->version = stamp;
    for (uint32_t i = entry->count; i-- > 0 && (last == NULL || !entry->is_uniform);) {
        const struct listed *const listed = &board->listed[entry->first + i];
        if (last != NULL && holds_same(&last->hold, &listed->hold))
            continue;
        last = listed;
        struct weir_key key = weir_fgd_keys_victim(&fgd->keys, node, listed->slot, &listed->hold);
        key.order = victim_order(fgd, node, listed->order);
        if (weir_key_less(&key, &best) ||
            (first != NULL && !weir_key_less(&best, &key) && listed->order < first->order)) {
            best = key;
            first = listed;
        }
    }
    const uint32_t slot = first == NULL ? WEIR_NO_INDEX : first->slot;
    if (slot != entry->slot && slot != WEIR_NO_INDEX)
        entry->worker = fgd->keys.cluster->slots[slot].id;
    entry->slot = slot;
    weir_tournament_set(&board->tournament, node, &best);
    return WEIR_OK;
}

/* Which of equal stopped workers stays: the first that was stopped; in single precision the one
 * with the lowest id. */
static uint64_t held_order(const struct weir_fgd *fgd, uint64_t id, uint64_t number)
{
    return weir_fgd_is_single(&fgd->keys) ? id : number;
}

static weir_status list_stopped(const struct weir_fgd *fgd, struct board *board, uint32_t first,
                                struct entry *entry)
{
    const struct weir_stopped *const stopped = fgd->stopped;
    struct weir_alloc alloc;

    open_list(board, entry);
    for (uint32_t i = first; i != WEIR_NO_INDEX; i = stopped->entries[i].next) {
        weir_stopped_alloc(stopped, i, &alloc);
        const struct listed added = { weir_memo_hold(&alloc),
                                      held_order(fgd, stopped->entries[i].id, i), i };
        WEIR_TRY(add_listed(fgd, board, entry, &added));
    }
    entry->is_listed = true;
    return WEIR_OK;
}

/* One whose place is free is looked at for all that held the same. Those taken back meanwhile stay
 * in the list until they are met at its end. */
static weir_status refresh_reuse(struct weir_fgd *fgd, struct board *board, uint32_t node)
{
    const struct weir_stopped_node stopped = weir_stopped_at(fgd->stopped, node);
    const uint64_t version = weir_hash_add(fgd->keys.cluster->lists[node].stamp, stopped.changes);
    struct entry *const entry = &board->entries[node];
    const struct listed *last = NULL;
    struct weir_key best = WEIR_KEY_ABSENT;
    struct weir_alloc alloc;

    if (entry->known && entry->version == version)
        return WEIR_OK;
    if (!entry->is_listed || entry->slot != stopped.added)
        WEIR_TRY(list_stopped(fgd, board, stopped.first, entry));
    entry->slot = stopped.added;
    entry->known = true;
    entry->version = version;
    for (uint32_t i = entry->count; i-- > 0 && (last == NULL || !entry->is_uniform);) {
        const struct listed *const listed = &board->listed[entry->first + i];
        if (last != NULL && holds_same(&last->hold, &listed->hold))
            continue;
        if (!weir_stopped_has(fgd->stopped, listed->slot)) {
            entry->count -= i + 1 == entry->count;
            continue;
        }
        weir_stopped_alloc(fgd->stopped, listed->slot, &alloc);
        if (!weir_cluster_fits(fgd->keys.cluster, &alloc))
            continue;
        last = listed;
        struct weir_key key = weir_fgd_keys_held(&fgd->keys, &alloc, &listed->hold);
        key.order = listed->order;
        if (weir_key_less(&key, &best)) {
            best = key;
            entry->worker = listed->slot;
        }
    }
    weir_tournament_set(&board->tournament, node, &best);
    return WEIR_OK;
}

static weir_status board_restart(struct weir_fgd *fgd, struct board *board)
{
    const uint32_t count = fgd->keys.cluster->node_count;
    WEIR_ROOM(&fgd->keys.allocator, board->entries, board->entry_capacity, count);
    memset(board->entries, 0, count * sizeof *board->entries);
    memset(board->rejected, 0, sizeof board->rejected);
    board->candidates = 0;
    board->listed_count = 0;
    board->mark = (struct weir_change_mark){ .count = 0 };
    if (board->kind == BOARD_PLACES)
        WEIR_TRY(weir_memo_places_reset(&board->memo, &fgd->keys.allocator, count));
    return weir_tournament_reset(&board->tournament, &fgd->keys.allocator, count);
}

/* Lists are kept where nobody of the pool came. Where that cannot be told none is, nor in another
 * inventory, where they may have other slots, nor when most of what is listed is out of date. */
static void follow_workers(const struct weir_fgd *fgd, struct board *board, uint32_t changes)
{
    const struct weir_cluster *const cluster = fgd->keys.cluster;
    const bool is_told = changes != WEIR_NO_INDEX && board->listed_of == cluster &&
                         board->listed_count / 2 <=
                             weir_cluster_pool_workers(cluster, board->pool) + WEIR_CHANGE_RING;

    for (uint32_t n = 0; !is_told && n < cluster->node_count; n++)
        board->entries[n].is_listed = false;
    for (uint32_t i = is_told ? changes : 0; i-- > 0;) {
        const struct weir_change *const change = weir_cluster_change(cluster, i);
        struct entry *const entry = &board->entries[change->node];
        if (change->pool != board->pool || !entry->is_listed)
            continue;
        entry->is_listed = change->gone != WEIR_NO_INDEX;
        if (entry->is_listed)
            strike_out(board, entry, change->gone);
    }
    board->listed_count = is_told ? board->listed_count : 0;
    board->listed_of = cluster;
}

/* The last of the list of a node that changed `back` changes ago, or NULL. */
static const struct listed *last_listed(const struct weir_fgd *fgd, const struct board *board,
                                        uint32_t back)
{
    const struct entry *const entry =
        &board->entries[weir_cluster_change_node(fgd->keys.cluster, back)];

    return board->kind != BOARD_PLACES && entry->is_listed && entry->count > 0
               ? &board->listed[entry->first + entry->count - 1]
               : NULL;
}

/* What is looked at lies far apart: it is fetched for all nodes that changed at once. */
static void fetch(const struct weir_fgd *fgd, const struct board *board, uint32_t changes)
{
    for (uint32_t i = 0; i < changes; i++) {
        const uint32_t node = weir_cluster_change_node(fgd->keys.cluster, i);
        __builtin_prefetch(&fgd->keys.cluster->lists[node]);
        __builtin_prefetch(&board->entries[node]);
        __builtin_prefetch(&board->tournament.keys[node]);
        __builtin_prefetch(&fgd->keys.cluster->nodes[node]);
        if (board->kind == BOARD_REUSE && node < fgd->stopped->node_count)
            __builtin_prefetch(&fgd->stopped->nodes[node]);
    }
    for (uint32_t i = 0; i < changes; i++)
        __builtin_prefetch(last_listed(fgd, board, i));
    for (uint32_t i = 0; i < changes && board->kind == BOARD_REUSE; i++) {
        const struct listed *const listed = last_listed(fgd, board, i);
        if (listed != NULL)
            __builtin_prefetch(&fgd->stopped->entries[listed->slot]);
    }
}

/* Brings a board up to date. */
static weir_status board_follow(struct weir_fgd *fgd, struct board *board)
{
    static weir_status (*const refreshes[])(struct weir_fgd *, struct board *, uint32_t) = {
        [BOARD_PLACES] = refresh_place,
        [BOARD_VICTIMS] = refresh_victim,
        [BOARD_REUSE] = refresh_reuse,
    };

    if (board->tournament.count != fgd->keys.cluster->node_count || board->tournament.count == 0)
        WEIR_TRY(board_restart(fgd, board));
    const uint32_t changes = weir_cluster_changes(fgd->keys.cluster, &board->mark);
    const uint32_t all = fgd->keys.cluster->node_count;
    if (board->kind == BOARD_VICTIMS)
        follow_workers(fgd, board, changes);
    if (changes != WEIR_NO_INDEX)
        fetch(fgd, board, changes);
    for (uint32_t i = 0; i < (changes == WEIR_NO_INDEX ? all : changes); i++)
        WEIR_TRY(refreshes[board->kind](
            fgd, board,
            changes == WEIR_NO_INDEX ? i : weir_cluster_change_node(fgd->keys.cluster, i)));
    board->mark = weir_cluster_change_mark(fgd->keys.cluster);
    return WEIR_OK;
}

/* ---- reuse ---- */

/* The first best worker of a list to reuse: its index and key, or WEIR_NO_INDEX. */
static uint32_t find_listed(struct weir_fgd *fgd, const struct weir_place_query *query,
                            struct weir_key *best)
{
    uint32_t found = WEIR_NO_INDEX;

    for (uint32_t r = 0; r < query->reusable_count; r++) {
        const struct weir_worker *const worker = &query->reusable[r];
        if (!weir_cluster_fits(fgd->keys.cluster, &worker->alloc))
            continue;
        const struct weir_memo_hold hold = weir_memo_hold(&worker->alloc);
        struct weir_key key = weir_fgd_keys_held(&fgd->keys, &worker->alloc, &hold);
        key.order = held_order(fgd, worker->id, r);
        if (weir_key_less(&key, best)) {
            *best = key;
            found = r;
        }
    }
    return found;
}

/* The same of workers by node. */
static weir_status find_stopped(struct weir_fgd *fgd, const struct weir_place_query *query,
                                struct weir_key *best, uint32_t *found)
{
    const struct board wanted = { .kind = BOARD_REUSE, .pool = query->owner.index };

    if (query->stopped->live == 0)
        return WEIR_OK;
    fgd->stopped = query->stopped;
    struct board *const board = board_for(fgd, &wanted);
    if (board == NULL)
        return WEIR_ENOMEM;
    if (board->round != query->stopped->round ||
        board->listed_count / 2 > query->stopped->entry_count + WEIR_CHANGE_RING)
        board->tournament.count = 0; /* start over */
    board->round = query->stopped->round;
    WEIR_TRY(board_follow(fgd, board));
    const uint32_t node = weir_tournament_best(&board->tournament);
    if (node == WEIR_NO_INDEX)
        return WEIR_OK;
    *best = board->tournament.keys[node];
    *found = (uint32_t)board->entries[node].worker;
    return WEIR_OK;
}

/* The first best worker to reuse, with its key, or WEIR_NO_INDEX. */
static weir_status find_reuse(struct weir_fgd *fgd, const struct weir_place_query *query,
                              struct weir_key *best, uint32_t *found)
{
    *best = WEIR_KEY_ABSENT;
    *found = WEIR_NO_INDEX;
    if (weir_fgd_is_single(&fgd->keys) && fgd->keys.rules.reuse == WEIR_FGD_REUSE_NEVER)
        return WEIR_OK;
    if (query->stopped != NULL)
        WEIR_TRY(find_stopped(fgd, query, best, found));
    else
        *found = find_listed(fgd, query, best);
    if (*found != WEIR_NO_INDEX)
        weir_fgd_keys_reward(&fgd->keys, best);
    return WEIR_OK;
}

static void copy_held(const struct weir_place_query *query, uint32_t number,
                      struct weir_alloc *alloc)
{
    if (query->stopped != NULL)
        weir_stopped_alloc(query->stopped, number, alloc);
    else
        weir_place_copy(alloc, &query->reusable[number].alloc);
}

/* ---- questions ---- */

static void report(const struct weir_fgd *fgd, const struct board *board,
                   const struct weir_key *won, struct weir_choice *choice)
{
    const struct weir_tournament *const tournament = &board->tournament;
    const uint32_t best = weir_tournament_best(tournament);
    const struct weir_score score = weir_fgd_keys_score(&fgd->keys, won);

    choice->nodes_seen = fgd->keys.cluster->node_count;
    choice->candidates = board->candidates;
    memcpy(choice->rejected, board->rejected, sizeof choice->rejected);
    choice->rejected[WEIR_REASON_NONE] = 0;
    choice->runner_up_node = WEIR_NO_INDEX;
    choice->ties = 0;
    choice->runner_up_primary = 0;
    choice->runner_up_secondary = 0;
    choice->primary = score.primary;
    choice->secondary = score.secondary;
    if (best == WEIR_NO_INDEX || won->primary == INT64_MAX)
        return;
    const bool fresh = tournament->keys[best].order == won->order;
    const uint32_t second = fresh ? weir_tournament_second(tournament) : best;
    choice->ties = fresh ? board->entries[best].ties : 1;
    if (second == WEIR_NO_INDEX)
        return;
    const struct weir_key *const rival = &tournament->keys[second];
    const struct weir_score behind = weir_fgd_keys_score(&fgd->keys, rival);
    choice->runner_up_node = second;
    choice->runner_up_primary = behind.primary;
    choice->runner_up_secondary = behind.secondary;
    if (rival->primary == won->primary && rival->secondary == won->secondary)
        choice->ties++;
}

/* Whether the best fresh place is strictly better than the best reused one. */
static bool fresh_wins(const struct weir_key *fresh, const struct weir_key *reused)
{
    return fresh->primary < reused->primary ||
           (fresh->primary == reused->primary && fresh->secondary < reused->secondary);
}

weir_status weir_fgd_place(struct weir_fgd *fgd, const struct weir_place_query *query,
                           struct weir_place_answer *answer, struct weir_error *error)
{
    const struct board wanted = { .kind = BOARD_PLACES, .shape = *query->shape };
    struct weir_key reused_key;
    uint32_t reused;

    WEIR_TRY(begin(fgd, query->cluster, query->mix));
    struct board *const board = board_for(fgd, &wanted);
    if (board == NULL)
        return WEIR_ENOMEM;
    WEIR_TRY(board_follow(fgd, board));
    WEIR_TRY(find_reuse(fgd, query, &reused_key, &reused));
    const uint32_t node = weir_tournament_best(&board->tournament);
    answer->reserved = 0;
    answer->reused = reused;
    if (reused != WEIR_NO_INDEX &&
        (node == WEIR_NO_INDEX || !fresh_wins(&board->tournament.keys[node], &reused_key))) {
        copy_held(query, reused, &answer->alloc);
        reused_key.order = UINT64_MAX; /* no node's order */
        report(fgd, board, &reused_key, &answer->choice);
        return WEIR_OK;
    }
    answer->reused = WEIR_NO_INDEX;
    if (node == WEIR_NO_INDEX) {
        const struct weir_key nobody = WEIR_KEY_ABSENT;
        report(fgd, board, &nobody, &answer->choice);
        return weir_scan_busy(&answer->choice, error);
    }
    take_best(fgd, board, query, node, &answer->alloc);
    report(fgd, board, &board->tournament.keys[node], &answer->choice);
    return WEIR_OK;
}

/* Looks at every candidate: few of them, or a list given by the caller. */
static weir_status evict_listed(struct weir_fgd *fgd, const struct weir_evict_query *query,
                                uint32_t count, uint64_t *worker, struct weir_error *error)
{
    struct weir_key best = WEIR_KEY_ABSENT;
    uint64_t found = UINT64_MAX;

    for (uint32_t i = 0; i < count; i++) {
        const uint64_t id = weir_evict_candidate(query, i);
        const uint32_t slot = weir_id_table_find(&fgd->keys.cluster->worker_ids, id);
        if (slot == WEIR_NO_INDEX)
            return weir_fail(error, WEIR_ENOTFOUND, "there is no worker %llu",
                             (unsigned long long)id);
        const struct weir_worker_slot *const held = &fgd->keys.cluster->slots[slot];
        const struct weir_memo_hold hold = hold_of(fgd, held);
        struct weir_key key = weir_fgd_keys_victim(&fgd->keys, held->node, slot, &hold);
        key.order = victim_order(fgd, held->node, i);
        if (weir_key_less(&key, &best) || (!weir_key_less(&best, &key) && id < found)) {
            best = key;
            found = id;
        }
    }
    *worker = found;
    return WEIR_OK;
}

weir_status weir_fgd_evict(struct weir_fgd *fgd, const struct weir_evict_query *query,
                           uint64_t *worker, struct weir_error *error)
{
    const uint32_t count = weir_evict_count(query);

    if (count == 0)
        return weir_evict_nobody(query, error);
    WEIR_TRY(begin(fgd, query->cluster, query->mix));
    if (query->candidate_count > 0 || count <= SMALL_POOL)
        return evict_listed(fgd, query, count, worker, error);
    const struct board wanted = { .kind = BOARD_VICTIMS, .pool = query->owner.index };
    struct board *const board = board_for(fgd, &wanted);
    if (board == NULL)
        return WEIR_ENOMEM;
    WEIR_TRY(board_follow(fgd, board));
    *worker = board->entries[weir_tournament_best(&board->tournament)].worker;
    return WEIR_OK;
}
