/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "stride": tenants take turns in proportion to their tickets (Waldspurger, Weihl 1995).
 * A turn moves a tenant on by 1/tickets, and the one that is least far is next: the virtual time of
 * flows.h with a cost of one a job.
 */
#include "sched/queueing/parts/flows.h"
#include "sched/queueing/parts/tickets.h"
#include "sched/queueing/queueings.h"

enum { PARAM_AWARE, PARAM_COUNT };

static const struct weir_param params[PARAM_COUNT] = { [PARAM_AWARE] = WEIR_RESOURCE_AWARE };

static double cost(const struct weir_flows *flows, const struct weir_job *job)
{
    (void)flows;
    (void)job;
    return 1;
}

static double tickets(const struct weir_view *view, const struct weir_tenant *tenant,
                      const struct weir_job *job)
{
    return weir_tickets(view, tenant, job, false);
}

static double aware_tickets(const struct weir_view *view, const struct weir_tenant *tenant,
                            const struct weir_job *job)
{
    return weir_tickets(view, tenant, job, true);
}

static weir_status create(const struct weir_params *given, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error)
{
    double values[PARAM_COUNT];
    const weir_status status = weir_params_resolve(params, PARAM_COUNT, given, values, error);

    if (status != WEIR_OK)
        return status;
    const struct weir_flows flows = { .cost = cost,
                                      .weight = values[PARAM_AWARE] > 0 ? aware_tickets : tickets };
    return weir_flows_create(&flows, allocator, state, error);
}

const struct weir_queueing_ops weir_queueing_stride = {
    WEIR_BY_TENANT,
    .name = "stride",
    .summary = "tenants take turns in proportion to their tickets; who fits passes who does not",
    .params = params,
    .param_count = PARAM_COUNT,
    .create = create,
    .destroy = weir_flows_destroy,
    .pass = weir_flows_pass,
    .save = weir_flows_save,
    .restore = weir_flows_restore,
};
