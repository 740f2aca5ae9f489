/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host's two policies: their parameter values and their states, made and unmade together.
 */
#include "sched/internal/host.h"

weir_status weir_policy_pair_create(struct weir_policy_pair *pair,
                                    const struct weir_host_config *config,
                                    const struct weir_allocator *allocator,
                                    struct weir_error *error)
{
    const struct weir_policy_table placement = WEIR_POLICY_TABLE(config->placement);
    const struct weir_policy_table scaling = WEIR_POLICY_TABLE(config->scaling);
    struct weir_policy_pair made = { .placement = config->placement, .scaling = config->scaling };
    weir_status status = weir_policy_state_open(&made.placed, &placement, &config->placement_params,
                                                allocator, error);

    if (status != WEIR_OK) {
        weir_error_wrap(error, "placement policy %s", made.placement->name);
        return status;
    }
    status =
        weir_policy_state_open(&made.scaled, &scaling, &config->scaling_params, allocator, error);
    if (status != WEIR_OK) {
        weir_error_wrap(error, "scaling policy %s", made.scaling->name);
        weir_policy_state_close(&made.placed, allocator);
        return status;
    }
    *pair = made;
    return WEIR_OK;
}

void weir_policy_pair_destroy(struct weir_policy_pair *pair, const struct weir_allocator *allocator)
{
    weir_policy_state_close(&pair->placed, allocator);
    weir_policy_state_close(&pair->scaled, allocator);
    *pair = (struct weir_policy_pair){ .placement = NULL };
}
