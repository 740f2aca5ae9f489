/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "fair_share": who has had least for its weight is next. Past use counts half after the
 * half-life of the host, level by level of the tree.
 *
 * formula ratio: the least U/weight, U in device-seconds. formula slurm: the largest
 * 2^(-(U/sum U)/share) + age * min(1, wait/max_age), the fair-share and age factors of Slurm's
 * multifactor plug-in (priority_multifactor.c).
 */
#include "sched/internal/made.h"
#include "sched/internal/params.h"
#include "sched/queueing/parts/by_tenant.h"
#include "sched/queueing/queueings.h"

#include <math.h>

enum { PARAM_FORMULA, PARAM_AGE, PARAM_MAX_AGE, PARAM_COUNT };

static const struct weir_param params[PARAM_COUNT] = {
    [PARAM_FORMULA] =
        WEIR_CHOICE("formula", "ratio|slurm", 1, 0, "past use over weight, or Slurm's factors"),
    [PARAM_AGE] = WEIR_NUMBER("age", "", 0, 1e6, 0,
                              "slurm: weight of the age of a tenant's next "
                              "job, that of the fair share being 1"),
    [PARAM_MAX_AGE] = WEIR_DURATION("max_age", 1, 1e9, 604800, "slurm: jobs are not older"),
};

struct shares {
    struct weir_allocator allocator;
    double values[PARAM_COUNT];
};

static const struct weir_made made = WEIR_MADE(struct shares, params, PARAM_COUNT);

static weir_status create(const struct weir_params *given, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error)
{
    return weir_made_create(&made, given, allocator, state, error);
}

static double slurm_priority(const struct shares *shares, const struct weir_view *view,
                             const struct weir_tenant *tenant, const struct weir_job *job)
{
    struct weir_tenant above = { .size = sizeof above };
    const double age_s = 1e-9 * (double)(view->now_ns - job->queued_ns);

    (void)weir_view_tenant(view, tenant->parent, &above);
    const double used = above.device_s > 0 ? tenant->device_s / above.device_s : 0;
    const double factor = tenant->share > 0 ? exp2(-used / tenant->share) : 0;
    return factor + shares->values[PARAM_AGE] * fmin(1, age_s / shares->values[PARAM_MAX_AGE]);
}

/* Between equals those who have less now: at first nobody has a past. */
static struct weir_score rank(void *state, const struct weir_view *view,
                              const struct weir_tenant *tenant, const struct weir_job *job)
{
    const struct shares *const shares = state;
    const double now = tenant->devices / tenant->weight;

    if (shares->values[PARAM_FORMULA] > 0)
        return (struct weir_score){ -slurm_priority(shares, view, tenant, job), now };
    return (struct weir_score){ tenant->device_s / tenant->weight, now };
}

static weir_status pass(void *state, const struct weir_view *view, struct weir_placer *placer,
                        struct weir_plan *plan, struct weir_error *error)
{
    const struct weir_by_tenant rule = {
        .state = state, .view = view, .placer = placer, .rank = rank
    };

    (void)plan;
    return weir_by_tenant_pass(&rule, error);
}

const struct weir_queueing_ops weir_queueing_fair_share = {
    WEIR_BY_TENANT,
    .name = "fair_share",
    .summary = "the tenant that has had least for its weight; past use fades with a half-life",
    .params = params,
    .param_count = PARAM_COUNT,
    .create = create,
    .destroy = weir_made_destroy,
    .pass = pass,
};
