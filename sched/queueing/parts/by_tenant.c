/* SPDX-License-Identifier: Apache-2.0 */
/* The pass of policies that choose a tenant first (see by_tenant.h). */
#include "sched/queueing/parts/by_tenant.h"

#include "sched/queueing/parts/walk.h"

#include <math.h>

struct candidate {
    struct weir_tenant tenant; /* of the job */
    struct weir_job job;
};

double weir_by_tenant_key(void *state, const struct weir_job *job, int64_t now_ns)
{
    (void)state;
    (void)now_ns;
    return -(double)job->priority;
}

/* -1, 0, 1; a rank that is no number is behind all others. */
static int compare(double a, double b)
{
    const double least = fmin(fabs(a), fabs(b));

    if (isnan(a) || isnan(b))
        return isnan(a) - isnan(b);
    if (a < b ? !(b - a > 1e-9 * least) : !(a - b > 1e-9 * least))
        return 0;
    return a < b ? -1 : 1;
}

static struct weir_tenant look_up(const struct weir_by_tenant *rule, uint32_t number)
{
    struct weir_tenant tenant = { .size = sizeof tenant };

    (void)weir_view_tenant(rule->view, number, &tenant);
    return tenant;
}

/* The two branches at the level where the tenants part; the same when one is above the other. */
static void part(const struct weir_by_tenant *rule, struct weir_tenant *a, struct weir_tenant *b)
{
    const uint32_t depth = a->depth < b->depth ? a->depth : b->depth;

    while (a->depth > depth && a->depth > 1 && a->parent != b->number)
        *a = look_up(rule, a->parent);
    while (b->depth > depth && b->depth > 1 && b->parent != a->number)
        *b = look_up(rule, b->parent);
    while (a->depth == b->depth && a->parent != b->parent) {
        *a = look_up(rule, a->parent);
        *b = look_up(rule, b->parent);
    }
}

static bool is_before(const struct weir_by_tenant *rule, const struct candidate *left,
                      const struct candidate *right)
{
    struct weir_tenant a = left->tenant;
    struct weir_tenant b = right->tenant;

    part(rule, &a, &b);
    const struct weir_score first = rule->rank(rule->state, rule->view, &a, &left->job);
    const struct weir_score second = rule->rank(rule->state, rule->view, &b, &right->job);
    const int order = compare(first.primary, second.primary);
    const int equals = order != 0 ? order : compare(first.secondary, second.secondary);

    return equals != 0 || !rule->is_by_arrival ? equals < 0
                                               : weir_walk_is_before(&left->job, &right->job);
}

/* False when nobody has a job that may be tried. */
static bool choose(const struct weir_by_tenant *rule, bool beyond_soft, struct candidate *best)
{
    const uint32_t count = weir_view_tenants(rule->view);
    bool found = false;

    if (rule->choose != NULL)
        rule->choose(rule->state);
    for (uint32_t t = 0; t < count; t++) {
        struct candidate next = { .job.size = sizeof next.job };
        /* The root last: nobody's jobs are for what is left between equals. */
        const uint32_t number = t + 1 < count ? t + 1 : 0;
        if (!weir_view_tenant_job(rule->view, number, beyond_soft, &next.job))
            continue;
        next.tenant = look_up(rule, number);
        if (!found || is_before(rule, &next, best))
            *best = next;
        found = true;
    }
    return found;
}

/* *refused: NONE when others give up what it needs. */
static weir_status take_quota(const struct weir_by_tenant *rule, const struct weir_job *job,
                              uint32_t *refused, struct weir_error *error)
{
    const weir_status status = rule->make_room(rule->state, job, error);

    if (status == WEIR_OK)
        *refused = WEIR_REASON_NONE;
    return status == WEIR_EBUSY ? WEIR_OK : status;
}

/* *is_over: it blocks the others. */
static weir_status offer(const struct weir_by_tenant *rule, const struct weir_job *job,
                         bool *is_over, struct weir_error *error)
{
    const uint32_t limit = weir_view_quota_reason(rule->view, job);
    uint32_t refused =
        rule->refuse == NULL ? WEIR_REASON_NONE : rule->refuse(rule->state, rule->view, job);

    const bool may_ask = rule->makes_room_of_quota && limit == WEIR_REASON_NONE;
    if (refused != WEIR_REASON_NONE && may_ask)
        WEIR_TRY(take_quota(rule, job, &refused, error));
    if (refused != WEIR_REASON_NONE)
        return weir_placer_deny_job(rule->placer, job->workload, job->id, refused);
    weir_status status = weir_placer_start_job(rule->placer, job->workload, job->id, error);
    if (status == WEIR_EBUSY && limit == WEIR_REASON_NONE && rule->make_room != NULL) {
        status = rule->make_room(rule->state, job, error);
        if (status == WEIR_OK)
            status = weir_placer_start_job(rule->placer, job->workload, job->id, error);
    }

    if (status == WEIR_OK && rule->started != NULL)
        rule->started(rule->state, rule->view, job);
    if (status != WEIR_EBUSY && status != WEIR_EINFEASIBLE)
        return status;
    if (error != NULL)
        error->text[0] = '\0'; /* not an error of the decision */
    *is_over = rule->is_blocking && limit == WEIR_REASON_NONE;
    return WEIR_OK;
}

weir_status weir_by_tenant_pass(const struct weir_by_tenant *rule, struct weir_error *error)
{
    struct candidate next;
    bool beyond_soft = false;
    bool is_over = false;

    while (!is_over) {
        if (choose(rule, beyond_soft, &next)) {
            const weir_status status = offer(rule, &next.job, &is_over, error);
            if (status != WEIR_OK)
                return status;
        } else if (beyond_soft) {
            break;
        } else {
            beyond_soft = true;
        }
    }
    return WEIR_OK;
}
