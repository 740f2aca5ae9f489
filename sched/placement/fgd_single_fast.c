/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The answers of fgd_single.c with the best of every node kept.
 *
 * A board holds, for one shape, or for the victims or the stopped workers of one pool, the best
 * score of each node; an entry is computed again when the node or the mix changed since. A question
 * looks at one entry a node, never at a node's places.
 *
 * Invariant: every answer is the one of fgd_single.c. The report may name another runner-up of the
 * same score.
 */
#include "sched/placement/fgd.h"
#include "sched/placement/parts/scan.h"

#include "sched/cluster/state.h"
#include "sched/internal/alloc.h"
#include "sched/internal/hash.h"
#include "sched/internal/stopped.h"

#include <math.h>
#include <string.h>

enum {
    BOARDS_KEPT = 64, /* beyond that the one not used for longest is dropped */
    SMALL_POOL = 24,  /* up to this many candidates a victim is found by looking at each */
    SAME_KEPT = 8
};

struct entry {
    uint64_t version; /* of the node; victims and reuse: the stamp of its history */
    uint64_t mix;     /* 0 = empty */
    uint64_t worker;  /* victims and reuse: its id */
    uint32_t number;  /* reuse: of the stopped worker */
    struct weir_score best, second;
    uint32_t candidates; /* acceptable ones; for victims 1 or 0 */
    uint32_t ties;
    uint32_t reason;
};

enum board_kind { BOARD_PLACES, BOARD_VICTIMS, BOARD_REUSE };

struct board {
    uint32_t kind;
    uint32_t pool;
    uint64_t round; /* reuse: of the list of stopped workers */
    struct weir_shape shape;
    uint64_t used;
    struct entry *entries; /* by node */
    uint32_t capacity;
};

struct weir_fgd_single {
    struct weir_allocator allocator;
    struct weir_fgd_rules rules;
    struct weir_frag frag; /* only says whether the mix changed */
    uint64_t mix, question;
    struct board boards[BOARDS_KEPT];
    uint32_t board_count;
};

weir_status weir_fgd_single_create(const struct weir_fgd_rules *rules,
                                   const struct weir_allocator *allocator,
                                   struct weir_fgd_single **fgd)
{
    const struct weir_allocator memory = weir_allocator_copy(allocator);
    struct weir_fgd_single *const made = weir_alloc(&memory, 1, sizeof *made);

    if (made == NULL)
        return WEIR_ENOMEM;
    made->allocator = memory;
    made->rules = *rules;
    *fgd = made;
    return WEIR_OK;
}

void weir_fgd_single_destroy(struct weir_fgd_single *fgd)
{
    if (fgd == NULL)
        return;
    const struct weir_allocator memory = fgd->allocator;
    for (uint32_t b = 0; b < fgd->board_count; b++)
        weir_free(&memory, fgd->boards[b].entries);
    weir_frag_free(&fgd->frag, &memory);
    weir_free(&memory, fgd);
}

/* ---- boards ---- */

static weir_status begin(struct weir_fgd_single *fgd, const struct weir_mix *mix)
{
    bool changed;

    fgd->question++;
    WEIR_TRY(weir_frag_prepare(&fgd->frag, &fgd->allocator, mix, &changed));
    fgd->mix += changed;
    return WEIR_OK;
}

static void forget(struct board *board)
{
    if (board->capacity > 0)
        memset(board->entries, 0, board->capacity * sizeof *board->entries);
}

static bool board_matches(const struct board *board, const struct board *wanted)
{
    if (board->kind != wanted->kind)
        return false;
    if (board->kind != BOARD_PLACES)
        return board->pool == wanted->pool;
    return memcmp(&board->shape, &wanted->shape, sizeof board->shape) == 0;
}

/* A new one, or the one not used for longest. */
static struct board *board_take(struct weir_fgd_single *fgd, const struct board *wanted)
{
    struct board *board = &fgd->boards[0];

    for (uint32_t b = 1; b < fgd->board_count; b++)
        board = fgd->boards[b].used < board->used ? &fgd->boards[b] : board;
    if (fgd->board_count < BOARDS_KEPT)
        board = &fgd->boards[fgd->board_count++];
    forget(board);
    board->kind = wanted->kind;
    board->pool = wanted->pool;
    board->shape = wanted->shape;
    return board;
}

