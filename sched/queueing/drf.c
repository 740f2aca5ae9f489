/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "drf": dominant resource fairness. The tenant whose dominant share, the largest part
 * that it has of any resource of the cluster, over its weight is least is next, as long as its job
 * finds a place. (Ghodsi et al., NSDI 2011.)
 */
#include "sched/queueing/parts/by_tenant.h"
#include "sched/queueing/queueings.h"

static struct weir_score rank(void *state, const struct weir_view *view,
                              const struct weir_tenant *tenant, const struct weir_job *job)
{
    (void)state;
    (void)job;
    return (struct weir_score){ weir_view_tenant_share(view, tenant) / tenant->weight, 0 };
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

const struct weir_queueing_ops weir_queueing_drf = {
    WEIR_BY_TENANT,
    .name = "drf",
    .summary = "the tenant of the least dominant share over weight; who fits passes who does not",
    .pass = pass,
};
