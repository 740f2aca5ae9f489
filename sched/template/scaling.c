/* SPDX-License-Identifier: Apache-2.0 */
/* template: a worker more for every stage with more items waiting than workers. */
#include "weir/policy.h"

static weir_status decide(void *state, const struct weir_view *view, struct weir_placer *placer,
                          struct weir_plan *plan, struct weir_error *error)
{
    (void)state, (void)plan; /* there is no state; the placer writes the plan */
    for (uint32_t i = 0; i < view->pool_count; i++) {
        const uint32_t workers = weir_placer_workers(placer, i);
        const bool grows = workers == 0 || weir_view_pool(view, i)->queued_items > workers;
        const weir_status status = grows ? weir_placer_start(placer, i, error) : WEIR_OK;
        if (status != WEIR_OK && status != WEIR_EBUSY) /* busy: there is no room */
            return status;
    }
    return WEIR_OK;
}

static const struct weir_scaling_ops policy = { .size = sizeof(struct weir_scaling_ops),
                                                .abi = WEIR_ABI_MAJOR,
                                                .name = "template",
                                                .summary = "a worker more where items wait",
                                                .decide = decide };
WEIR_MODULE_OF_ONE(scaling, "template", policy)
