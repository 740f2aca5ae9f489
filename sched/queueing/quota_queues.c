/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "quota_queues": tenants as queues with guarantees, in a tree. At every pass the GPUs
 * (and apart from them the CPUs) are divided top down by guarantee, then by priority and weight,
 * among those who ask for them (quota_shares.h); the tenant that has least of its share is next.
 * Whoever fits may go beyond his share as long as nobody else wants it; a tenant of weight 0 never
 * goes beyond its guarantee.
 *
 * Reclaim: a job that finds no place, and with which its tenant and all above it stay within their
 * shares, takes GPUs back from siblings (of it or of one above it) that have more than theirs,
 * never so that somebody has less than his guarantee.
 */
#include "sched/internal/alloc.h"
#include "sched/internal/made.h"
#include "sched/internal/params.h"
#include "sched/queueing/parts/by_tenant.h"
#include "sched/queueing/parts/quota_shares.h"
#include "sched/queueing/parts/reclaim.h"
#include "sched/queueing/queueings.h"

#include <math.h>

enum { PARAM_RECLAIM, PARAM_GRACE, PARAM_PAST, PARAM_COUNT };

static const struct weir_param params[PARAM_COUNT] = {
    [PARAM_RECLAIM] = WEIR_FLAG("reclaim", 1,
                                "jobs within the share of their tenant preempt jobs "
                                "of tenants that have more than theirs"),
    [PARAM_GRACE] = WEIR_DURATION("grace", 0, 1e9, 0,
                                  "to save what was done before a job is stopped; 0 = at once"),
    [PARAM_PAST] = WEIR_NUMBER("past", "", 0, 1e6, 0,
                               "how much use of before counts beside weights, as KAI's k"),
};

struct queue_shares {
    double gpus, cpus;
    int64_t going_units; /* GPUs of its jobs that are preempted */
};

struct queues {
    struct weir_allocator allocator;
    double values[PARAM_COUNT];
    bool has_leaving; /* jobs that were told to go may still be there */
    bool is_kept;     /* what they leave is for the job below, in this pass */
    uint32_t workload;
    uint64_t id; /* for whom somebody was told to go last */
    struct weir_reclaim reclaim;
    struct queue_shares *shares; /* by tenant, of this pass */
    struct weir_claim *claims;
    uint32_t share_capacity, claim_capacity;
};

static const struct weir_made made = WEIR_MADE(struct queues, params, PARAM_COUNT);

static weir_status create(const struct weir_params *given, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error)
{
    WEIR_TRY(weir_made_create(&made, given, allocator, state, error));
    struct queues *const queues = *state;
    queues->reclaim.allocator = queues->allocator;
    queues->has_leaving = true; /* told by another host */
    queues->id = UINT64_MAX;    /* nobody */
    queues->reclaim.grace_ns = (int64_t)(queues->values[PARAM_GRACE] * 1e9);
    return WEIR_OK;
}

static void destroy(void *state)
{
    struct queues *const queues = state;

    weir_reclaim_close(&queues->reclaim);
    weir_free(&queues->allocator, queues->shares);
    weir_free(&queues->allocator, queues->claims);
    weir_made_destroy(state);
}

/* ---- shares ---- */

static double units_of(int64_t units)
{
    return units == WEIR_NO_QUOTA ? (double)INFINITY : weir_units_amount(units);
}

static struct weir_claim claim_of(const struct weir_tenant *tenant, bool is_gpu)
{
    const int64_t used = is_gpu ? tenant->used.gpu_units : tenant->used.cpu_units;
    const int64_t wanted = is_gpu ? tenant->wanted.gpu_units : tenant->wanted.cpu_units;
    const int64_t hard = is_gpu ? tenant->hard.gpu_units : tenant->hard.cpu_units;
    const int64_t sure = is_gpu ? tenant->guarantee.gpu_units : tenant->guarantee.cpu_units;

    return (struct weir_claim){ .guarantee = units_of(sure),
                                .weight = tenant->weight,
                                .past = tenant->device_s,
                                .band = tenant->priority,
                                .most = fmin(weir_units_amount(used) + weir_units_amount(wanted),
                                             units_of(hard)) };
}

/* Among the children of `parent`. */
static void divide(struct queues *queues, const struct weir_view *view, uint32_t parent,
                   bool is_gpu)
{
    const uint32_t count = weir_view_tenants(view);
    struct weir_tenant tenant = { .size = sizeof tenant };
    uint32_t claims = 0;
    const double amount = is_gpu ? queues->shares[parent].gpus : queues->shares[parent].cpus;

    for (uint32_t t = 1; t < count; t++)
        if (weir_view_tenant(view, t, &tenant) && tenant.parent == parent)
            queues->claims[claims++] = claim_of(&tenant, is_gpu);
    weir_quota_divide(amount, queues->values[PARAM_PAST], queues->claims, claims);
    claims = 0;
    for (uint32_t t = 1; t < count; t++) {
        if (!weir_view_tenant(view, t, &tenant) || tenant.parent != parent)
            continue;
        *(is_gpu ? &queues->shares[t].gpus : &queues->shares[t].cpus) =
            queues->claims[claims++].share;
    }
}