/* The board of this kind, pool and shape; entries may be old. */
static struct board *board_for(struct weir_fgd_single *fgd, const struct board *wanted,
                               uint32_t nodes)
{
    struct board *board = NULL;

    for (uint32_t b = 0; board == NULL && b < fgd->board_count; b++) {
        if (board_matches(&fgd->boards[b], wanted))
            board = &fgd->boards[b];
    }
    if (board == NULL)
        board = board_take(fgd, wanted);
    board->used = fgd->question;
    const uint32_t before = board->capacity;
    struct entry *const entries = weir_grow(&fgd->allocator, board->entries, &board->capacity,
                                            nodes > 0 ? nodes : 1, sizeof *entries);
    if (entries == NULL)
        return NULL;
    if (board->capacity > before)
        memset(entries + before, 0, (board->capacity - before) * sizeof *entries);
    board->entries = entries;
    return board;
}

static bool is_less(struct weir_score a, struct weir_score b)
{
    return a.primary < b.primary || (!(b.primary < a.primary) && a.secondary < b.secondary);
}

/* ---- places ---- */

struct visit {
    const struct weir_fgd_single *fgd;
    const struct weir_place_query *query;
    struct entry *entry;
    struct weir_alloc *alloc; /* filled with the best one unless NULL */
};

static bool weigh(void *state, const struct weir_alloc *candidate)
{
    const struct visit *const visit = state;
    struct entry *const entry = visit->entry;
    const struct weir_score score =
        weir_fgd_single_score(&visit->fgd->rules, visit->query, candidate, false);
    const bool goes_on = !(visit->fgd->rules.whole == WEIR_FGD_FIRST_FREE &&
                           visit->query->shape->kind == WEIR_SHAPE_WHOLE);

    if (isnan(score.primary) || isnan(score.secondary))
        return goes_on;
    if (entry->candidates++ > 0 && !is_less(score, entry->best)) {
        entry->ties += !is_less(entry->best, score);
        if (entry->candidates == 2 || is_less(score, entry->second))
            entry->second = score;
        return goes_on;
    }
    entry->second = entry->best;
    entry->best = score;
    entry->ties = 1;
    if (visit->alloc != NULL)
        weir_place_copy(visit->alloc, candidate);
    return goes_on;
}

/* The best place on one node. */
static void find_place(const struct weir_fgd_single *fgd, const struct weir_place_query *query,
                       uint32_t node, struct entry *entry, struct weir_alloc *alloc)
{
    struct visit visit = { .fgd = fgd, .query = query, .entry = entry, .alloc = alloc };
    struct weir_twins twins;
    struct weir_candidate_query candidates = { .cluster = query->cluster,
                                               .shape = query->shape,
                                               .node = node,
                                               .asked = alloc == NULL ? NULL : query };

    *entry = (struct entry){ .version = query->cluster->nodes[node].version, .mix = fgd->mix };
    entry->reason = weir_candidates_reason(query->cluster, query->shape, node);
    if (entry->reason != WEIR_REASON_NONE)
        return;
    if (fgd->rules.engines != WEIR_FGD_LOWEST_ENGINES) {
        weir_twins_find(query->cluster, node, &twins);
        candidates.twins = &twins;
    }
    (void)weir_candidates_visit(&candidates, weigh, &visit);
}

/* Counts a node in and compares its best; true when it leads now. */
static bool merge(struct weir_choice *choice, const struct entry *entry, uint32_t node,
                  uint32_t leader, bool found)
{
    const struct weir_score best = { choice->primary, choice->secondary };
    const struct weir_score second = { choice->runner_up_primary, choice->runner_up_secondary };
    const bool leads = !found || is_less(entry->best, best);
    struct weir_score rival = entry->best;
    uint32_t rival_node = node;
    bool has_rival = true;

    choice->candidates += entry->candidates;
    if (leads) {
        const bool has_own = entry->candidates > 1;
        const bool is_own = has_own && (!found || is_less(entry->second, best));
        has_rival = found || has_own;
        rival = is_own ? entry->second : best;
        rival_node = is_own ? node : leader;
        choice->primary = entry->best.primary;
        choice->secondary = entry->best.secondary;
        choice->ties = entry->ties;
    } else if (!is_less(best, entry->best)) {
        choice->ties += entry->ties;
    }
    if (has_rival && (leads || choice->runner_up_node == WEIR_NO_INDEX || is_less(rival, second))) {
        choice->runner_up_node = rival_node;
        choice->runner_up_primary = rival.primary;
        choice->runner_up_secondary = rival.secondary;
    }
    return leads;
}

/* ---- reuse ---- */

/* One more worker that may stay; smaller is better, of equal ones the lower id. */
static void weigh_stopped(struct entry *entry, const struct weir_score *score, uint64_t worker,
                          uint32_t number)
{
    const bool is_first = entry->candidates++ == 0;

    if (is_first || is_less(*score, entry->best)) {
        entry->second = entry->best;
        entry->best = *score;
        entry->ties = 1;
    } else {
        const bool is_tie = !is_less(entry->best, *score);
        if (entry->candidates == 2 || is_less(*score, entry->second))
            entry->second = *score;
        entry->ties += is_tie;
        if (!is_tie || worker > entry->worker)
            return;
    }
    entry->worker = worker;
    entry->number = number;
}

