/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host's two policies: their parameter values and their states, made and unmade together.
 */
#include "sched/internal/alloc.h"
#include "sched/internal/host.h"
#include "sched/internal/params.h"

static weir_status create_placement(struct weir_policy_pair *pair, const struct weir_params *given,
                                    const struct weir_allocator *allocator,
                                    struct weir_error *error)
{
    const struct weir_placement_ops *const ops = pair->placement;

    WEIR_TRY(weir_params_check_table(ops->params, ops->param_count, error));
    pair->placement_values = weir_alloc(allocator, ops->param_count, sizeof(double));
    if (pair->placement_values == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    WEIR_TRY(
        weir_params_resolve(ops->params, ops->param_count, given, pair->placement_values, error));
    const struct weir_params params = { .values = pair->placement_values,
                                        .count = ops->param_count };
    if (ops->create != NULL)
        WEIR_TRY(ops->create(&params, allocator, &pair->placement_state, error));
    pair->has_placement = ops->create != NULL;
    return WEIR_OK;
}

static weir_status create_scaling(struct weir_policy_pair *pair, const struct weir_params *given,
                                  const struct weir_allocator *allocator, struct weir_error *error)
{
    const struct weir_scaling_ops *const ops = pair->scaling;

    WEIR_TRY(weir_params_check_table(ops->params, ops->param_count, error));
    pair->scaling_values = weir_alloc(allocator, ops->param_count, sizeof(double));
    if (pair->scaling_values == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    WEIR_TRY(
        weir_params_resolve(ops->params, ops->param_count, given, pair->scaling_values, error));
    const struct weir_params params = { .values = pair->scaling_values, .count = ops->param_count };
    if (ops->create != NULL)
        WEIR_TRY(ops->create(&params, allocator, &pair->scaling_state, error));
    pair->has_scaling = ops->create != NULL;
    return WEIR_OK;
}

weir_status weir_policy_pair_create(struct weir_policy_pair *pair,
                                    const struct weir_host_config *config,
                                    const struct weir_allocator *allocator,
                                    struct weir_error *error)
{
    struct weir_policy_pair made = { .placement = config->placement, .scaling = config->scaling };
    weir_status status = create_placement(&made, &config->placement_params, allocator, error);

    if (status != WEIR_OK) {
        weir_error_wrap(error, "placement policy %s", made.placement->name);
    } else {
        status = create_scaling(&made, &config->scaling_params, allocator, error);
        if (status != WEIR_OK)
            weir_error_wrap(error, "scaling policy %s", made.scaling->name);
    }
    if (status != WEIR_OK) {
        weir_policy_pair_destroy(&made, allocator);
        return status;
    }
    *pair = made;
    return WEIR_OK;
}

void weir_policy_pair_destroy(struct weir_policy_pair *pair, const struct weir_allocator *allocator)
{
    if (pair->has_placement && pair->placement->destroy != NULL)
        pair->placement->destroy(pair->placement_state);
    if (pair->has_scaling && pair->scaling->destroy != NULL)
        pair->scaling->destroy(pair->scaling_state);
    weir_free(allocator, pair->placement_values);
    weir_free(allocator, pair->scaling_values);
    *pair = (struct weir_policy_pair){ 0 };
}
