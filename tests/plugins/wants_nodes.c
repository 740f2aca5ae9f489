/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Asks for a node and gives one back at every decision, and fails unless each was refused, with the
 * reason that nobody supplies nodes, before the next decision.
 */
#include "weir/policy.h"

#include <stdlib.h>

struct wants {
    uint32_t open;
};

static weir_status create(const struct weir_params *params, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error)
{
    (void)params, (void)allocator;
    *state = calloc(1, sizeof(struct wants));
    return *state == NULL ? weir_fail(error, WEIR_ENOMEM, "out of memory") : WEIR_OK;
}

static weir_status decide(void *state, const struct weir_view *view, struct weir_placer *placer,
                          struct weir_plan *plan, struct weir_error *error)
{
    struct wants *const wants = state;
    const struct weir_action more = { .size = sizeof more,
                                      .verb = WEIR_VERB_REQUEST_NODE,
                                      .owner = weir_pool_owner(WEIR_NO_INDEX),
                                      .choice = WEIR_NO_INDEX };
    struct weir_action less = more;

    if (wants->open != 0)
        return weir_fail(error, WEIR_EPOLICY, "%u wishes were not answered", wants->open);
    for (uint32_t i = 0; i < view->pool_count; i++)
        if (weir_placer_workers(placer, i) == 0)
            WEIR_TRY(weir_placer_start(placer, i, error));
    less.verb = WEIR_VERB_RELEASE_NODE;
    WEIR_TRY(weir_plan_append(plan, &more));
    WEIR_TRY(weir_plan_append(plan, &less));
    wants->open = 2;
    return WEIR_OK;
}

static weir_status outcome(void *state, const struct weir_outcome *seen)
{
    struct wants *const wants = state;

    if (seen->kind == WEIR_OUTCOME_REFUSED && seen->reason == WEIR_REASON_NO_SUPPLIER)
        wants->open--;
    return WEIR_OK;
}

static const struct weir_scaling_ops ops = { .size = sizeof(struct weir_scaling_ops),
                                             .abi = WEIR_ABI_MAJOR,
                                             .name = "wants_nodes",
                                             .summary = "asks for nodes that nobody has",
                                             .create = create,
                                             .destroy = free,
                                             .decide = decide,
                                             .outcome = outcome };
static const struct weir_scaling_ops *const scalings[] = { &ops, NULL };
static const struct weir_module module = { .size = sizeof(struct weir_module),
                                           .abi_major = WEIR_ABI_MAJOR,
                                           .abi_minor = WEIR_ABI_MINOR,
                                           .name = "wants_nodes",
                                           .version = "1",
                                           .licence = "GPL-3.0-or-later",
                                           .scalings = scalings };

WEIR_API const struct weir_module *weir_policy_module_v2(void);

const struct weir_module *weir_policy_module_v2(void)
{
    return &module;
}
