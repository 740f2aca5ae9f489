/* SPDX-License-Identifier: Apache-2.0 */
/* Fair queueing by virtual time (see flows.h). */
#include "sched/queueing/parts/flows.h"

#include "sched/internal/alloc.h"

#include <math.h>

enum { NUMBERS = sizeof(struct weir_flow) / sizeof(double) };

weir_status weir_flows_create(const struct weir_flows *made, const struct weir_allocator *allocator,
                              void **state, struct weir_error *error)
{
    struct weir_flows *const flows = weir_alloc(allocator, 1, sizeof *flows);

    if (flows == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    *flows = *made;
    flows->allocator = *allocator;
    *state = flows;
    return WEIR_OK;
}

void weir_flows_destroy(void *state)
{
    struct weir_flows *const flows = state;
    const struct weir_allocator allocator = flows->allocator;

    weir_free(&allocator, flows->all);
    weir_free(&allocator, flows);
}

static struct weir_tenant look_up(const struct weir_view *view, uint32_t number)
{
    struct weir_tenant tenant = { .size = sizeof tenant };

    (void)weir_view_tenant(view, number, &tenant);
    return tenant;
}

/* ---- virtual time ---- */

static double begin_of(const struct weir_flows *flows, const struct weir_tenant *tenant)
{
    return fmax(flows->all[tenant->number].finish, 0);
}

/* What is in its bucket. */
static double credit_of(const struct weir_flows *flows, const struct weir_view *view,
                        uint32_t number)
{
    const struct weir_flow *const flow = &flows->all[number];
    const double back = flows->refill * (1e-9 * (double)view->now_ns - flow->since_s);

    return flows->burst - fmax(0, flow->spent - back);
}

static double end_of(const struct weir_flows *flows, const struct weir_view *view,
                     const struct weir_tenant *tenant, const struct weir_job *job)
{
    const double credit = flows->burst > 0 ? credit_of(flows, view, tenant->number) : 0;
    const double charged = fmax(0, flows->cost(flows, job) - credit);

    return begin_of(flows, tenant) + charged / flows->weight(view, tenant, job);
}

static void spend(struct weir_flows *flows, const struct weir_view *view, uint32_t number,
                  const struct weir_job *job)
{
    struct weir_flow *const flow = &flows->all[number];
    const double credit = credit_of(flows, view, number);

    flow->spent = flows->burst - fmax(0, credit - flows->cost(flows, job));
    flow->since_s = 1e-9 * (double)view->now_ns;
}

/* Nothing waits and nothing runs: what was is forgotten. */
static void forget(struct weir_flows *flows, const struct weir_view *view)
{
    for (uint32_t t = 1; t < flows->count; t++) {
        struct weir_flow *const above = &flows->all[look_up(view, t).parent];
        above->virtual = fmax(above->virtual, flows->all[t].finish);
    }
}

/* Flows that wait now and did not before begin at v. */
static void begin_pass(struct weir_flows *flows, const struct weir_view *view)
{
    bool was_idle = look_up(view, 0).running == 0;

    for (uint32_t t = 1; t < flows->count; t++)
        was_idle = was_idle && !(flows->all[t].is_backlogged > 0);
    if (was_idle)
        forget(flows, view);
    for (uint32_t t = 1; t < flows->count; t++) {
        const struct weir_tenant tenant = look_up(view, t);
        struct weir_flow *const flow = &flows->all[t];
        if (tenant.waiting > 0 && !(flow->is_backlogged > 0))
            flow->finish = fmax(flow->finish, flows->all[tenant.parent].virtual);
    }
}

static void end_pass(struct weir_flows *flows, const struct weir_view *view)
{
    for (uint32_t t = 1; t < flows->count; t++)
        flows->all[t].is_backlogged = look_up(view, t).waiting > 0;
}

/* ---- the pass ---- */

static struct weir_score rank(void *state, const struct weir_view *view,
                              const struct weir_tenant *tenant, const struct weir_job *job)
{
    const struct weir_flows *const flows = state;

    if (tenant->number == 0)
        return (struct weir_score){ (double)INFINITY, 0 };
    return (struct weir_score){ flows->is_by_start ? begin_of(flows, tenant)
                                                   : end_of(flows, view, tenant, job),
                                0 };
}

static void started(void *state, const struct weir_view *view, const struct weir_job *job)
{
    struct weir_flows *const flows = state;

    for (uint32_t t = job->tenant < flows->count ? job->tenant : 0; t != 0;) {
        const struct weir_tenant tenant = look_up(view, t);
        const double begin = begin_of(flows, &tenant);
        flows->all[t].finish = end_of(flows, view, &tenant, job);
        if (flows->burst > 0)
            spend(flows, view, t, job);
        flows->all[tenant.parent].virtual = fmax(flows->all[tenant.parent].virtual, begin);
        t = tenant.parent;
    }
}

static weir_status reserve(struct weir_flows *flows, uint32_t count)
{
    WEIR_ROOM(&flows->allocator, flows->all, flows->capacity, count);
    for (; flows->count < count; flows->count++)
        flows->all[flows->count] = (struct weir_flow){ 0 };
    return WEIR_OK;
}

weir_status weir_flows_pass(void *state, const struct weir_view *view, struct weir_placer *placer,
                            struct weir_plan *plan, struct weir_error *error)
{
    struct weir_flows *const flows = state;
    const struct weir_by_tenant rule = { .state = state,
                                         .view = view,
                                         .placer = placer,
                                         .rank = rank,
                                         .started = started,
                                         .is_by_arrival = flows->is_by_arrival,
                                         .is_blocking = flows->is_blocking };

    (void)plan;
    if (reserve(flows, weir_view_tenants(view)) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    begin_pass(flows, view);
    const weir_status status = weir_by_tenant_pass(&rule, error);
    end_pass(flows, view);
    return status;
}

/* ---- from one decision to the next ---- */

uint32_t weir_flows_save(const void *state, double *numbers, uint32_t capacity)
{
    const struct weir_flows *const flows = state;

    for (uint32_t t = 0; t < flows->count && (t + 1) * NUMBERS <= capacity; t++) {
        double *const own = numbers + (size_t)t * NUMBERS;
        own[0] = flows->all[t].finish;
        own[1] = flows->all[t].virtual;
        own[2] = flows->all[t].is_backlogged;
        own[3] = flows->all[t].spent;
        own[4] = flows->all[t].since_s;
    }
    return flows->count * NUMBERS;
}

weir_status weir_flows_restore(void *state, const struct weir_view *view, const double *numbers,
                               uint32_t count, struct weir_error *error)
{
    struct weir_flows *const flows = state;

    if (count % NUMBERS != 0 || count / NUMBERS > weir_view_tenants(view))
        return weir_fail(error, WEIR_EFORMAT, "%u numbers are not those of %u tenants", count,
                         weir_view_tenants(view));
    if (reserve(flows, count / NUMBERS) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    for (uint32_t t = 0; t < count / NUMBERS; t++) {
        const double *const own = numbers + (size_t)t * NUMBERS;
        flows->all[t] = (struct weir_flow){ own[0], own[1], own[2], own[3], own[4] };
    }
    return WEIR_OK;
}
