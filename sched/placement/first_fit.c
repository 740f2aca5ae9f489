/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "first_fit": the first worker to reuse whose place is still free, else the first
 * candidate of the first node in order. It stops looking there. Removes the youngest worker.
 *
 * Instances of a GPU that is cut begin at the lowest slot, as one would do naively: small ones then
 * stand where the large ones could begin. `slots: high` fills from above.
 *
 * With another device rule, tie rule or order of nodes it is a graded policy whose nodes are all
 * equal: the rules alone decide.
 */
#include "sched/placement/policies.h"
#include "sched/placement/scan.h"

#include "sched/cluster/state.h"

#include <string.h>

enum { PARAM_DEVICE, PARAM_TIE, PARAM_ORDER, PARAM_SLOTS, PARAM_COUNT };

static const struct weir_param params[PARAM_COUNT] = {
    [PARAM_DEVICE] = WEIR_GRADE_DEVICE_PARAM(WEIR_GRADE_LOWEST),
    [PARAM_TIE] = WEIR_GRADE_TIE_PARAM(""),
    [PARAM_ORDER] = WEIR_GRADE_ORDER_PARAM(""),
    [PARAM_SLOTS] = { .name = "slots",
                      .unit = "",
                      .kind = WEIR_PARAM_CHOICE,
                      .min = 0,
                      .max = 1,
                      .initial = 0,
                      .choices = "low|high",
                      .help = "where a MIG instance begins on its GPU: at the lowest or at the "
                              "highest slot that is free" },
};

static bool take_first(void *state, const struct weir_alloc *candidate)
{
    struct weir_alloc *const alloc = state;

    memcpy(alloc, candidate, offsetof(struct weir_alloc, devices));
    memcpy(alloc->devices, candidate->devices,
           candidate->device_count * sizeof candidate->devices[0]);
    return false;
}

static struct weir_grade grade(const void *rules, const struct weir_grade_site *site)
{
    const double *const values = rules;
    const struct weir_node *const node = &site->cluster->nodes[site->node];
    struct weir_grade grade = { .gpu = weir_grade_pick_gpu(site, values[PARAM_DEVICE]) };
    struct weir_slice_place places[WEIR_MIG_SLOTS];

    if (site->shape->kind == WEIR_SHAPE_SLICE && grade.gpu != WEIR_NO_INDEX &&
        weir_slice_places(&site->cluster->gpus[node->gpu_first + grade.gpu], site->shape,
                          !(values[PARAM_SLOTS] > 0), places) > 0)
        grade.mig = weir_device_instance(places[0].profile, places[0].start);
    return grade;
}

static const struct weir_graded_kind kind = {
    .params = params,
    .count = PARAM_COUNT,
    .steps = WEIR_NO_INDEX,
    .tie = PARAM_TIE,
    .order_seed = PARAM_ORDER,
    .grade = grade,
    .full = 1,
};

static weir_status create(const struct weir_params *given, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error)
{
    return weir_graded_create(&kind, given, allocator, state, error);
}

static bool has_rules(const double *values)
{
    return values[PARAM_DEVICE] < WEIR_GRADE_LOWEST || values[PARAM_TIE] > WEIR_TIE_FIRST ||
           values[PARAM_ORDER] > 0;
}

static weir_status place(void *state, const struct weir_place_query *query,
                         struct weir_place_answer *answer, struct weir_error *error)
{
    struct weir_choice *const choice = &answer->choice;
    const bool low_slots = state == NULL || !(weir_graded_values(state)[PARAM_SLOTS] > 0);

    if (state != NULL && has_rules(weir_graded_values(state)))
        return weir_graded_place(state, query, answer, error);
    memset(choice, 0, sizeof *choice);
    choice->runner_up_node = WEIR_NO_INDEX;
    answer->reused = WEIR_NO_INDEX;
    answer->reserved = 0;
    for (uint32_t r = 0; r < query->reusable_count; r++) {
        const struct weir_alloc *const alloc = &query->reusable[r].alloc;
        if (!weir_cluster_fits(query->cluster, alloc))
            continue;
        answer->reused = r;
        choice->candidates = choice->ties = 1;
        (void)take_first(&answer->alloc, alloc);
        return WEIR_OK;
    }
    for (uint32_t n = 0; n < query->cluster->node_count; n++) {
        const struct weir_candidate_query candidates = {
            .cluster = query->cluster, .shape = query->shape, .node = n, .low_slots = low_slots
        };
        choice->nodes_seen++;
        if (weir_candidates_visit(&candidates, take_first, &answer->alloc) > 0) {
            choice->candidates = choice->ties = 1;
            return WEIR_OK;
        }
        choice->rejected[weir_candidates_reason(query->cluster, query->shape, n)]++;
    }
    return weir_scan_busy(choice, error);
}

const struct weir_placement_ops weir_placement_first_fit = {
    .size = sizeof weir_placement_first_fit,
    .abi = WEIR_ABI_MAJOR,
    .name = "first_fit",
    .summary = "the first place that fits, nodes and GPUs in order",
    .params = params,
    .param_count = PARAM_COUNT,
    .create = create,
    .destroy = weir_graded_destroy,
    .flags = WEIR_PLACEMENT_WITHOUT_MIX,
    .place = place,
};
