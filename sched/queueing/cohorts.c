/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "cohorts": admission as Kueue does it with fair sharing (see cohorts.h). A job starts
 * when its tenant may have it; of several the one whose tenant would then have the least share of
 * what is lent is next, level by level, so those who stay within their quota come first; then
 * priority, then the order of the tenants.
 */
#include "sched/queueing/cohorts.h"

#include "sched/internal/alloc.h"
#include "sched/internal/made.h"
#include "sched/internal/params.h"
#include "sched/queueing/parts/by_tenant.h"
#include "sched/queueing/parts/cohort_preempt.h"
#include "sched/queueing/queueings.h"

#include <math.h>

static void amounts_list(const struct weir_amounts *amounts, double list[COHORT_RESOURCES])
{
    list[COHORT_GPU] = weir_units_amount(amounts->gpu_units);
    list[COHORT_CPU] = weir_units_amount(amounts->cpu_units);
    list[COHORT_RAM] = (double)amounts->ram_bytes;
}

static void quota_list(const struct weir_quota *quota, double list[COHORT_RESOURCES])
{
    const bool has_gpus = quota->gpu_units != WEIR_NO_QUOTA;
    const bool has_cpus = quota->cpu_units != WEIR_NO_QUOTA;
    const bool has_ram = quota->ram_bytes != WEIR_NO_QUOTA;

    list[COHORT_GPU] = has_gpus ? weir_units_amount(quota->gpu_units) : (double)INFINITY;
    list[COHORT_CPU] = has_cpus ? weir_units_amount(quota->cpu_units) : (double)INFINITY;
    list[COHORT_RAM] = has_ram ? (double)quota->ram_bytes : (double)INFINITY;
}

static struct weir_tenant look_up(const struct weir_view *view, uint32_t number)
{
    struct weir_tenant tenant = { .size = sizeof tenant };

    (void)weir_view_tenant(view, number, &tenant);
    return tenant;
}

/* ---- what there is ---- */

/* Use of a tenant counts all below it, that of a cohort only what they have beyond their own. */
void weir_cohorts_leave(const struct weir_view *view, const struct weir_job *job, int sign,
                        struct weir_amounts *gone)
{
    const struct weir_amounts amounts = weir_job_amounts(job);

    for (uint32_t t = job->tenant;; t = look_up(view, t).parent) {
        gone[t].gpu_units += sign * amounts.gpu_units;
        gone[t].cpu_units += sign * amounts.cpu_units;
        gone[t].ram_bytes += sign * amounts.ram_bytes;
        if (t == 0)
            break;
    }
}

void weir_cohorts_count(const struct weir_view *view, const struct weir_amounts *gone,
                        struct weir_cohort *cohorts)
{
    const uint32_t count = weir_view_tenants(view);

    for (uint32_t t = 0; t < count; t++) {
        const struct weir_tenant tenant = look_up(view, t);
        quota_list(&tenant.guarantee, cohorts[t].quota);
        struct weir_amounts used = tenant.used;
        used.gpu_units -= gone == NULL ? 0 : gone[t].gpu_units;
        used.cpu_units -= gone == NULL ? 0 : gone[t].cpu_units;
        used.ram_bytes -= gone == NULL ? 0 : gone[t].ram_bytes;
        amounts_list(&used, cohorts[t].use);
    }
    for (uint32_t t = count; t-- > 1;) { /* children come after their parents */
        const struct weir_tenant tenant = look_up(view, t);
        struct weir_cohort *const above = &cohorts[tenant.parent];
        double lend[COHORT_RESOURCES];
        quota_list(&tenant.lend, lend);
        for (uint32_t r = 0; r < COHORT_RESOURCES; r++) {
            struct weir_cohort *const own = &cohorts[t];
            own->local[r] = fmax(0, own->quota[r] - lend[r]);
            above->quota[r] += own->quota[r] - own->local[r];
            above->use[r] -= fmin(own->use[r], own->local[r]);
        }
    }
}

void weir_cohort_available(const struct weir_view *view, const struct weir_cohort *cohorts,
                           uint32_t number, double available[COHORT_RESOURCES])
{
    const struct weir_cohort *const own = &cohorts[number];
    double borrow[COHORT_RESOURCES];

    if (number == 0) {
        for (uint32_t r = 0; r < COHORT_RESOURCES; r++)
            available[r] = own->quota[r] - own->use[r];
        return;
    }
    const struct weir_tenant tenant = look_up(view, number);
    quota_list(&tenant.borrow, borrow);
    weir_cohort_available(view, cohorts, tenant.parent, available);
    for (uint32_t r = 0; r < COHORT_RESOURCES; r++) {
        const double lent = own->quota[r] - own->local[r];
        const double most = lent - fmax(0, own->use[r] - own->local[r]) + borrow[r];
        available[r] = fmax(0, own->local[r] - own->use[r]) + fmin(most, available[r]);
    }
}

double weir_cohort_share(const struct weir_view *view, const struct weir_cohort *cohorts,
                         uint32_t number, const struct weir_amounts *more)
{
    const struct weir_tenant tenant = look_up(view, number);
    const struct weir_cohort *const above = &cohorts[tenant.parent];
    double extra[COHORT_RESOURCES];
    double share = 0;

    amounts_list(more, extra);
    for (uint32_t r = 0; r < COHORT_RESOURCES; r++) {
        const double over = cohorts[number].use[r] + extra[r] - cohorts[number].quota[r];
        if (over > 0 && above->quota[r] > 0)
            share = fmax(share, 1000 * over / above->quota[r]);
    }
    return share > 0 ? share / tenant.weight : 0;
}

