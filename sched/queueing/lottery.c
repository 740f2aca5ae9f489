/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "lottery": who is next is drawn, each tenant by its tickets (Waldspurger, Weihl 1994).
 * A winner whose job finds no place is left out and the draw is repeated.
 *
 * Draw: the least of -ln(u)/tickets over the tenants, u uniform, is that of tenant i with
 * probability tickets_i / sum. u is named by the decision, the draw and the tenant.
 */
#include "sched/internal/hash.h"
#include "sched/internal/made.h"
#include "sched/queueing/parts/by_tenant.h"
#include "sched/queueing/parts/tickets.h"
#include "sched/queueing/queueings.h"

#include <math.h>

enum { PARAM_AWARE, PARAM_COUNT };

static const struct weir_param params[PARAM_COUNT] = { [PARAM_AWARE] = WEIR_RESOURCE_AWARE };

struct lottery {
    struct weir_allocator allocator;
    double values[PARAM_COUNT];
    uint64_t draw; /* of the present decision */
};

static const struct weir_made made = WEIR_MADE(struct lottery, params, PARAM_COUNT);

static weir_status create(const struct weir_params *given, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error)
{
    return weir_made_create(&made, given, allocator, state, error);
}

static void next_draw(void *state)
{
    struct lottery *const lottery = state;

    lottery->draw++;
}

/* Within (0, 1). */
static double uniform(uint64_t word)
{
    return ((double)(word >> 11) + 0.5) * 0x1p-53;
}

static struct weir_score rank(void *state, const struct weir_view *view,
                              const struct weir_tenant *tenant, const struct weir_job *job)
{
    const struct lottery *const lottery = state;
    const uint64_t word = weir_hash_add(weir_hash_add(view->seed, lottery->draw), tenant->number);
    const double tickets = weir_tickets(view, tenant, job, lottery->values[PARAM_AWARE] > 0);

    return (struct weir_score){ -log(uniform(word)) / tickets, 0 };
}

static weir_status pass(void *state, const struct weir_view *view, struct weir_placer *placer,
                        struct weir_plan *plan, struct weir_error *error)
{
    const struct weir_by_tenant rule = {
        .state = state, .view = view, .placer = placer, .rank = rank, .choose = next_draw
    };
    struct lottery *const lottery = state;

    (void)plan;
    lottery->draw = 0;
    return weir_by_tenant_pass(&rule, error);
}

const struct weir_queueing_ops weir_queueing_lottery = {
    WEIR_BY_TENANT,
    .name = "lottery",
    .summary = "the next tenant is drawn by tickets; who finds no place is drawn around",
    .params = params,
    .param_count = PARAM_COUNT,
    .create = create,
    .destroy = weir_made_destroy,
    .pass = pass,
};
