/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "fixed": a batch is full or it does not go. One that cannot be filled, as the next
 * request is of another shape or too large, or as nothing more will come, goes as it is.
 */
#include "sched/batching/batchings.h"

#include "sched/internal/made.h"
#include "sched/internal/params.h"

enum { PARAM_SIZE, PARAM_COUNT };

static const struct weir_param params[PARAM_COUNT] = {
    [PARAM_SIZE] = WEIR_COUNT("size", "items", 1, 1e6, 1, "items of a batch"),
};

struct fixed {
    struct weir_allocator allocator;
    double values[PARAM_COUNT];
};

static weir_status create(const struct weir_params *given, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error)
{
    static const struct weir_made made = WEIR_MADE(struct fixed, params, PARAM_COUNT);

    return weir_made_create(&made, given, allocator, state, error);
}

static void rules_of(const void *state, struct weir_batch_rules *rules)
{
    const struct fixed *const fixed = state;

    rules->levels = 1;
    rules->most_items = (uint32_t)fixed->values[PARAM_SIZE];
}

static void form(const void *state, const struct weir_batch_view *view,
                 struct weir_batch_answer *answer)
{
    const struct fixed *const fixed = state;
    const uint32_t most = (uint32_t)fixed->values[PARAM_SIZE];
    const struct weir_batch_front front = weir_batch_front_of(view, most);

    answer->take = front.items == most || front.is_closed || view->is_last ? front.count : 0;
    answer->wake_ns = INT64_MAX;
}

const struct weir_batching_ops weir_batching_fixed = {
    .size = sizeof(struct weir_batching_ops),
    .abi = WEIR_ABI_MAJOR,
    .name = "fixed",
    .summary = "full batches alone, whatever it takes to fill them",
    .params = params,
    .param_count = PARAM_COUNT,
    .create = create,
    .destroy = weir_made_destroy,
    .rules = rules_of,
    .form = form,
};