/* NAN when its place is taken. */
static struct weir_score reuse_score(const struct weir_fgd_single *fgd,
                                     const struct weir_place_query *query,
                                     const struct weir_alloc *alloc)
{
    const struct weir_score taken = { .primary = (double)NAN, .secondary = (double)NAN };

    if (!weir_cluster_fits(query->cluster, alloc))
        return taken;
    return weir_fgd_single_score(&fgd->rules, query, alloc, true);
}

/* The stopped workers of one node. */
static void find_stopped(const struct weir_fgd_single *fgd, const struct weir_place_query *query,
                         uint32_t node, struct entry *entry)
{
    const struct weir_stopped *const stopped = query->stopped;
    const uint64_t version =
        weir_hash_add(query->cluster->lists[node].stamp, weir_stopped_changes(stopped, node));

    if (entry->mix == fgd->mix && entry->version == version)
        return;
    *entry = (struct entry){ .version = version, .mix = fgd->mix };
    for (uint32_t i = weir_stopped_first(stopped, node); i != WEIR_NO_INDEX;
         i = stopped->entries[i].next) {
        struct weir_alloc alloc;
        weir_stopped_alloc(stopped, i, &alloc);
        const struct weir_score score = reuse_score(fgd, query, &alloc);
        if (!isnan(score.primary) && !isnan(score.secondary))
            weigh_stopped(entry, &score, stopped->entries[i].id, i);
    }
}

/* Who of the workers that may stay leads so far. */
struct reuse_leader {
    uint64_t worker;
    uint32_t number; /* WEIR_NO_INDEX = nobody */
    uint32_t node;
};

/* Counts in the workers of one entry. */
static void merge_reuse(struct weir_choice *choice, const struct entry *entry, uint32_t node,
                        struct reuse_leader *leader)
{
    const struct weir_score best = { choice->primary, choice->secondary };
    const bool found = leader->number != WEIR_NO_INDEX;
    const bool wins_tie = found && !is_less(best, entry->best) && entry->worker < leader->worker;

    if (merge(choice, entry, node, leader->node, found) || wins_tie)
        *leader = (struct reuse_leader){ entry->worker, entry->number, node };
}

static void find_listed(const struct weir_fgd_single *fgd, const struct weir_place_query *query,
                        struct weir_choice *choice, struct reuse_leader *leader)
{
    for (uint32_t r = 0; r < query->reusable_count; r++) {
        const struct weir_worker *const worker = &query->reusable[r];
        const struct entry entry = { .best = reuse_score(fgd, query, &worker->alloc),
                                     .worker = worker->id,
                                     .number = r,
                                     .candidates = 1,
                                     .ties = 1 };
        if (!isnan(entry.best.primary) && !isnan(entry.best.secondary))
            merge_reuse(choice, &entry, worker->alloc.node, leader);
    }
}

/* The best worker that may stay, of equal ones the one with the lowest id. */
static weir_status find_reuse(struct weir_fgd_single *fgd, const struct weir_place_query *query,
                              struct weir_choice *choice, struct reuse_leader *leader)
{
    const struct board wanted = { .kind = BOARD_REUSE, .pool = query->owner.index };

    if (fgd->rules.reuse == WEIR_FGD_REUSE_NEVER)
        return WEIR_OK;
    if (query->stopped == NULL)
        find_listed(fgd, query, choice, leader);
    if (query->stopped == NULL || query->stopped->live == 0)
        return WEIR_OK;
    struct board *const board = board_for(fgd, &wanted, query->cluster->node_count);
    if (board == NULL)
        return WEIR_ENOMEM;
    if (board->round != query->stopped->round)
        forget(board);
    board->round = query->stopped->round;
    for (uint32_t n = 0; n < query->cluster->node_count; n++) {
        find_stopped(fgd, query, n, &board->entries[n]);
        if (board->entries[n].candidates > 0)
            merge_reuse(choice, &board->entries[n], n, leader);
    }
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

weir_status weir_fgd_single_fast_place(struct weir_fgd_single *fgd,
                                       const struct weir_place_query *query,
                                       struct weir_place_answer *answer, struct weir_error *error)
{
    const struct weir_cluster *const cluster = query->cluster;
    struct weir_choice *const choice = &answer->choice;
    struct reuse_leader stays = { .number = WEIR_NO_INDEX, .node = WEIR_NO_INDEX };
    const struct board wanted = { .kind = BOARD_PLACES, .shape = *query->shape };
    struct entry again;