bool weir_cohort_has(const struct weir_view *view, const struct weir_cohort *cohorts,
                     uint32_t number, const struct weir_amounts *more)
{
    double available[COHORT_RESOURCES];
    double wants[COHORT_RESOURCES];

    amounts_list(more, wants);
    weir_cohort_available(view, cohorts, number, available);
    for (uint32_t r = 0; r < COHORT_RESOURCES; r++) {
        const bool has_quota = cohorts[0].quota[r] > 0 || cohorts[number].quota[r] > 0;
        if (has_quota && wants[r] > available[r] + 1e-9 * wants[r])
            return false;
    }
    return true;
}

/* ---- the policy ---- */

enum { PARAM_PREEMPT, PARAM_GRACE, PARAM_COUNT };

static const struct weir_param params[PARAM_COUNT] = {
    [PARAM_PREEMPT] = WEIR_CHOICE("preempt", "never|final_share|either_share", 2, 0,
                                  "who may be preempted: none; who has at least as much of what is "
                                  "lent even then; also who has more before it"),
    [PARAM_GRACE] = WEIR_DURATION("grace", 0, 1e9, 0,
                                  "to save what was done before a job is stopped; 0 = at once"),
};

struct cohort_policy {
    struct weir_allocator allocator;
    double values[PARAM_COUNT];
    const struct weir_view *view; /* of the present pass */
    struct weir_cohort *cohorts;
    struct weir_cohort_claim claim;
    uint32_t capacity;
};

static const struct weir_made made = WEIR_MADE(struct cohort_policy, params, PARAM_COUNT);

static weir_status create(const struct weir_params *given, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error)
{
    WEIR_TRY(weir_made_create(&made, given, allocator, state, error));
    struct cohort_policy *const policy = *state;
    policy->claim =
        (struct weir_cohort_claim){ .allocator = *allocator,
                                    .grace_ns = (int64_t)(policy->values[PARAM_GRACE] * 1e9),
                                    .is_by_either = policy->values[PARAM_PREEMPT] > 1 };
    return WEIR_OK;
}

static void destroy(void *state)
{
    struct cohort_policy *const policy = state;

    weir_cohort_claim_close(&policy->claim);
    weir_free(&policy->allocator, policy->cohorts);
    weir_made_destroy(state);
}

static void count_again(void *state)
{
    struct cohort_policy *const policy = state;

    weir_cohorts_count(policy->view, policy->claim.gone, policy->cohorts);
}

static struct weir_score rank(void *state, const struct weir_view *view,
                              const struct weir_tenant *tenant, const struct weir_job *job)
{
    const struct cohort_policy *const policy = state;
    const struct weir_amounts need = weir_job_amounts(job);

    if (tenant->number == 0)
        return (struct weir_score){ (double)INFINITY, 0 };
    return (struct weir_score){ weir_cohort_share(view, policy->cohorts, tenant->number, &need),
                                -(double)job->priority };
}

/* What the cohort has no quota of is not asked for. Jobs of nobody take what is there. */
static uint32_t refuse(void *state, const struct weir_view *view, const struct weir_job *job)
{
    const struct cohort_policy *const policy = state;
    const struct weir_amounts need = weir_job_amounts(job);

    if (job->tenant == 0 || job->tenant >= weir_view_tenants(view))
        return WEIR_REASON_NONE;
    return weir_cohort_has(view, policy->cohorts, job->tenant, &need) ? WEIR_REASON_NONE
                                                                      : WEIR_REASON_QUOTA;
}

static weir_status make_room(void *state, const struct weir_job *job, struct weir_error *error)
{
    struct cohort_policy *const policy = state;

    if (job->tenant == 0)
        return WEIR_EBUSY;
    return weir_cohort_preempt(&policy->claim, job, policy->cohorts, error);
}

static weir_status reserve(struct cohort_policy *policy, uint32_t count)
{
    WEIR_ROOM(&policy->allocator, policy->cohorts, policy->capacity, count + 1);
    return WEIR_OK;
}

static weir_status pass(void *state, const struct weir_view *view, struct weir_placer *placer,
                        struct weir_plan *plan, struct weir_error *error)
{
    struct cohort_policy *const policy = state;
    const bool preempts = policy->values[PARAM_PREEMPT] > 0;
    const struct weir_by_tenant rule = { .state = state,
                                         .view = view,
                                         .placer = placer,
                                         .rank = rank,
                                         .choose = count_again,
                                         .refuse = refuse,
                                         .make_room = preempts ? make_room : NULL,
                                         .makes_room_of_quota = preempts };

    (void)plan;
    policy->view = view;
    if (reserve(policy, weir_view_tenants(view)) != WEIR_OK ||
        weir_cohort_claim_begin(&policy->claim, view, placer) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    return weir_by_tenant_pass(&rule, error);
}

const struct weir_queueing_ops weir_queueing_cohorts = {
    WEIR_BY_TENANT,
    .name = "cohorts",
    .summary = "quotas that siblings lend each other, as in Kueue; the least share borrowed first",
    .params = params,
    .param_count = PARAM_COUNT,
    .create = create,
    .destroy = destroy,
    .pass = pass,
};
