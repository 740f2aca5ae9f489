/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "priority": the most urgent first. With ageing a waiting job gains `ageing` a second,
 * so that it overtakes one of priority d higher when it has waited d / ageing seconds longer.
 */
#include "sched/queueing/queueings.h"

#include "sched/internal/made.h"
#include "sched/internal/params.h"

enum { PARAM_AGEING, PARAM_COUNT };

static const struct weir_param params[PARAM_COUNT] = {
    [PARAM_AGEING] =
        WEIR_NUMBER("ageing", "1/s", 0, 1e6, 0, "priority a waiting job gains in a second"),
};

struct ranks {
    struct weir_allocator allocator;
    double values[PARAM_COUNT];
};

static const struct weir_made made = WEIR_MADE(struct ranks, params, PARAM_COUNT);

static weir_status create(const struct weir_params *given, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error)
{
    return weir_made_create(&made, given, allocator, state, error);
}

/* p + ageing * (now - since) orders as p - ageing * since does, which never changes. */
static double key(void *state, const struct weir_job *job, int64_t now_ns)
{
    const struct ranks *const ranks = state;

    (void)now_ns;
    return ranks->values[PARAM_AGEING] * 1e-9 * (double)job->queued_ns - job->priority;
}

const struct weir_queueing_ops weir_queueing_priority = {
    .size = sizeof weir_queueing_priority,
    .abi = WEIR_ABI_MAJOR,
    .name = "priority",
    .summary = "the most urgent first, with ageing; jobs that fit pass those that do not",
    .params = params,
    .param_count = PARAM_COUNT,
    .flags = WEIR_QUEUEING_PASSES,
    .create = create,
    .destroy = weir_made_destroy,
    .key = key,
};
