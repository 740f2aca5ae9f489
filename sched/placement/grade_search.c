/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comparing grades; see grade_search.h. Value, then tie value, then the order of nodes, then the
 * first; with the rule RANDOM each of the equal ones is kept with the chance 1/k when it is the
 * k-th, which leaves all with the same chance.
 */
#include "sched/placement/grade_search.h"

#include "sched/cluster/state.h"
#include "sched/internal/hash.h"
#include "sched/placement/scan.h"

#include <math.h>
#include <string.h>

struct weir_grade_search weir_grade_search_begin(const struct weir_grader *grader,
                                                 const struct weir_place_query *query,
                                                 struct weir_place_answer *answer)
{
    const struct weir_grade none = { .value = -(double)INFINITY };

    memset(&answer->choice, 0, sizeof answer->choice);
    answer->choice.runner_up_node = WEIR_NO_INDEX;
    answer->choice.nodes_seen = query->cluster->node_count;
    answer->reused = WEIR_NO_INDEX;
    answer->reserved = 0;
    return (struct weir_grade_search){ .answer = answer,
                                       .query = query,
                                       .order_seed = grader->order_seed,
                                       .tie = grader->tie,
                                       .best = none,
                                       .second = none,
                                       .node = WEIR_NO_INDEX,
                                       .second_node = WEIR_NO_INDEX };
}

static bool is_better(const struct weir_grade *a, const struct weir_grade *b)
{
    return a->value > b->value || (!(a->value < b->value) && a->tie > b->tie);
}

static uint64_t order_of(const struct weir_grade_search *search, uint32_t node)
{
    return weir_hash_add(search->order_seed, search->query->cluster->nodes[node].id);
}

/* Whether the newest of nodes that are equal in all takes the place of the one before. */
static bool replaces_equal(const struct weir_grade_search *search, uint32_t node)
{
    const uint32_t equals = search->answer->choice.ties;

    if (search->tie == WEIR_TIE_RANDOM)
        return weir_hash_mix(weir_hash_mix(search->query->seed) + equals) % equals == 0;
    return search->order_seed != 0 && order_of(search, node) < order_of(search, search->node);
}

void weir_grade_search_weigh(struct weir_grade_search *search, uint32_t node,
                             struct weir_grade grade)
{
    struct weir_choice *const choice = &search->answer->choice;
    const bool wins = search->node == WEIR_NO_INDEX || is_better(&grade, &search->best);
    const bool is_equal = !wins && !is_better(&search->best, &grade);

    choice->candidates++;
    choice->ties = wins ? 1 : choice->ties + (is_equal ? 1 : 0);
    if (wins || (is_equal && replaces_equal(search, node))) {
        search->second = search->best;
        search->second_node = search->node;
        search->best = grade;
        search->node = node;
    } else if (search->second_node == WEIR_NO_INDEX || is_better(&grade, &search->second)) {
        search->second = grade;
        search->second_node = node;
    }
}

struct pick {
    struct weir_alloc *alloc;
    uint32_t gpu; /* WEIR_NO_INDEX = the first candidate */
};

static bool pick_candidate(void *state, const struct weir_alloc *candidate)
{
    struct pick *const pick = state;

    if (pick->gpu != WEIR_NO_INDEX && candidate->devices[0].gpu != pick->gpu)
        return true;
    memcpy(pick->alloc, candidate, offsetof(struct weir_alloc, devices));
    memcpy(pick->alloc->devices, candidate->devices,
           candidate->device_count * sizeof candidate->devices[0]);
    return false;
}

weir_status weir_grade_search_end(const struct weir_grade_search *search, struct weir_error *error)
{
    const struct weir_place_query *const query = search->query;
    struct weir_place_answer *const answer = search->answer;
    struct weir_choice *const choice = &answer->choice;

    if (search->node == WEIR_NO_INDEX)
        return weir_scan_busy(choice, error);
    const bool is_share = query->shape->kind == WEIR_SHAPE_FRACTIONAL;
    struct pick pick = { .alloc = &answer->alloc,
                         .gpu = is_share ? search->best.gpu : WEIR_NO_INDEX };
    const struct weir_candidate_query candidates = { .cluster = query->cluster,
                                                     .shape = query->shape,
                                                     .node = search->node };
    (void)weir_candidates_visit(&candidates, pick_candidate, &pick);
    choice->primary = -search->best.value;
    choice->secondary = -search->best.tie;
    choice->runner_up_node = search->second_node;
    if (search->second_node != WEIR_NO_INDEX) {
        choice->runner_up_primary = -search->second.value;
        choice->runner_up_secondary = -search->second.tie;
    }
    answer->reused = weir_scan_find_reused(query, &answer->alloc);
    return WEIR_OK;
}