static weir_status reserve(struct queues *queues, uint32_t count)
{
    WEIR_ROOM(&queues->allocator, queues->shares, queues->share_capacity, count);
    WEIR_ROOM(&queues->allocator, queues->claims, queues->claim_capacity, count);
    return WEIR_OK;
}

/* Parents come before their children. */
static weir_status divide_all(struct queues *queues, const struct weir_view *view)
{
    const struct weir_amounts all = weir_cluster_total(view->cluster);
    const uint32_t count = weir_view_tenants(view);
    struct weir_tenant tenant = { .size = sizeof tenant };

    if (count == 0 || reserve(queues, count) != WEIR_OK)
        return count == 0 ? WEIR_OK : WEIR_ENOMEM;
    for (uint32_t t = 0; t < count; t++)
        queues->shares[t].going_units = 0;
    queues->shares[0].gpus = weir_units_amount(all.gpu_units);
    queues->shares[0].cpus = weir_units_amount(all.cpu_units);
    for (uint32_t t = 0; t < count; t++) {
        bool is_parent = t == 0;
        for (uint32_t c = t + 1; c < count && !is_parent; c++)
            is_parent = weir_view_tenant(view, c, &tenant) && tenant.parent == t;
        if (!is_parent)
            continue;
        divide(queues, view, t, true);
        divide(queues, view, t, false);
    }
    return WEIR_OK;
}

/* ---- who is next ---- */

/* Who has no share is last. */
static double filled(double used, double share)
{
    return share > 0 ? used / share : (double)INFINITY;
}

/* Of what it asks for: the resource of which it has most of its share. */
static struct weir_score rank(void *state, const struct weir_view *view,
                              const struct weir_tenant *tenant, const struct weir_job *job)
{
    const struct queues *const queues = state;
    const struct queue_shares *const share = &queues->shares[tenant->number];
    const struct weir_amounts need = weir_job_amounts(job);
    const double gpus = filled(weir_units_amount(tenant->used.gpu_units), share->gpus);
    const double cpus = filled(weir_units_amount(tenant->used.cpu_units), share->cpus);

    (void)view;
    if (tenant->number == 0)
        return (struct weir_score){ (double)INFINITY, 0 };
    return (struct weir_score){ need.gpu_units > 0 ? gpus : cpus,
                                -(ldexp(tenant->priority, 32) + job->priority) };
}

/* ---- reclaim ---- */

static struct weir_tenant look_up(const struct queues *queues, uint32_t number)
{
    struct weir_tenant tenant = { .size = sizeof tenant };

    (void)weir_view_tenant(queues->reclaim.view, number, &tenant);
    return tenant;
}

/* What a tenant has without those that go. */
static double has_gpus(const struct queues *queues, const struct weir_tenant *tenant)
{
    return weir_units_amount(tenant->used.gpu_units - queues->shares[tenant->number].going_units);
}

/* With the job its tenant and all above it stay within their shares. */
static bool is_entitled(const struct queues *queues, const struct weir_job *job)
{
    const double gpus = weir_units_amount(weir_job_amounts(job).gpu_units);

    for (uint32_t t = job->tenant; t != 0;) {
        const struct weir_tenant tenant = look_up(queues, t);
        if (has_gpus(queues, &tenant) + gpus > queues->shares[t].gpus + 1e-9)
            return false;
        t = tenant.parent;
    }
    return gpus > 0 && job->tenant != 0;
}

static bool is_above(const struct queues *queues, uint32_t above, uint32_t number)
{
    while (number != above && number != 0)
        number = look_up(queues, number).parent;
    return number == above;
}

/* While those that were told to go leave, and when they have left, nobody who would be above his
 * share takes their room before the job that it is for: they would be the ones that left. */
static uint32_t refuse(void *state, const struct weir_view *view, const struct weir_job *job)
{
    const struct weir_amounts need = weir_job_amounts(job);
    const struct queues *const queues = state;
    struct weir_tenant tenant = { .size = sizeof tenant, .number = job->tenant };

    if (queues->is_kept && !is_entitled(queues, job))
        return WEIR_REASON_QUOTA;
    for (uint32_t t = job->tenant; t != 0 && weir_view_tenant(view, t, &tenant);
         t = tenant.parent) {
        const bool is_more = tenant.used.gpu_units + need.gpu_units > tenant.guarantee.gpu_units ||
                             (need.gpu_units == 0 &&
                              tenant.used.cpu_units + need.cpu_units > tenant.guarantee.cpu_units);
        if (!(tenant.weight > 0) && is_more)
            return WEIR_REASON_QUOTA;
    }
    return WEIR_REASON_NONE;
}