    WEIR_TRY(begin(fgd, query->mix));
    struct board *const board = board_for(fgd, &wanted, cluster->node_count);
    if (board == NULL)
        return WEIR_ENOMEM;
    weir_answer_begin(answer);
    choice->nodes_seen = cluster->node_count;
    WEIR_TRY(find_reuse(fgd, query, choice, &stays));
    answer->reused = stays.number;
    uint32_t leader = stays.node;
    for (uint32_t n = 0; n < cluster->node_count; n++) {
        struct entry *const entry = &board->entries[n];
        if (entry->mix != fgd->mix || entry->version != cluster->nodes[n].version)
            find_place(fgd, query, n, entry, NULL);
        if (entry->reason != WEIR_REASON_NONE) {
            choice->rejected[entry->reason]++;
        } else if (entry->candidates > 0 &&
                   merge(choice, entry, n, leader, leader != WEIR_NO_INDEX)) {
            leader = n;
            answer->reused = WEIR_NO_INDEX;
        }
    }
    if (leader == WEIR_NO_INDEX)
        return weir_scan_busy(choice, error);
    if (answer->reused != WEIR_NO_INDEX)
        copy_held(query, answer->reused, &answer->alloc);
    else
        find_place(fgd, query, leader, &again, &answer->alloc);
    return WEIR_OK;
}

/* ---- victims ---- */

/* What two workers on one node must have in common to have the same score. */
static bool holds_same(const struct weir_worker_slot *a, const struct weir_worker_slot *b)
{
    return a->device_count == b->device_count && a->device_count <= 1 &&
           a->cpu_units == b->cpu_units && a->ram_bytes == b->ram_bytes &&
           (a->device_count == 0 || memcmp(&a->first, &b->first, sizeof a->first) == 0);
}

/* The best victim on one node, the one with the lowest id of equal ones. */
static void find_victim(const struct weir_fgd_single *fgd, const struct weir_evict_query *query,
                        uint32_t node, struct entry *entry)
{
    const struct weir_cluster *const cluster = query->cluster;
    const struct weir_worker_slot *kept[SAME_KEPT];
    struct weir_score scores[SAME_KEPT];
    uint32_t count = 0;

    *entry = (struct entry){ .version = cluster->lists[node].stamp, .mix = fgd->mix };
    for (uint32_t s = weir_first_peer(cluster, node, &query->owner); s != WEIR_NO_INDEX;
         s = cluster->slots[s].peer_next) {
        const struct weir_worker_slot *const slot = &cluster->slots[s];
        uint32_t i = 0;
        while (i < count && i < SAME_KEPT && !holds_same(kept[i], slot))
            i++;
        if (i == count || i == SAME_KEPT) {
            struct weir_alloc held;
            weir_slot_alloc(cluster, slot, &held);
            i = count++ % SAME_KEPT;
            kept[i] = slot;
            scores[i] = weir_fgd_single_victim(&fgd->rules, query, &held);
        }
        const bool is_tie = entry->candidates > 0 && !is_less(entry->best, scores[i]) &&
                            !is_less(scores[i], entry->best);
        if (entry->candidates == 0 || is_less(scores[i], entry->best) ||
            (is_tie && slot->id < entry->worker)) {
            entry->best = scores[i];
            entry->worker = slot->id;
            entry->candidates = 1;
        }
    }
}

weir_status weir_fgd_single_fast_evict(struct weir_fgd_single *fgd,
                                       const struct weir_evict_query *query, uint64_t *worker,
                                       struct weir_error *error)
{
    const struct weir_cluster *const cluster = query->cluster;
    const struct entry *best = NULL;

    if (query->candidate_count > 0 || weir_evict_count(query) <= SMALL_POOL)
        return weir_fgd_single_evict(&fgd->rules, query, worker, error);
    WEIR_TRY(begin(fgd, query->mix));
    const struct board wanted = { .kind = BOARD_VICTIMS, .pool = query->owner.index };
    struct board *const board = board_for(fgd, &wanted, cluster->node_count);
    if (board == NULL)
        return WEIR_ENOMEM;
    for (uint32_t n = 0; n < cluster->node_count; n++) {
        struct entry *const entry = &board->entries[n];
        if (entry->mix != fgd->mix || entry->version != cluster->lists[n].stamp)
            find_victim(fgd, query, n, entry);
        if (entry->candidates > 0 && (best == NULL || is_less(entry->best, best->best)))
            best = entry;
    }
    if (best == NULL)
        return weir_evict_nobody(query, error);
    *worker = best->worker;
    return WEIR_OK;
}
