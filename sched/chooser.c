/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One placement policy with its state and parameter values, asked for one place at a time. What the
 * policy answers is checked against the inventory before it is handed on; the host applies it.
 */
#include "sched/internal/chooser.h"
#include "sched/internal/alloc.h"
#include "sched/internal/hash.h"
#include "sched/internal/size.h"
#include "sched/placement/parts/scan.h"

weir_status weir_chooser_create(const struct weir_placement_ops *ops,
                                const struct weir_params *params,
                                const struct weir_allocator *allocator,
                                struct weir_chooser **chooser, struct weir_error *error)
{
    const struct weir_allocator memory = weir_allocator_copy(allocator);
    const struct weir_policy_table table = WEIR_POLICY_TABLE("placement", ops);
    struct weir_chooser *const made = weir_alloc(&memory, 1, sizeof *made);

    if (made == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    made->allocator = memory;
    made->ops = ops;
    const weir_status status =
        weir_policy_state_open(&made->policy, &table, params, &memory, error);
    if (status == WEIR_OK)
        *chooser = made;
    else
        weir_free(&memory, made);
    return status;
}

void weir_chooser_destroy(struct weir_chooser *chooser)
{
    if (chooser == NULL)
        return;
    const struct weir_allocator memory = chooser->allocator;
    weir_policy_state_close(&chooser->policy, &memory);
    weir_free(&memory, chooser);
}

weir_status weir_chooser_place(struct weir_chooser *chooser, const struct weir_place_query *query,
                               struct weir_place_answer *answer, struct weir_error *error)
{
    struct weir_place_query whole;

    WEIR_TRY(weir_size_check(query->size, offsetof(struct weir_place_query, together), "the query",
                             error));
    weir_size_take(&whole, sizeof whole, query, query->size);
    answer->reused = WEIR_NO_INDEX;
    WEIR_TRY(weir_placement_place(chooser->ops, chooser->policy.state, &whole, answer, error));
    if (!weir_cluster_fits(query->cluster, &answer->alloc))
        return weir_fail(error, WEIR_EPOLICY,
                         "placement policy %s chose a place on node %u that is not free",
                         chooser->ops->name, answer->alloc.node);
    return WEIR_OK;
}

weir_status weir_chooser_evict(struct weir_chooser *chooser, const struct weir_evict_query *query,
                               uint64_t *worker, struct weir_error *error)
{
    WEIR_TRY(weir_size_check(query->size, sizeof *query, "the query", error));
    return weir_placement_evict(chooser->ops, chooser->policy.state, query, worker, error);
}

/* Places member number `*placed` and those after it; they stay in the scratch cluster. */
static weir_status place_rest(struct weir_chooser *chooser, const struct weir_members_query *query,
                              struct weir_place_answer *answers, uint32_t *placed,
                              struct weir_error *error)
{
    for (; *placed < query->count; (*placed)++) {
        const struct weir_place_query member = { .size = sizeof(struct weir_place_query),
                                                 .cluster = query->scratch,
                                                 .mix = query->mix,
                                                 .shape = query->shape,
                                                 .owner = query->owner,
                                                 .seed = weir_hash_add(query->seed, *placed),
                                                 .together = query->count - *placed };
        struct weir_place_answer *const answer = &answers[*placed];
        WEIR_TRY(weir_chooser_place(chooser, &member, answer, error));
        WEIR_TRY(weir_cluster_add_worker(query->scratch, UINT64_MAX - *placed, query->owner,
                                         &answer->alloc, error));
    }
    return WEIR_OK;
}

weir_status weir_chooser_place_members(struct weir_chooser *chooser,
                                       const struct weir_members_query *query,
                                       struct weir_place_answer *answers, uint32_t *placed,
                                       struct weir_error *error)
{
    uint32_t done = 0;

    WEIR_TRY(weir_size_check(query->size, sizeof *query, "the query", error));
    if (weir_cluster_mark(query->scratch) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    const weir_status status = place_rest(chooser, query, answers, &done, error);
    weir_cluster_rollback(query->scratch);
    if (status != WEIR_OK)
        weir_error_wrap(error, "member %u of %u", done + 1, query->count);
    *placed = done;
    return status;
}