/* Nobody on the way to the branch beside the job's gets less than his guarantee, and the branch has
 * more than its share. */
static bool may_go(void *state, const struct weir_job *victim, const struct weir_job *job)
{
    const struct queues *const queues = state;
    const double gpus = weir_units_amount(weir_job_amounts(victim).gpu_units);

    if (victim->tenant == 0 || !(gpus > 0))
        return false;
    for (uint32_t t = victim->tenant; t != 0;) {
        const struct weir_tenant tenant = look_up(queues, t);
        const double has = has_gpus(queues, &tenant);
        if (is_above(queues, t, job->tenant))
            return false; /* a job of the same tenant, or of one above it */
        if (has - gpus < weir_units_amount(tenant.guarantee.gpu_units) - 1e-9)
            return false;
        if (is_above(queues, tenant.parent, job->tenant))
            return has > queues->shares[t].gpus + 1e-9;
        t = tenant.parent;
    }
    return false;
}

static void count_going(void *state, const struct weir_job *victim, int sign)
{
    struct queues *const queues = state;
    const int64_t units = weir_job_amounts(victim).gpu_units;

    for (uint32_t t = victim->tenant; t != 0; t = look_up(queues, t).parent)
        queues->shares[t].going_units += sign * units;
}

/* Whether the job for whom they were told to go still waits. */
static bool is_awaited(const struct queues *queues)
{
    struct weir_job job = { .size = sizeof job };

    return weir_view_job(queues->reclaim.view, queues->workload, queues->id, &job) &&
           job.state == WEIR_JOB_WAITING && is_entitled(queues, &job);
}

/* Those that an earlier plan told to go; O(running jobs) while there are any. */
static void count_leaving(struct queues *queues, const struct weir_view *view)
{
    struct weir_job job = { .size = sizeof job };

    if (!queues->has_leaving)
        return;
    queues->has_leaving = false;
    for (bool more = weir_view_next_running(view, NULL, &job); more;
         more = weir_view_next_running(view, &job, &job)) {
        if (job.is_preempted == 0 || job.tenant >= weir_view_tenants(view))
            continue;
        queues->has_leaving = true;
        count_going(queues, &job, 1);
    }
}

/* Somebody of whom something could be taken. O(tenants). */
static bool is_anybody_over(const struct queues *queues)
{
    const uint32_t count = weir_view_tenants(queues->reclaim.view);

    for (uint32_t t = 1; t < count; t++) {
        const struct weir_tenant tenant = look_up(queues, t);
        if (has_gpus(queues, &tenant) > queues->shares[t].gpus + 1e-9)
            return true;
    }
    return false;
}

static weir_status make_room(void *state, const struct weir_job *job, struct weir_error *error)
{
    struct queues *const queues = state;

    if (!is_entitled(queues, job) || !is_anybody_over(queues))
        return WEIR_EBUSY;
    queues->has_leaving = true;
    queues->workload = job->workload;
    queues->id = job->id;
    return weir_reclaim_for(&queues->reclaim, job, error);
}

/* ---- the pass ---- */

static weir_status pass(void *state, const struct weir_view *view, struct weir_placer *placer,
                        struct weir_plan *plan, struct weir_error *error)
{
    struct queues *const queues = state;
    const struct weir_by_tenant rule = { .state = state,
                                         .view = view,
                                         .placer = placer,
                                         .rank = rank,
                                         .refuse = refuse,
                                         .make_room =
                                             queues->values[PARAM_RECLAIM] > 0 ? make_room : NULL };

    (void)plan;
    queues->reclaim.view = view;
    queues->reclaim.placer = placer;
    queues->reclaim.state = state;
    queues->reclaim.may_go = may_go;
    queues->reclaim.count = count_going;
    if (divide_all(state, view) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    queues->is_kept = queues->reclaim.grace_ns > 0 && queues->has_leaving && is_awaited(queues);
    count_leaving(state, view);
    return weir_by_tenant_pass(&rule, error);
}

const struct weir_queueing_ops weir_queueing_quota_queues = {
    WEIR_BY_TENANT,
    .name = "quota_queues",
    .summary = "the tenant with least of its share: guarantees first, the rest by weight; reclaims",
    .params = params,
    .param_count = PARAM_COUNT,
    .create = create,
    .destroy = destroy,
    .pass = pass,
};
