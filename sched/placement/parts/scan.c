/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The default scan over all candidates of all nodes; see scan.h.
 */
#include "sched/placement/parts/scan.h"

#include "sched/cluster/state.h"
#include "sched/internal/stopped.h"
#include "sched/placement/parts/rooms.h"

#include <math.h>
#include <string.h>

/* The best so far while one query is scanned. */
struct search {
    const struct weir_scan *scan;
    const struct weir_place_query *query;
    struct weir_place_answer *answer;
    bool found;
};

static bool score_less(struct weir_score a, struct weir_score b)
{
    return a.primary < b.primary || (!(b.primary < a.primary) && a.secondary < b.secondary);
}

/* Of equal workers to reuse the one with the lowest id, when the scan orders them so. */
static bool wins_tie(const struct search *search, struct weir_score score, struct weir_score best,
                     uint32_t reused)
{
    const uint32_t rival = search->answer->reused;

    if (search->scan->reuse_score == NULL || reused == WEIR_NO_INDEX || rival == WEIR_NO_INDEX ||
        score_less(best, score))
        return false;
    return search->query->reusable[reused].id < search->query->reusable[rival].id;
}

/* Weighs one candidate; `reused` is its index, or WEIR_NO_INDEX. */
static void consider(struct search *search, const struct weir_alloc *candidate, uint32_t reused)
{
    struct weir_choice *const choice = &search->answer->choice;
    const bool is_special = reused != WEIR_NO_INDEX && search->scan->reuse_score != NULL;
    const weir_score_function function =
        is_special ? search->scan->reuse_score : search->scan->score;
    struct weir_score score = function(search->scan->state, search->query, candidate);

    if (isnan(score.primary) || isnan(score.secondary))
        return;
    if (reused != WEIR_NO_INDEX)
        score.primary -= search->scan->reuse_bonus;
    choice->candidates++;
    const struct weir_score best = { choice->primary, choice->secondary };
    if (search->found && !score_less(score, best) && !wins_tie(search, score, best, reused)) {
        const struct weir_score second = { choice->runner_up_primary, choice->runner_up_secondary };
        if (!score_less(best, score))
            choice->ties++;
        if (choice->runner_up_node == WEIR_NO_INDEX || score_less(score, second)) {
            choice->runner_up_node = candidate->node;
            choice->runner_up_primary = score.primary;
            choice->runner_up_secondary = score.secondary;
        }
        return;
    }
    if (search->found) {
        choice->runner_up_node = search->answer->alloc.node;
        choice->runner_up_primary = best.primary;
        choice->runner_up_secondary = best.secondary;
    }
    search->found = true;
    choice->primary = score.primary;
    choice->secondary = score.secondary;
    choice->ties = 1;
    search->answer->reused = reused;
    weir_place_copy(&search->answer->alloc, candidate);
}

static bool consider_fresh(void *state, const struct weir_alloc *candidate)
{
    const struct search *const search = state;

    consider(state, candidate, WEIR_NO_INDEX);
    return !(search->scan->first_whole && search->query->shape->kind == WEIR_SHAPE_WHOLE);
}

static void scan_node(struct search *search, uint32_t node)
{
    const struct weir_cluster *const cluster = search->query->cluster;
    struct weir_twins twins;
    struct weir_candidate_query candidates = {
        .cluster = cluster, .shape = search->query->shape, .node = node, .asked = search->query
    };

    if (search->scan->mode == WEIR_CANDIDATES_DISTINCT) {
        weir_twins_find(cluster, node, &twins);
        candidates.twins = &twins;
    }
    (void)weir_candidates_visit(&candidates, consider_fresh, search);
}

void weir_answer_begin(struct weir_place_answer *answer)
{
    memset(&answer->choice, 0, sizeof answer->choice);
    answer->choice.runner_up_node = WEIR_NO_INDEX;
    answer->reused = WEIR_NO_INDEX;
    answer->reserved = 0;
}

weir_status weir_scan_place(const struct weir_scan *scan, const struct weir_place_query *query,
                            struct weir_place_answer *answer, struct weir_error *error)
{
    struct search search = { .scan = scan, .query = query, .answer = answer, .found = false };

    weir_answer_begin(answer);
    for (uint32_t r = 0; r < query->reusable_count; r++) {
        const struct weir_alloc *const alloc = &query->reusable[r].alloc;
        if (weir_cluster_fits(query->cluster, alloc))
            consider(&search, alloc, r);
    }
    struct weir_room_walk walk = weir_rooms_begin(query->cluster, query->shape);
    uint32_t node = weir_rooms_next(&walk, &answer->choice);
    for (; node != WEIR_NO_INDEX; node = weir_rooms_next(&walk, &answer->choice))
        scan_node(&search, node);
    return search.found ? WEIR_OK : weir_scan_busy(&answer->choice, error);
}

