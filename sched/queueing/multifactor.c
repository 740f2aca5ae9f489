/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "multifactor": the highest priority of Slurm's multifactor plugin first (see
 * multifactor.h). Jobs that fit pass those that do not, unless `strict`.
 */
#include "sched/queueing/multifactor.h"

#include "sched/internal/alloc.h"
#include "sched/internal/made.h"
#include "sched/internal/params.h"
#include "sched/queueing/parts/backfill.h"
#include "sched/queueing/parts/ranked.h"
#include "sched/queueing/queueings.h"

enum { PARAM_STRICT = WEIR_MULTIFACTOR_PARAMS, PARAM_COUNT };

static const struct weir_param params[PARAM_COUNT] = {
    WEIR_MULTIFACTOR_TABLE,
    [PARAM_STRICT] = WEIR_FLAG("strict", 0, "while the first does not fit, all wait"),
};

/* ---- priorities ---- */

void weir_multifactor_open(struct weir_multifactor *factors, const struct weir_allocator *allocator,
                           const double *values)
{
    *factors = (struct weir_multifactor){ .allocator = *allocator, .values = values };
}

void weir_multifactor_close(struct weir_multifactor *factors)
{
    weir_free(&factors->allocator, factors->shares);
    weir_free(&factors->allocator, factors->branches);
}

weir_status weir_multifactor_begin(struct weir_multifactor *factors, const struct weir_view *view)
{
    const uint32_t tenants = weir_view_tenants(view);

    factors->nodes = weir_cluster_node_count(view->cluster);
    factors->cpus = weir_units_amount(weir_cluster_total(view->cluster).cpu_units);
    WEIR_ROOM(&factors->allocator, factors->shares, factors->share_capacity, tenants + 1);
    WEIR_ROOM(&factors->allocator, factors->branches, factors->branch_capacity, tenants + 1);
    if (factors->values[WEIR_MULTIFACTOR_TREE] > 0)
        weir_fair_classic(view, factors->shares);
    else
        weir_fair_tree(view, factors->shares, factors->branches);
    return WEIR_OK;
}

/* 0 to 1, the favoured size 1. */
static double size_of(const struct weir_multifactor *factors, const struct weir_job *job)
{
    const double nodes = job->ranks;
    const double cpus = weir_units_amount(weir_ranked_need(job).cpu_units);
    const double favour = factors->values[WEIR_MULTIFACTOR_FAVOUR];
    const double minutes = (double)job->estimate_ns / 60e9;
    double size = (nodes / factors->nodes + cpus / factors->cpus) / 2;

    if (favour > 1) { /* what it takes a minute of its limit */
        const bool is_known = job->estimate_ns != WEIR_UNKNOWN_TIME && job->estimate_ns > 0;
        const double taken = fmax(nodes * factors->cpus / factors->nodes, cpus);
        size = is_known ? taken / minutes / factors->cpus : 1;
    }
    size = fmin(fmax(size, 0), 1);
    return favour > 0 ? 1 - size : size;
}

double weir_multifactor_of(const struct weir_multifactor *factors, const struct weir_job *job,
                           int64_t now_ns)
{
    const double *const values = factors->values;
    const double age_s = 1e-9 * (double)(now_ns - job->queued_ns);
    const double age = fmin(1, age_s / values[WEIR_MULTIFACTOR_MAX_AGE]);
    const double qos = fmin(fmax(job->priority / values[WEIR_MULTIFACTOR_QOS_MAX], 0), 1);
    const double weight = values[WEIR_MULTIFACTOR_QOS];
    const double sum = values[WEIR_MULTIFACTOR_AGE] * age +
                       values[WEIR_MULTIFACTOR_FAIR_SHARE] * factors->shares[job->tenant] +
                       values[WEIR_MULTIFACTOR_SIZE] * size_of(factors, job) +
                       (weight > 0 ? weight * qos : job->priority);

    return floor(fmax(1, sum));
}

static double rank_of(const void *state, const struct weir_job *job, int64_t now_ns)
{
    return -weir_multifactor_of(state, job, now_ns);
}

weir_status weir_multifactor_list(struct weir_multifactor *factors, const struct weir_view *view,
                                  struct weir_listed *listed)
{
    /* Of one kind all have tenant and size in common, but for the limit of one favoured by it. */
    const bool is_by_age = !(factors->values[WEIR_MULTIFACTOR_FAVOUR] > 1);

    WEIR_TRY(weir_multifactor_begin(factors, view));
    return weir_listed_begin(listed, view, rank_of, factors, is_by_age);
}

/* ---- the policy ---- */

struct multifactor {
    struct weir_allocator allocator;
    double values[PARAM_COUNT];
    struct weir_multifactor factors;
    struct weir_listed queue;
};

static const struct weir_made made = WEIR_MADE(struct multifactor, params, PARAM_COUNT);

static weir_status create(const struct weir_params *given, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error)
{
    WEIR_TRY(weir_made_create(&made, given, allocator, state, error));
    struct multifactor *const own = *state;
    weir_multifactor_open(&own->factors, allocator, own->values);
    weir_listed_open(&own->queue, allocator);
    return WEIR_OK;
}

static void destroy(void *state)
{
    struct multifactor *const own = state;

    weir_multifactor_close(&own->factors);
    weir_listed_close(&own->queue);
    weir_made_destroy(state);
}

static weir_status pass(void *state, const struct weir_view *view, struct weir_placer *placer,
                        struct weir_plan *plan, struct weir_error *error)
{
    struct multifactor *const own = state;
    struct weir_listed_job *next = NULL;

    (void)plan;
    WEIR_TRY(weir_multifactor_list(&own->factors, view, &own->queue));
    for (uint32_t i = 0;; i++) {
        WEIR_TRY(weir_listed_at(&own->queue, i, &next));
        if (next == NULL)
            break;
        const struct weir_job *const job = &next->job;
        const uint32_t kind = job->kind;
        const uint32_t limit = weir_view_quota_reason(view, job);
        const weir_status status = weir_placer_start_job(placer, job->workload, job->id, error);
        if (status != WEIR_OK && !weir_backfill_is_no_place(status))
            return status;
        if (status != WEIR_OK && own->values[PARAM_STRICT] > 0 && limit == WEIR_REASON_NONE)
            break;
        if (status != WEIR_OK)
            weir_listed_leave_kind(&own->queue, kind); /* none of it finds a place */
    }
    if (error != NULL)
        error->text[0] = '\0'; /* that some found no place is no error */
    return WEIR_OK;
}

const struct weir_queueing_ops weir_queueing_multifactor = {
    .size = sizeof weir_queueing_multifactor,
    .abi = WEIR_ABI_MAJOR,
    .name = "multifactor",
    .summary = "Slurm's priority: age, fair share of the tenant, size, quality of service",
    .params = params,
    .param_count = PARAM_COUNT,
    .create = create,
    .destroy = destroy,
    .pass = pass,
};
