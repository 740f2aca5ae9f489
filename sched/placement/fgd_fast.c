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
    SMALL_POOL = 24,  /* up to this many candidates a victim is found by looking at each */
    FIRSTS_KEPT = 3
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
        uint32_t firsts[FIRSTS_KEPT]; /* victim boards: slots of those who go first */
    };
    bool known;
    bool has_firsts; /* all of them are there; until a worker of the pool comes or goes */
    uint8_t first_count;
};

enum board_kind { BOARD_PLACES, BOARD_VICTIMS, BOARD_REUSE };

struct board {
    uint32_t kind;
    uint32_t pool;                        /* victim and reuse boards */
    uint64_t round;                       /* reuse boards: of the list of stopped workers */
    const struct weir_cluster *firsts_of; /* victim boards: whose slots they are; not read */
    struct weir_shape shape;              /* place boards */
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

/* What is found on a node in this state. */
static const struct weir_memo_place *look_at_state(struct weir_fgd *fgd, const struct board *board,
                                                   uint32_t node)
{
    const struct weir_cluster *const cluster = fgd->keys.cluster;
    const uint64_t state = cluster->nodes[node].version;
    struct weir_memo_place *const kept = weir_memo_place(&board->memo, state);
    struct weir_alloc alloc;
    struct weir_fgd_best best = { .key = WEIR_KEY_ABSENT, .alloc = &alloc };

    if (kept->state == state && state != 0)
        return kept;
    *kept = (struct weir_memo_place){ .state = state };
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

static void refresh_place(struct weir_fgd *fgd, struct board *board, uint32_t node)
{
    struct entry *const entry = &board->entries[node];
    const uint64_t version = fgd->keys.cluster->nodes[node].version;

    if (entry->known && entry->version == version)
        return;
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
}

/* The place itself, on the node that won. */
static void take_best(struct weir_fgd *fgd, const struct board *board,
                      const struct weir_place_query *query, uint32_t node, struct weir_alloc *alloc)
{
    const struct weir_memo_place *const kept =
        weir_memo_place(&board->memo, fgd->keys.cluster->nodes[node].version);
    struct weir_fgd_best best = { .alloc = alloc, .asked = query };

    if (kept->state != fgd->keys.cluster->nodes[node].version || kept->state == 0 ||
        kept->device_count == WEIR_NO_INDEX ||
        weir_near_matters(weir_topology_of(fgd->keys.cluster, node))) {
        weir_fgd_keys_place(&fgd->keys, query->shape, node, &best);
        return;
    }
    alloc->node = node;
    alloc->device_count = kept->device_count;
    alloc->cpu_units = query->shape->cpu_units;
    alloc->ram_bytes = query->shape->ram_bytes;
    if (kept->device_count == 1)
        alloc->devices[0] = kept->device;
}

/* Victims on one node that hold the same of it have the same key but for their order. */
static bool holds_same(const struct weir_worker_slot *a, const struct weir_worker_slot *b)
{
    return a->device_count == b->device_count && a->device_count <= 1 &&
           a->cpu_units == b->cpu_units && a->ram_bytes == b->ram_bytes &&
           (a->device_count == 0 ||
            (a->first.gpu == b->first.gpu && a->first.units == b->first.units &&
             a->first.mem_bytes == b->first.mem_bytes &&
             weir_bit_count(a->first.nvdec_mask) == weir_bit_count(b->first.nvdec_mask) &&
             weir_bit_count(a->first.nvenc_mask) == weir_bit_count(b->first.nvenc_mask)));
}

/* Who goes first of equal victims: the oldest; in single precision who is on the first node, there
 * (and of all the rest that is equal) the one with the lowest id. */
static uint64_t victim_order(const struct weir_fgd *fgd, const struct weir_worker_slot *worker,
                             uint64_t rank)
{
    return weir_fgd_is_single(&fgd->keys) ? worker->node : rank;
}

struct victim {
    struct weir_key key;
    uint64_t worker;
};

static bool goes_before(const struct victim *a, const struct victim *b)
{
    return weir_key_less(&a->key, &b->key) ||
           (!weir_key_less(&b->key, &a->key) && a->worker < b->worker);
}

static void meet_victim(struct weir_fgd *fgd, uint32_t slot, struct victim *best)
{
    const struct weir_worker_slot *const worker = &fgd->keys.cluster->slots[slot];
    const uint64_t order = victim_order(fgd, worker, worker->sequence);
    const struct victim victim = { weir_fgd_keys_victim(&fgd->keys, worker, order), worker->id };

    if (goes_before(&victim, best))
        *best = victim;
}

/* Whether `a` goes before `b`, which holds the same. */
static bool is_earlier(const struct weir_fgd *fgd, const struct weir_worker_slot *a,
                       const struct weir_worker_slot *b)
{
    const uint64_t first = victim_order(fgd, a, a->sequence);
    const uint64_t second = victim_order(fgd, b, b->sequence);

    return first < second || (first == second && a->id < b->id);
}

/* Who goes first of those on the node that hold the same. True when these are all. */
static bool find_firsts(const struct weir_fgd *fgd, const struct board *board, uint32_t node,
                        struct entry *entry)
{
    const struct weir_cluster *const cluster = fgd->keys.cluster;
    const struct weir_owner owner = weir_pool_owner(board->pool);

    entry->first_count = 0;
    for (uint32_t s = weir_first_peer(cluster, node, &owner); s != WEIR_NO_INDEX;
         s = cluster->slots[s].peer_next) {
        const struct weir_worker_slot *const worker = &cluster->slots[s];
        uint32_t i = 0;
        while (i < entry->first_count && !holds_same(&cluster->slots[entry->firsts[i]], worker))
            i++;
        if (i == FIRSTS_KEPT)
            return false;
        if (i == entry->first_count)
            entry->firsts[entry->first_count++] = s;
        else if (is_earlier(fgd, worker, &cluster->slots[entry->firsts[i]]))
            entry->firsts[i] = s;
    }
    return true;
}

static void refresh_victim(struct weir_fgd *fgd, struct board *board, uint32_t node)
{
    const struct weir_cluster *const cluster = fgd->keys.cluster;
    const struct weir_owner owner = weir_pool_owner(board->pool);
    struct entry *const entry = &board->entries[node];
    struct victim best = { .key = WEIR_KEY_ABSENT };

    if (entry->known && entry->version == cluster->lists[node].stamp)
        return;
    if (!entry->has_firsts)
        entry->has_firsts = find_firsts(fgd, board, node, entry);
    entry->known = true;
    entry->version = cluster->lists[node].stamp;
    for (uint32_t i = 0; entry->has_firsts && i < entry->first_count; i++)
        meet_victim(fgd, entry->firsts[i], &best);
    if (!entry->has_firsts)
        for (uint32_t s = weir_first_peer(cluster, node, &owner); s != WEIR_NO_INDEX;
             s = cluster->slots[s].peer_next)
            meet_victim(fgd, s, &best);
    entry->worker = best.worker;
    weir_tournament_set(&board->tournament, node, &best.key);
}

/* Which of equal stopped workers stays: the first that was stopped; in single precision the one
 * with the lowest id. */
static uint64_t held_order(const struct weir_fgd *fgd, uint64_t id, uint64_t number)
{
    return weir_fgd_is_single(&fgd->keys) ? id : number;
}

/* Workers without devices and of the same amounts have the same key on a node, but for the order.
 */
static bool is_twin(const struct weir_stopped_entry *a, const struct weir_stopped_entry *b)
{
    return a->device_count == 0 && b->device_count == 0 && a->cpu_units == b->cpu_units &&
           a->ram_bytes == b->ram_bytes;
}

static void refresh_reuse(struct weir_fgd *fgd, struct board *board, uint32_t node)
{
    const struct weir_stopped *const stopped = fgd->stopped;
    struct entry *const entry = &board->entries[node];
    const uint64_t version =
        weir_hash_add(fgd->keys.cluster->lists[node].stamp, weir_stopped_changes(stopped, node));
    const struct weir_stopped_entry *last = NULL;
    struct weir_key best = WEIR_KEY_ABSENT;
    struct weir_key key = WEIR_KEY_ABSENT;

    if (entry->known && entry->version == version)
        return;
    entry->known = true;
    entry->version = version;
    for (uint32_t i = weir_stopped_first(stopped, node); i != WEIR_NO_INDEX;
         i = stopped->entries[i].next) {
        struct weir_alloc alloc;
        if (last == NULL || !is_twin(last, &stopped->entries[i])) {
            weir_stopped_alloc(stopped, i, &alloc);
            key = weir_fgd_keys_held(&fgd->keys, &alloc, i);
        }
        last = &stopped->entries[i];
        key.order = key.primary == INT64_MAX ? UINT64_MAX : held_order(fgd, last->id, i);
        if (weir_key_less(&key, &best)) {
            best = key;
            entry->worker = i;
        }
    }
    weir_tournament_set(&board->tournament, node, &best);
}

static weir_status board_restart(struct weir_fgd *fgd, struct board *board)
{
    const uint32_t count = fgd->keys.cluster->node_count;
    WEIR_ROOM(&fgd->keys.allocator, board->entries, board->entry_capacity, count);
    memset(board->entries, 0, count * sizeof *board->entries);
    memset(board->rejected, 0, sizeof board->rejected);
    board->candidates = 0;
    board->mark = (struct weir_change_mark){ .count = 0 };
    if (board->kind == BOARD_PLACES)
        WEIR_TRY(weir_memo_places_reset(&board->memo, &fgd->keys.allocator, count));
    return weir_tournament_reset(&board->tournament, &fgd->keys.allocator, count);
}

/* Where workers of the pool came or went; everywhere when that cannot be told, or in another
 * inventory, where they may have other slots. */
static void forget_firsts(const struct weir_fgd *fgd, struct board *board, uint32_t changes)
{
    const struct weir_cluster *const cluster = fgd->keys.cluster;
    const bool is_told = changes != WEIR_NO_INDEX && board->firsts_of == cluster;

    for (uint32_t n = 0; !is_told && n < cluster->node_count; n++)
        board->entries[n].has_firsts = false;
    for (uint32_t i = 0; is_told && i < changes; i++)
        if (weir_cluster_change_pool(cluster, i) == board->pool)
            board->entries[weir_cluster_change_node(cluster, i)].has_firsts = false;
    board->firsts_of = cluster;
}

/* Brings a board up to date. */
static weir_status board_follow(struct weir_fgd *fgd, struct board *board)
{
    static void (*const refreshes[])(struct weir_fgd *, struct board *, uint32_t) = {
        [BOARD_PLACES] = refresh_place,
        [BOARD_VICTIMS] = refresh_victim,
        [BOARD_REUSE] = refresh_reuse,
    };

    if (board->tournament.count != fgd->keys.cluster->node_count || board->tournament.count == 0)
        WEIR_TRY(board_restart(fgd, board));
    const uint32_t changes = weir_cluster_changes(fgd->keys.cluster, &board->mark);
    const uint32_t all = fgd->keys.cluster->node_count;
    if (board->kind == BOARD_VICTIMS)
        forget_firsts(fgd, board, changes);
    for (uint32_t i = 0; i < (changes == WEIR_NO_INDEX ? all : changes); i++)
        refreshes[board->kind](
            fgd, board,
            changes == WEIR_NO_INDEX ? i : weir_cluster_change_node(fgd->keys.cluster, i));
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
        const struct weir_key key =
            weir_fgd_keys_held(&fgd->keys, &worker->alloc, held_order(fgd, worker->id, r));
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
    if (board->round != query->stopped->round)
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
    struct victim best = { .key = WEIR_KEY_ABSENT };

    for (uint32_t i = 0; i < count; i++) {
        const uint64_t id = weir_evict_candidate(query, i);
        const uint32_t slot = weir_id_table_find(&fgd->keys.cluster->worker_ids, id);
        if (slot == WEIR_NO_INDEX)
            return weir_fail(error, WEIR_ENOTFOUND, "there is no worker %llu",
                             (unsigned long long)id);
        const struct weir_worker_slot *const held = &fgd->keys.cluster->slots[slot];
        const struct victim victim = {
            weir_fgd_keys_victim(&fgd->keys, held, victim_order(fgd, held, i)), id
        };
        if (goes_before(&victim, &best))
            best = victim;
    }
    *worker = best.worker;
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