static bool same_alloc(const struct weir_alloc *a, const struct weir_alloc *b)
{
    return memcmp(a, b, offsetof(struct weir_alloc, devices)) == 0 &&
           memcmp(a->devices, b->devices, a->device_count * sizeof a->devices[0]) == 0;
}

/* The same among workers by node: the first of those that were stopped. */
static uint32_t find_stopped(const struct weir_stopped *stopped, const struct weir_alloc *alloc)
{
    uint32_t found = WEIR_NO_INDEX;

    for (uint32_t i = weir_stopped_first(stopped, alloc->node); i != WEIR_NO_INDEX;
         i = stopped->entries[i].next) {
        struct weir_alloc held;
        weir_stopped_alloc(stopped, i, &held);
        if (same_alloc(&held, alloc) && i < found)
            found = i;
    }
    return found;
}

uint32_t weir_scan_find_reused(const struct weir_place_query *query, const struct weir_alloc *alloc)
{
    if (query->stopped != NULL)
        return find_stopped(query->stopped, alloc);
    for (uint32_t r = 0; r < query->reusable_count; r++) {
        if (same_alloc(&query->reusable[r].alloc, alloc))
            return r;
    }
    return WEIR_NO_INDEX;
}

/* A text put together piece by piece: this one is written at every try that fails, and nearly
 * always for nobody. */
struct text {
    char *at;
    const char *end; /* where its 0 goes at the latest */
};

static void add_text(struct text *text, const char *piece)
{
    while (*piece != '\0' && text->at < text->end)
        *text->at++ = *piece++;
    *text->at = '\0';
}

static void add_count(struct text *text, uint32_t count)
{
    char digits[11];
    uint32_t first = sizeof digits - 1;

    digits[first] = '\0';
    do {
        digits[--first] = (char)('0' + count % 10);
        count /= 10;
    } while (count > 0);
    add_text(text, digits + first);
}

weir_status weir_scan_busy(const struct weir_choice *choice, struct weir_error *error)
{
    uint32_t most = WEIR_REASON_NONE;

    for (uint32_t r = 1; r < WEIR_REASON_COUNT; r++) {
        if (choice->rejected[r] > choice->rejected[most])
            most = r;
    }
    if (most == WEIR_REASON_NONE)
        return weir_fail(error, WEIR_EBUSY, "no acceptable place on %u nodes", choice->nodes_seen);
    if (error == NULL)
        return WEIR_EBUSY;
    struct text text = { error->text, error->text + sizeof error->text - 1 };
    error->phase = -1;
    error->pool = -1;
    add_text(&text, "fits none of ");
    add_count(&text, choice->nodes_seen);
    add_text(&text, " nodes now, ");
    add_count(&text, choice->rejected[most]);
    add_text(&text, " of them: ");
    add_text(&text, weir_reason_text(most));
    return WEIR_EBUSY;
}

weir_status weir_placement_place(const struct weir_placement_ops *ops, void *state,
                                 const struct weir_place_query *query,
                                 struct weir_place_answer *answer, struct weir_error *error)
{
    if (ops->place != NULL)
        return ops->place(state, query, answer, error);
    if (ops->score == NULL)
        return weir_fail(error, WEIR_EPOLICY, "placement %s has neither place nor score",
                         ops->name);
    const struct weir_scan scan = { .score = ops->score,
                                    .state = state,
                                    .mode = WEIR_CANDIDATES_DISTINCT };
    return weir_scan_place(&scan, query, answer, error);
}

uint32_t weir_evict_count(const struct weir_evict_query *query)
{
    return query->candidate_count > 0
               ? query->candidate_count
               : weir_cluster_pool_workers(query->cluster, query->owner.index);
}

uint64_t weir_evict_candidate(const struct weir_evict_query *query, uint32_t position)
{
    uint64_t id = 0;

    if (query->candidate_count > 0)
        return query->candidates[position];
    (void)weir_cluster_pool_worker_id(query->cluster, query->owner.index, position, &id);
    return id;
}

weir_status weir_evict_nobody(const struct weir_evict_query *query, struct weir_error *error)
{
    return weir_fail(error, WEIR_ENOTFOUND, "stage %u has no worker to remove", query->owner.index);
}

weir_status weir_placement_evict(const struct weir_placement_ops *ops, void *state,
                                 const struct weir_evict_query *query, uint64_t *worker,
                                 struct weir_error *error)
{
    if (ops->evict != NULL)
        return ops->evict(state, query, worker, error);
    const uint32_t count = weir_evict_count(query);
    if (count == 0)
        return weir_evict_nobody(query, error);
    *worker = weir_evict_candidate(query, count - 1);
    return WEIR_OK;
}
