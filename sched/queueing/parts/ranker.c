/* SPDX-License-Identifier: Apache-2.0 */
/* One queueing policy with its state and parameter values; see weir/job.h. */
#include "weir/job.h"

#include "sched/internal/policy_state.h"

#include <math.h>

struct weir_ranker {
    struct weir_policy_alone alone;
};

weir_status weir_ranker_create(const struct weir_queueing_ops *ops,
                               const struct weir_params *params,
                               const struct weir_allocator *allocator, struct weir_ranker **ranker,
                               struct weir_error *error)
{
    const struct weir_policy_table table = WEIR_POLICY_TABLE("queueing", ops);
    void *made = NULL;

    WEIR_TRY(weir_policy_alone_create(ops, &table, params, allocator, &made, error));
    *ranker = made;
    return WEIR_OK;
}

void weir_ranker_destroy(struct weir_ranker *ranker)
{
    weir_policy_alone_destroy((struct weir_policy_alone *)ranker);
}

weir_status weir_ranker_key(struct weir_ranker *ranker, const struct weir_job *job, int64_t now_ns,
                            double *key, struct weir_error *error)
{
    const struct weir_queueing_ops *const ops = ranker->alone.ops;

    *key = ops->key == NULL ? (double)job->submit_ns
                            : ops->key(ranker->alone.policy.state, job, now_ns);
    if (isnan(*key))
        return weir_fail(error, WEIR_EPOLICY, "queueing policy %s gives job %llu no key", ops->name,
                         (unsigned long long)job->id);
    return WEIR_OK;
}
