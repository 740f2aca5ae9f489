/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One placement policy with its state and parameter values, asked for one place at a time. What the
 * policy answers is checked against the inventory before it is handed on; the host applies it.
 */
#include "sched/internal/chooser.h"
#include "sched/internal/hash.h"
#include "sched/internal/size.h"
#include "sched/placement/parts/scan.h"

weir_status weir_chooser_create(const struct weir_placement_ops *ops,
                                const struct weir_params *params,
                                const struct weir_allocator *allocator,
                                struct weir_chooser **chooser, struct weir_error *error)
{
    const struct weir_policy_table table = WEIR_POLICY_TABLE("placement", ops);
    void *made = NULL;

    WEIR_TRY(weir_policy_alone_create(ops, &table, params, allocator, &made, error));
    *chooser = made;
    return WEIR_OK;
}

void weir_chooser_destroy(struct weir_chooser *chooser)
{
    weir_policy_alone_destroy((struct weir_policy_alone *)chooser);
}

weir_status weir_chooser_place(struct weir_chooser *chooser, const struct weir_place_query *query,
                               struct weir_place_answer *answer, struct weir_error *error)
{
    const struct weir_placement_ops *const ops = chooser->alone.ops;
    struct weir_place_query whole;

    WEIR_TRY(weir_size_check(query->size, offsetof(struct weir_place_query, together), "the query",
                             error));
    weir_size_take(&whole, sizeof whole, query, query->size);
    answer->reused = WEIR_NO_INDEX;
    WEIR_TRY(weir_placement_place(ops, chooser->alone.policy.state, &whole, answer, error));
    if (!weir_cluster_fits(query->cluster, &answer->alloc))
        return weir_fail(error, WEIR_EPOLICY,
                         "placement policy %s chose a place on node %u that is not free", ops->name,
                         answer->alloc.node);
    return WEIR_OK;
}

weir_status weir_chooser_evict(struct weir_chooser *chooser, const struct weir_evict_query *query,
                               uint64_t *worker, struct weir_error *error)
{
    WEIR_TRY(weir_size_check(query->size, sizeof *query, "the query", error));
    return weir_placement_evict(chooser->alone.ops, chooser->alone.policy.state, query, worker,
                                error);
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
