/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One placement policy with its state and parameter values, asked for one place at a time. What the
 * policy answers is checked against the inventory before it is handed on; the host applies it.
 */
#include "sched/internal/alloc.h"
#include "sched/internal/hash.h"
#include "sched/internal/params.h"
#include "sched/placement/scan.h"

struct weir_chooser {
    struct weir_allocator allocator;
    const struct weir_placement_ops *ops;
    double *values;
    void *state;
};

static weir_status prepare(struct weir_chooser *chooser, const struct weir_params *params,
                           struct weir_error *error)
{
    static const struct weir_params none = { .values = NULL };
    const struct weir_placement_ops *const ops = chooser->ops;

    WEIR_TRY(weir_params_check_table(ops->params, ops->param_count, error));
    chooser->values = weir_alloc(&chooser->allocator, ops->param_count, sizeof *chooser->values);
    if (chooser->values == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    WEIR_TRY(weir_params_resolve(ops->params, ops->param_count, params == NULL ? &none : params,
                                 chooser->values, error));
    if (ops->create == NULL)
        return WEIR_OK;
    const struct weir_params values = { .values = chooser->values, .count = ops->param_count };
    return ops->create(&values, &chooser->allocator, &chooser->state, error);
}

weir_status weir_chooser_create(const struct weir_placement_ops *ops,
                                const struct weir_params *params,
                                const struct weir_allocator *allocator,
                                struct weir_chooser **chooser, struct weir_error *error)
{
    const struct weir_allocator memory = weir_allocator_copy(allocator);
    struct weir_chooser *const made = weir_alloc(&memory, 1, sizeof *made);

    if (made == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    made->allocator = memory;
    made->ops = ops;
    const weir_status status = prepare(made, params, error);
    if (status != WEIR_OK) {
        weir_error_wrap(error, "placement policy %s", ops->name);
        weir_free(&memory, made->values);
        weir_free(&memory, made);
        return status;
    }
    *chooser = made;
    return WEIR_OK;
}

void weir_chooser_destroy(struct weir_chooser *chooser)
{
    if (chooser == NULL)
        return;
    const struct weir_allocator memory = chooser->allocator;
    if (chooser->ops->create != NULL && chooser->ops->destroy != NULL)
        chooser->ops->destroy(chooser->state);
    weir_free(&memory, chooser->values);
    weir_free(&memory, chooser);
}

weir_status weir_chooser_place(struct weir_chooser *chooser, const struct weir_place_query *query,
                               struct weir_place_answer *answer, struct weir_error *error)
{
    answer->reused = WEIR_NO_INDEX;
    WEIR_TRY(weir_placement_place(chooser->ops, chooser->state, query, answer, error));
    if (!weir_cluster_fits(query->cluster, &answer->alloc))
        return weir_fail(error, WEIR_EPOLICY,
                         "placement policy %s chose a place on node %u that is not free",
                         chooser->ops->name, answer->alloc.node);
    return WEIR_OK;
}

weir_status weir_chooser_evict(struct weir_chooser *chooser, const struct weir_evict_query *query,
                               uint64_t *worker, struct weir_error *error)
{
    return weir_placement_evict(chooser->ops, chooser->state, query, worker, error);
}

/* Places member number `*placed` and those after it; they stay in the scratch cluster. */
static weir_status place_rest(struct weir_chooser *chooser, const struct weir_members_query *query,
                              struct weir_place_answer *answers, uint32_t *placed,
                              struct weir_error *error)
{
    for (; *placed < query->count; (*placed)++) {
        const struct weir_place_query member = { .cluster = query->scratch,
                                                 .mix = query->mix,
                                                 .shape = query->shape,
                                                 .stage = query->stage,
                                                 .seed = weir_hash_add(query->seed, *placed) };
        struct weir_place_answer *const answer = &answers[*placed];
        WEIR_TRY(weir_chooser_place(chooser, &member, answer, error));
        WEIR_TRY(weir_cluster_add_worker(query->scratch, UINT64_MAX - *placed, query->stage,
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

    if (weir_cluster_mark(query->scratch) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    const weir_status status = place_rest(chooser, query, answers, &done, error);
    weir_cluster_rollback(query->scratch);
    if (status != WEIR_OK)
        weir_error_wrap(error, "member %u of %u", done + 1, query->count);
    *placed = done;
    return status;
}
