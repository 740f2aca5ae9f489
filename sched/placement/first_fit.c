/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "first_fit": the first worker to reuse whose place is still free, else the first
 * candidate of the first node in order. It stops looking there. Removes the youngest worker.
 *
 * Instances of a GPU that is cut begin at the lowest slot, as one would do naively: small ones then
 * stand where the large ones could begin. `slots: high` fills from above.
 */
#include "sched/placement/policies.h"
#include "sched/placement/scan.h"

#include "sched/cluster/state.h"
#include "sched/internal/alloc.h"

#include <string.h>

enum { PARAM_SLOTS, PARAM_COUNT };
enum { SLOTS_LOW, SLOTS_HIGH };

static const struct weir_param params[PARAM_COUNT] = {
    [PARAM_SLOTS] = { .name = "slots",
                      .unit = "",
                      .kind = WEIR_PARAM_CHOICE,
                      .min = 0,
                      .max = 1,
                      .initial = SLOTS_LOW,
                      .choices = "low|high",
                      .help = "where a MIG instance begins on its GPU: at the lowest or at the "
                              "highest slot that is free" },
};

struct first_fit {
    struct weir_allocator allocator;
    bool low_slots;
};

static weir_status create(const struct weir_params *values, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error)
{
    const struct weir_allocator memory = weir_allocator_copy(allocator);
    struct first_fit *const made = weir_alloc(&memory, 1, sizeof *made);

    if (made == NULL)
        return weir_fail(error, WEIR_ENOMEM, "placement first_fit: out of memory");
    made->allocator = memory;
    made->low_slots =
        values == NULL || values->count <= PARAM_SLOTS || !(values->values[PARAM_SLOTS] > 0);
    *state = made;
    return WEIR_OK;
}

static void destroy(void *state)
{
    struct first_fit *const made = state;

    if (made == NULL)
        return;
    const struct weir_allocator memory = made->allocator;
    weir_free(&memory, made);
}

static bool take_first(void *state, const struct weir_alloc *candidate)
{
    struct weir_alloc *const alloc = state;

    memcpy(alloc, candidate, offsetof(struct weir_alloc, devices));
    memcpy(alloc->devices, candidate->devices,
           candidate->device_count * sizeof candidate->devices[0]);
    return false;
}

static weir_status place(void *state, const struct weir_place_query *query,
                         struct weir_place_answer *answer, struct weir_error *error)
{
    const struct first_fit *const first_fit = state;
    struct weir_choice *const choice = &answer->choice;

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
        const struct weir_candidate_query candidates = { .cluster = query->cluster,
                                                         .shape = query->shape,
                                                         .node = n,
                                                         .low_slots = first_fit->low_slots };
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
    .destroy = destroy,
    .place = place,
};
