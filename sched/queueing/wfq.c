/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "wfq": weighted fair queueing among tenants. A job costs its GPUs times its estimate
 * (ranks without GPUs count one each), so a gang of eight moves its tenant on eight times as fast.
 * Of equal virtual times that of the job that came first is next. The chosen job blocks until it
 * fits, as a packet on a link does; with wait: false others pass.
 */
#include "sched/internal/params.h"
#include "sched/queueing/parts/flows.h"
#include "sched/queueing/queueings.h"

#include <math.h>

enum { PARAM_ORDER, PARAM_WAIT, PARAM_UNKNOWN, PARAM_BURST, PARAM_REFILL, PARAM_COUNT };

static const struct weir_param params[PARAM_COUNT] = {
    [PARAM_ORDER] = WEIR_CHOICE("order", "finish|start", 1, 0,
                                "which job is next: that of the earliest virtual end, or begin"),
    [PARAM_WAIT] = WEIR_FLAG("wait", 1, "while the chosen job finds no place, all wait"),
    [PARAM_UNKNOWN] = WEIR_DURATION("unknown", 1e-3, 1e9, 3600,
                                    "run time that jobs without an estimate are charged for"),
    [PARAM_BURST] = WEIR_NUMBER("burst", "GPU*s", 0, 1e12, 0,
                                "a tenant is not charged for so much at once, as for checkpoints"),
    [PARAM_REFILL] =
        WEIR_NUMBER("refill", "GPU", 0, 1e9, 0, "of its burst it gets back so much a second"),
};

static double cost(const struct weir_flows *flows, const struct weir_job *job)
{
    const bool is_known = job->estimate_ns != WEIR_UNKNOWN_TIME && job->estimate_ns > 0;

    return weir_job_devices(job) * (is_known ? 1e-9 * (double)job->estimate_ns : flows->unknown_s);
}

static double weight(const struct weir_view *view, const struct weir_tenant *tenant,
                     const struct weir_job *job)
{
    (void)view;
    (void)job;
    return tenant->weight;
}

static weir_status create(const struct weir_params *given, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error)
{
    double values[PARAM_COUNT];
    const weir_status status = weir_params_resolve(params, PARAM_COUNT, given, values, error);

    if (status != WEIR_OK)
        return status;
    const struct weir_flows flows = { .is_by_start = values[PARAM_ORDER] > 0,
                                      .is_by_arrival = true,
                                      .is_blocking = values[PARAM_WAIT] > 0,
                                      .unknown_s = values[PARAM_UNKNOWN],
                                      .burst = values[PARAM_BURST],
                                      .refill = values[PARAM_REFILL],
                                      .cost = cost,
                                      .weight = weight };
    return weir_flows_create(&flows, allocator, state, error);
}

const struct weir_queueing_ops weir_queueing_wfq = {
    WEIR_BY_TENANT,
    .name = "wfq",
    .summary = "weighted fair queueing among tenants, by virtual time; the chosen job blocks",
    .params = params,
    .param_count = PARAM_COUNT,
    .create = create,
    .destroy = weir_flows_destroy,
    .pass = weir_flows_pass,
    .save = weir_flows_save,
    .restore = weir_flows_restore,
};
