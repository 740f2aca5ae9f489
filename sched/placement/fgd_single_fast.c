/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The answers of fgd_single.c with the best of every node kept.
 *
 * A board holds, for one shape or for the victims of one stage, the best score of each node; an
 * entry is computed again when the node or the mix changed since. A question looks at one entry a
 * node, never at a node's places. Scores of workers to reuse are kept in a table by worker.
 *
 * Invariant: every answer is the one of fgd_single.c. The report may name another runner-up of the
 * same score.
 */
#include "sched/placement/fgd.h"
#include "sched/placement/scan.h"

#include "sched/cluster/state.h"
#include "sched/internal/alloc.h"

#include <math.h>
#include <string.h>

enum {
    BOARDS_KEPT = 64, /* beyond that the one not used for longest is dropped */
    SMALL_STAGE = 24, /* up to this many candidates a victim is found by looking at each */
    MEMOS = 4096,
    SAME_KEPT = 8
};

struct entry {
    uint64_t version; /* of the node, or the stamp of its history for victims */
    uint64_t mix;     /* 0 = empty */
    uint64_t worker;  /* victims */
    struct weir_score best, second;
    uint32_t candidates; /* acceptable ones; for victims 1 or 0 */
    uint32_t ties;
    uint32_t reason;
};

struct board {
    bool is_victims;
    uint32_t stage;
    struct weir_shape shape;
    uint64_t used;
    struct entry *entries; /* by node */
    uint32_t capacity;
};

struct memo {
    uint64_t worker, version;
    uint64_t mix; /* 0 = empty */
    int64_t cpu_units, ram_bytes;
    struct weir_device device;
    uint32_t node, device_count;
    struct weir_score score; /* NAN = does not fit */
};

struct weir_fgd_single {
    struct weir_allocator allocator;
    struct weir_fgd_rules rules;
    struct weir_frag frag; /* only says whether the mix changed */
    uint64_t mix, question;
    struct board boards[BOARDS_KEPT];
    uint32_t board_count;
    struct memo memos[MEMOS];
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

/* The board of a shape, or of the victims of a stage when it is NULL; entries may be old. */
static struct board *board_for(struct weir_fgd_single *fgd, const struct weir_shape *shape,
                               uint32_t stage, uint32_t nodes)
{
    struct board *board = NULL;

    for (uint32_t b = 0; board == NULL && b < fgd->board_count; b++) {
        struct board *const at = &fgd->boards[b];
        if (at->is_victims == (shape == NULL) &&
            (shape == NULL ? at->stage == stage : memcmp(&at->shape, shape, sizeof *shape) == 0))
            board = at;
    }
    if (board == NULL) {
        board = &fgd->boards[0];
        for (uint32_t b = 1; b < fgd->board_count; b++)
            board = fgd->boards[b].used < board->used ? &fgd->boards[b] : board;
        if (fgd->board_count < BOARDS_KEPT)
            board = &fgd->boards[fgd->board_count++];
        if (board->capacity > 0)
            memset(board->entries, 0, board->capacity * sizeof *board->entries);
        board->is_victims = shape == NULL;
        board->stage = stage;
        if (shape != NULL)
            board->shape = *shape;
    }
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

static void copy_alloc(struct weir_alloc *to, const struct weir_alloc *from)
{
    memcpy(to, from, offsetof(struct weir_alloc, devices));
    memcpy(to->devices, from->devices, from->device_count * sizeof from->devices[0]);
}

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
        copy_alloc(visit->alloc, candidate);
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
                                               .node = node };

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

static bool memo_holds(const struct memo *memo, const struct weir_fgd_single *fgd,
                       const struct weir_worker *worker, uint64_t version)
{
    const struct weir_alloc *const alloc = &worker->alloc;

    return memo->mix == fgd->mix && memo->worker == worker->id && memo->version == version &&
           memo->node == alloc->node && memo->device_count == alloc->device_count &&
           memo->cpu_units == alloc->cpu_units && memo->ram_bytes == alloc->ram_bytes &&
           (alloc->device_count == 0 ||
            memcmp(&memo->device, &alloc->devices[0], sizeof memo->device) == 0);
}

/* NAN when its place is taken. Workers with several devices are few and are weighed anew. */
static struct weir_score reuse_score(struct weir_fgd_single *fgd,
                                     const struct weir_place_query *query,
                                     const struct weir_worker *worker)
{
    const struct weir_alloc *const alloc = &worker->alloc;
    struct memo *const memo = &fgd->memos[worker->id % MEMOS];
    struct weir_score score = { .primary = (double)NAN, .secondary = (double)NAN };

    if (alloc->node >= query->cluster->node_count)
        return score;
    const uint64_t version = query->cluster->nodes[alloc->node].version;
    if (alloc->device_count <= 1 && memo_holds(memo, fgd, worker, version))
        return memo->score;
    if (weir_cluster_fits(query->cluster, alloc))
        score = weir_fgd_single_score(&fgd->rules, query, alloc, true);
    if (alloc->device_count > 1)
        return score;
    *memo = (struct memo){ .worker = worker->id,
                           .version = version,
                           .mix = fgd->mix,
                           .cpu_units = alloc->cpu_units,
                           .ram_bytes = alloc->ram_bytes,
                           .node = alloc->node,
                           .device_count = alloc->device_count,
                           .score = score };
    if (alloc->device_count > 0)
        memo->device = alloc->devices[0];
    return score;
}

/* The best worker to reuse, of equal ones the one with the lowest id, as the only one so far. */
static uint32_t find_reuse(struct weir_fgd_single *fgd, const struct weir_place_query *query,
                           struct weir_choice *choice)
{
    uint32_t found = WEIR_NO_INDEX;

