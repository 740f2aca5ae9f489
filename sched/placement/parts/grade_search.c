/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comparing grades; see grade_search.h. Value, then tie value, then the order of nodes, then the
 * first; with the rule RANDOM each of the equal ones is kept with the chance 1/k when it is the
 * k-th, which leaves all with the same chance.
 */
#include "sched/placement/parts/grade_search.h"

#include "sched/cluster/state.h"
#include "sched/internal/hash.h"
#include "sched/placement/parts/scan.h"

#include <math.h>
#include <string.h>

struct weir_grade_search weir_grade_search_begin(const struct weir_grader *grader,
                                                 const struct weir_place_query *query)
{
    const struct weir_grade none = { .value = -(double)INFINITY };

    return (struct weir_grade_search){ .query = query,
                                       .order_seed = grader->order_seed,
                                       .tie = grader->tie,
                                       .tally = { .best = none,
                                                  .second = none,
                                                  .node = WEIR_NO_INDEX,
                                                  .second_node = WEIR_NO_INDEX } };
}

static bool is_better(const struct weir_grade *a, const struct weir_grade *b)
{
    return a->value > b->value || (!(a->value < b->value) && a->tie > b->tie);
}

bool weir_grade_goes_before(uint64_t order_seed, const struct weir_cluster *cluster, uint32_t node,
                            uint32_t other)
{
    if (order_seed == 0)
        return node < other;
    return weir_hash_add(order_seed, cluster->nodes[node].id) <
           weir_hash_add(order_seed, cluster->nodes[other].id);
}

/* Whether the newest of nodes that are equal in all takes the place of the one before. */
static bool replaces_equal(const struct weir_grade_search *search, uint32_t node)
{
    const uint32_t equals = search->tally.ties;

    if (search->tie == WEIR_TIE_RANDOM)
        return weir_hash_mix(weir_hash_mix(search->query->seed) + equals) % equals == 0;
    return weir_grade_goes_before(search->order_seed, search->query->cluster, node,
                                  search->tally.node);
}

void weir_grade_search_offer_second(struct weir_grade_search *search, uint32_t node,
                                    struct weir_grade grade)
{
    struct weir_grade_tally *const tally = &search->tally;

    if (tally->second_node != WEIR_NO_INDEX && !is_better(&grade, &tally->second))
        return;
    tally->second = grade;
    tally->second_node = node;
}

void weir_grade_search_meet(struct weir_grade_search *search, uint32_t node,
                            struct weir_grade grade, uint32_t ties)
{
    struct weir_grade_tally *const tally = &search->tally;
    const bool wins = tally->node == WEIR_NO_INDEX || is_better(&grade, &tally->best);
    const bool is_equal = !wins && !is_better(&tally->best, &grade);

    tally->ties = wins ? ties : tally->ties + (is_equal ? ties : 0);
    if (!wins && !(is_equal && replaces_equal(search, node))) {
        weir_grade_search_offer_second(search, node, grade);
        return;
    }
    tally->second = tally->best;
    tally->second_node = tally->node;
    tally->best = grade;
    tally->node = node;
}

void weir_grade_search_weigh(struct weir_grade_search *search, uint32_t node,
                             struct weir_grade grade)
{
    search->counts.candidates++;
    weir_grade_search_meet(search, node, grade, 1);
}

void weir_grade_search_reject(struct weir_grade_search *search, uint32_t reason)
{
    search->counts.rejected[reason]++;
}

void weir_grade_search_lack_ram(struct weir_grade_search *search)
{
    search->counts.candidates--;
    search->counts.rejected[WEIR_REASON_RAM]++;
}

struct pick {
    struct weir_alloc *alloc;
    uint32_t gpu; /* WEIR_NO_INDEX = the first candidate */
    uint32_t mig; /* 0 = the first on it */
};

static bool pick_candidate(void *state, const struct weir_alloc *candidate)
{
    struct pick *const pick = state;

    if (pick->gpu != WEIR_NO_INDEX && candidate->devices[0].gpu != pick->gpu)
        return true;
    if (pick->mig != 0 && candidate->devices[0].mig != pick->mig)
        return true;
    weir_place_copy(pick->alloc, candidate);
    return false;
}

static void report(const struct weir_grade_search *search, struct weir_choice *choice)
{
    const struct weir_grade_tally *const tally = &search->tally;

    memset(choice, 0, sizeof *choice);
    choice->nodes_seen = search->query->cluster->node_count;
    choice->candidates = search->counts.candidates;
    memcpy(choice->rejected, search->counts.rejected, sizeof choice->rejected);
    choice->runner_up_node = tally->second_node;
    if (tally->node == WEIR_NO_INDEX)
        return;
    choice->ties = tally->ties;
    choice->primary = -tally->best.value;
    choice->secondary = -tally->best.tie;
    if (tally->second_node != WEIR_NO_INDEX) {
        choice->runner_up_primary = -tally->second.value;
        choice->runner_up_secondary = -tally->second.tie;
    }
}

weir_status weir_grade_search_end(const struct weir_grade_search *search,
                                  struct weir_place_answer *answer, struct weir_error *error)
{
    const struct weir_place_query *const query = search->query;
    const struct weir_grade_tally *const tally = &search->tally;

    answer->reused = WEIR_NO_INDEX;
    answer->reserved = 0;
    report(search, &answer->choice);
    if (tally->node == WEIR_NO_INDEX)
        return weir_scan_busy(&answer->choice, error);
    const bool is_share = weir_shape_is_share(query->shape);
    struct pick pick = { .alloc = &answer->alloc,
                         .gpu = is_share ? tally->best.gpu : WEIR_NO_INDEX,
                         .mig = tally->best.mig };
    const struct weir_candidate_query candidates = {
        .cluster = query->cluster, .shape = query->shape, .node = tally->node, .asked = query
    };
    (void)weir_candidates_visit(&candidates, pick_candidate, &pick);
    answer->reused = weir_scan_find_reused(query, &answer->alloc);
    return WEIR_OK;
}
