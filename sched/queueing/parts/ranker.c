/* SPDX-License-Identifier: Apache-2.0 */
/* One queueing policy with its state and parameter values; see weir/job.h. */
#include "weir/job.h"

#include "sched/internal/alloc.h"
#include "sched/internal/policy_state.h"

#include <math.h>

struct weir_ranker {
    struct weir_allocator allocator;
    const struct weir_queueing_ops *ops;
    struct weir_policy_state policy;
};

weir_status weir_ranker_create(const struct weir_queueing_ops *ops,
                               const struct weir_params *params,
                               const struct weir_allocator *allocator, struct weir_ranker **ranker,
                               struct weir_error *error)
{
    const struct weir_allocator memory = weir_allocator_copy(allocator);
    const struct weir_policy_table table = WEIR_POLICY_TABLE("queueing", ops);
    struct weir_ranker *const made = weir_alloc(&memory, 1, sizeof *made);

    if (made == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    made->allocator = memory;
    made->ops = ops;
    const weir_status status =
        weir_policy_state_open(&made->policy, &table, params, &memory, error);
    if (status == WEIR_OK)
        *ranker = made;
    else
        weir_free(&memory, made);
    return status;
}

void weir_ranker_destroy(struct weir_ranker *ranker)
{
    if (ranker == NULL)
        return;
    const struct weir_allocator memory = ranker->allocator;
    weir_policy_state_close(&ranker->policy, &memory);
    weir_free(&memory, ranker);
}

weir_status weir_ranker_key(struct weir_ranker *ranker, const struct weir_job *job, int64_t now_ns,
                            double *key, struct weir_error *error)
{
    const struct weir_queueing_ops *const ops = ranker->ops;

    *key = ops->key == NULL ? (double)job->submit_ns : ops->key(ranker->policy.state, job, now_ns);
    if (isnan(*key))
        return weir_fail(error, WEIR_EPOLICY, "queueing policy %s gives job %llu no key", ops->name,
                         (unsigned long long)job->id);
    return WEIR_OK;
}
