/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Capacity policies of a module: one that is sound and remembers something, and one whose plans
 * depend on how often it was asked.
 */
#include "weir/capacity.h"

#include <stdlib.h>

struct patient {
    uint32_t failed; /* requests that came to nothing */
    int64_t wake_ns;
};

static weir_status create(const struct weir_params *params, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error)
{
    (void)params, (void)allocator;
    *state = calloc(1, sizeof(struct patient));
    return *state == NULL ? weir_fail(error, WEIR_ENOMEM, "out of memory") : WEIR_OK;
}

static weir_status outcome(void *state, const struct weir_outcome *seen)
{
    struct patient *const patient = state;
    patient->failed += seen->kind == WEIR_OUTCOME_FAILED ? 1 : 0;
    return WEIR_OK;
}

/* A node more while jobs wait, of the next type after a failure, and a look every ten minutes. */
static weir_status decide(void *state, const struct weir_view *view, struct weir_plan *plan,
                          struct weir_error *error)
{
    struct patient *const patient = state;
    struct weir_node_offer offer = { .size = sizeof offer };
    (void)error;
    if (weir_view_offers(view) == 0 ||
        !weir_view_offer(view, patient->failed % weir_view_offers(view), &offer))
        return WEIR_OK;
    if (weir_view_waiting_jobs(view) > 0 && offer.coming == 0 && offer.up < offer.max)
        WEIR_TRY(weir_plan_request_node(plan, offer.type));
    if (patient->wake_ns > view->now_ns)
        return WEIR_OK;
    patient->wake_ns = view->now_ns + INT64_C(600000000000);
    return weir_plan_wake(plan, patient->wake_ns);
}

static weir_status counted_decide(void *state, const struct weir_view *view, struct weir_plan *plan,
                                  struct weir_error *error)
{
    static uint32_t calls;
    (void)state, (void)error;
    return weir_plan_wake(plan, view->now_ns + ++calls);
}

static const struct weir_capacity_ops patient_ops = { .size = sizeof(struct weir_capacity_ops),
                                                      .abi = WEIR_ABI_MAJOR,
                                                      .name = "patient",
                                                      .summary = "a node at a time",
                                                      .create = create,
                                                      .destroy = free,
                                                      .decide = decide,
                                                      .outcome = outcome };
static const struct weir_capacity_ops counted = { .size = sizeof(struct weir_capacity_ops),
                                                  .abi = WEIR_ABI_MAJOR,
                                                  .name = "counted",
                                                  .summary = "plans by how often it was asked",
                                                  .decide = counted_decide };
static const struct weir_capacity_ops *const capacities[] = { &patient_ops, &counted, NULL };
static const struct weir_module module = { .size = sizeof(struct weir_module),
                                           .abi_major = WEIR_ABI_MAJOR,
                                           .abi_minor = WEIR_ABI_MINOR,
                                           .name = "capacities",
                                           .version = "1",
                                           .licence = "GPL-3.0-or-later",
                                           .capacities = capacities };

WEIR_API const struct weir_module *weir_policy_module_v2(void);

const struct weir_module *weir_policy_module_v2(void)
{
    return &module;
}
