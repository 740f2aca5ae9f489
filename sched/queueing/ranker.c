/* SPDX-License-Identifier: Apache-2.0 */
/* One queueing policy with its state and parameter values; see weir/job.h. */
#include "weir/job.h"

#include "sched/internal/alloc.h"
#include "sched/internal/params.h"

#include <math.h>

struct weir_ranker {
    struct weir_allocator allocator;
    const struct weir_queueing_ops *ops;
    double *values;
    void *state;
};

static weir_status prepare(struct weir_ranker *ranker, const struct weir_params *given,
                           struct weir_error *error)
{
    static const struct weir_params none = { .values = NULL };
    const struct weir_queueing_ops *const ops = ranker->ops;

    WEIR_TRY(weir_params_check_table(ops->params, ops->param_count, error));
    ranker->values = weir_alloc(&ranker->allocator, ops->param_count, sizeof *ranker->values);
    if (ranker->values == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    WEIR_TRY(weir_params_resolve(ops->params, ops->param_count, given == NULL ? &none : given,
                                 ranker->values, error));
    if (ops->create == NULL)
        return WEIR_OK;
    const struct weir_params values = { .values = ranker->values, .count = ops->param_count };
    return ops->create(&values, &ranker->allocator, &ranker->state, error);
}

weir_status weir_ranker_create(const struct weir_queueing_ops *ops,
                               const struct weir_params *params,
                               const struct weir_allocator *allocator, struct weir_ranker **ranker,
                               struct weir_error *error)
{
    const struct weir_allocator memory = weir_allocator_copy(allocator);
    struct weir_ranker *const made = weir_alloc(&memory, 1, sizeof *made);

    if (made == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    made->allocator = memory;
    made->ops = ops;
    const weir_status status = prepare(made, params, error);
    if (status != WEIR_OK) {
        weir_error_wrap(error, "queueing policy %s", ops->name);
        weir_free(&memory, made->values);
        weir_free(&memory, made);
        return status;
    }
    *ranker = made;
    return WEIR_OK;
}

void weir_ranker_destroy(struct weir_ranker *ranker)
{
    if (ranker == NULL)
        return;
    const struct weir_allocator memory = ranker->allocator;
    if (ranker->ops->create != NULL && ranker->ops->destroy != NULL)
        ranker->ops->destroy(ranker->state);
    weir_free(&memory, ranker->values);
    weir_free(&memory, ranker);
}

weir_status weir_ranker_key(struct weir_ranker *ranker, const struct weir_job *job, int64_t now_ns,
                            double *key, struct weir_error *error)
{
    const struct weir_queueing_ops *const ops = ranker->ops;

    *key = ops->key == NULL ? (double)job->submit_ns : ops->key(ranker->state, job, now_ns);
    if (isnan(*key))
        return weir_fail(error, WEIR_EPOLICY, "queueing policy %s gives job %llu no key", ops->name,
                         (unsigned long long)job->id);
    return WEIR_OK;
}