    for (uint32_t r = 0; fgd->rules.reuse != WEIR_FGD_REUSE_NEVER && r < query->reusable_count;
         r++) {
        const struct weir_worker *const worker = &query->reusable[r];
        const struct weir_score score = reuse_score(fgd, query, worker);
        if (isnan(score.primary) || isnan(score.secondary))
            continue;
        const struct entry entry = { .best = score, .candidates = 1, .ties = 1 };
        const struct weir_score best = { choice->primary, choice->secondary };
        const uint32_t leader =
            found == WEIR_NO_INDEX ? WEIR_NO_INDEX : query->reusable[found].alloc.node;
        const bool wins_tie = found != WEIR_NO_INDEX && !is_less(best, score) &&
                              worker->id < query->reusable[found].id;
        if (merge(choice, &entry, worker->alloc.node, leader, found != WEIR_NO_INDEX) || wins_tie)
            found = r;
    }
    return found;
}

weir_status weir_fgd_single_fast_place(struct weir_fgd_single *fgd,
                                       const struct weir_place_query *query,
                                       struct weir_place_answer *answer, struct weir_error *error)
{
    const struct weir_cluster *const cluster = query->cluster;
    struct weir_choice *const choice = &answer->choice;
    uint32_t leader = WEIR_NO_INDEX;
    struct entry again;

    WEIR_TRY(begin(fgd, query->mix));
    struct board *const board = board_for(fgd, query->shape, 0, cluster->node_count);
    if (board == NULL)
        return WEIR_ENOMEM;
    memset(choice, 0, sizeof *choice);
    choice->runner_up_node = WEIR_NO_INDEX;
    choice->nodes_seen = cluster->node_count;
    answer->reserved = 0;
    answer->reused = find_reuse(fgd, query, choice);
    if (answer->reused != WEIR_NO_INDEX)
        leader = query->reusable[answer->reused].alloc.node;
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
        copy_alloc(&answer->alloc, &query->reusable[answer->reused].alloc);
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
    for (uint32_t s = weir_first_peer(cluster, node, query->stage); s != WEIR_NO_INDEX;
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

    if (query->candidate_count > 0 || weir_evict_count(query) <= SMALL_STAGE)
        return weir_fgd_single_evict(&fgd->rules, query, worker, error);
    WEIR_TRY(begin(fgd, query->mix));
    struct board *const board = board_for(fgd, NULL, query->stage, cluster->node_count);
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
