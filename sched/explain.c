/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Candidates with their scores; see internal/explain.h.
 *
 * At FULL each place is scored once more after the choice: that costs as much as a policy without
 * caches, and only those ask for it who want to read all of it.
 */
#include "sched/internal/explain.h"

#include "sched/internal/plan_state.h"
#include "sched/placement/parts/candidates.h"

#include <math.h>
#include <string.h>

static uint64_t gpu_mask(const struct weir_alloc *alloc)
{
    uint64_t mask = 0;

    for (uint32_t i = 0; i < alloc->device_count; i++)
        mask |= UINT64_C(1) << alloc->devices[i].gpu;
    return mask;
}

static bool same_place(const struct weir_alloc *a, const struct weir_alloc *b)
{
    return a->node == b->node && a->device_count == b->device_count &&
           memcmp(a->devices, b->devices, a->device_count * sizeof a->devices[0]) == 0;
}

static weir_status keep_two(struct weir_plan *plan, const struct weir_place_answer *answer)
{
    const struct weir_choice *const choice = &answer->choice;
    const struct weir_candidate chosen = { .node = answer->alloc.node,
                                           .is_chosen = 1,
                                           .gpu_mask = gpu_mask(&answer->alloc),
                                           .primary = choice->primary,
                                           .secondary = choice->secondary };
    const struct weir_candidate second = { .node = choice->runner_up_node,
                                           .primary = choice->runner_up_primary,
                                           .secondary = choice->runner_up_secondary };

    WEIR_TRY(weir_plan_candidate(plan, &chosen));
    return choice->runner_up_node == WEIR_NO_INDEX ? WEIR_OK : weir_plan_candidate(plan, &second);
}

struct visit {
    struct weir_plan *plan;
    const struct weir_explained *explained;
    weir_status status;
};

static bool keep_one(void *state, const struct weir_alloc *alloc)
{
    struct visit *const visit = state;
    const struct weir_explained *const explained = visit->explained;
    const struct weir_score score =
        explained->ops->score(explained->state, explained->query, alloc);
    const struct weir_candidate candidate = {
        .node = alloc->node,
        .is_chosen = same_place(alloc, &explained->answer->alloc),
        .gpu_mask = gpu_mask(alloc),
        .primary = score.primary,
        .secondary = score.secondary,
    };

    if (!isnan(score.primary) && !isnan(score.secondary))
        visit->status = weir_plan_candidate(visit->plan, &candidate);
    return visit->status == WEIR_OK;
}

weir_status weir_explain_start(struct weir_plan *plan, const struct weir_explained *explained)
{
    const uint32_t level = weir_plan_explain(plan);
    const struct weir_cluster *const cluster = explained->query->cluster;
    struct visit visit = { .plan = plan, .explained = explained, .status = WEIR_OK };

    if (level < WEIR_EXPLAIN_TOP)
        return WEIR_OK;
    if (level < WEIR_EXPLAIN_FULL || explained->ops->score == NULL)
        return keep_two(plan, explained->answer);
    for (uint32_t n = 0; visit.status == WEIR_OK && n < weir_cluster_node_count(cluster); n++) {
        struct weir_twins twins;
        weir_twins_find(cluster, n, &twins);
        const struct weir_candidate_query candidates = { .cluster = cluster,
                                                         .shape = explained->query->shape,
                                                         .twins = &twins,
                                                         .node = n,
                                                         .asked = explained->query };
        (void)weir_candidates_visit(&candidates, keep_one, &visit);
    }
    return visit.status;
}
