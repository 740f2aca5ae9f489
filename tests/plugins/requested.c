/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The rule of scenarios/examples/policy.py as a module: every stage gets the workers that are asked
 * for (one where none are), and nothing else changes. The test that compares both uses it.
 */
#include "weir/policy.h"

static weir_status decide(void *state, const struct weir_view *view, struct weir_placer *placer,
                          struct weir_plan *plan, struct weir_error *error)
{
    (void)state; /* there is none */
    (void)plan;  /* the placer appends to it */
    for (uint32_t s = 0; s < view->pool_count; s++) {
        const struct weir_pool_view *const stage = weir_view_pool(view, s);
        const uint32_t wanted =
            stage->requested_workers < 0 ? 1 : (uint32_t)stage->requested_workers;
        while (!stage->finished && weir_placer_workers(placer, s) < wanted) {
            const weir_status status = weir_placer_start(placer, s, error);
            if (status == WEIR_EBUSY)
                break;
            if (status != WEIR_OK)
                return status;
        }
    }
    return WEIR_OK;
}

static const struct weir_scaling_ops requested = {
    .size = sizeof(struct weir_scaling_ops),
    .abi = WEIR_ABI_MAJOR,
    .name = "requested",
    .summary = "the workers asked for, one where none are",
    .decide = decide,
};

static const struct weir_scaling_ops *const scalings[] = { &requested, NULL };

static const struct weir_module module = { .size = sizeof(struct weir_module),
                                           .abi_major = WEIR_ABI_MAJOR,
                                           .abi_minor = WEIR_ABI_MINOR,
                                           .name = "requested",
                                           .version = "1",
                                           .licence = "GPL-3.0-or-later",
                                           .scalings = scalings };

WEIR_API const struct weir_module *weir_policy_module_v1(void);

const struct weir_module *weir_policy_module_v1(void)
{
    return &module;
}
