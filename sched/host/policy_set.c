/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policies of a host: their parameter values and their states, made and unmade together.
 */
#include "sched/host/state.h"

static weir_status open_all(struct weir_policy_set *set, const struct weir_host_config *config,
                            const struct weir_allocator *allocator, struct weir_error *error)
{
    const struct weir_policy_table placement = WEIR_POLICY_TABLE("placement", set->placement);
    const struct weir_policy_table scaling = WEIR_POLICY_TABLE("scaling", set->scaling);
    const struct weir_policy_table queueing = WEIR_POLICY_TABLE("queueing", set->queueing);
    const struct weir_policy_table capacity = WEIR_POLICY_TABLE("capacity", set->capacity);

    WEIR_TRY(weir_policy_state_open(&set->placed, &placement, &config->placement_params, allocator,
                                    error));
    WEIR_TRY(
        weir_policy_state_open(&set->scaled, &scaling, &config->scaling_params, allocator, error));
    WEIR_TRY(weir_policy_state_open(&set->queued, &queueing, &config->queueing_params, allocator,
                                    error));
    return weir_policy_state_open(&set->grown, &capacity, &config->capacity_params, allocator,
                                  error);
}

weir_status weir_policy_set_create(struct weir_policy_set *set,
                                   const struct weir_host_config *config,
                                   const struct weir_allocator *allocator, struct weir_error *error)
{
    struct weir_policy_set made = {
        .placement = config->placement,
        .scaling = config->scaling,
        .queueing = config->queueing != NULL ? config->queueing : weir_queueing_at(0),
        .capacity = config->capacity != NULL ? config->capacity : weir_capacity_at(0)
    };
    const weir_status status = open_all(&made, config, allocator, error);

    if (status != WEIR_OK)
        weir_policy_set_destroy(&made, allocator);
    else
        *set = made;
    return status;
}

void weir_policy_set_destroy(struct weir_policy_set *set, const struct weir_allocator *allocator)
{
    weir_policy_state_close(&set->placed, allocator);
    weir_policy_state_close(&set->scaled, allocator);
    weir_policy_state_close(&set->queued, allocator);
    weir_policy_state_close(&set->grown, allocator);
    *set = (struct weir_policy_set){ .placement = NULL };
}

struct weir_policy_state *weir_host_policy(struct weir_host *host, uint32_t part)
{
    switch ((enum weir_policy_part)part) {
    case WEIR_POLICY_PLACEMENT:
        return &host->main.placed;
    case WEIR_POLICY_SCALING:
        return &host->main.scaled;
    case WEIR_POLICY_QUEUEING:
        return &host->main.queued;
    case WEIR_POLICY_CAPACITY:
        return &host->main.grown;
    case WEIR_POLICY_FALLBACK:
    case WEIR_POLICY_PART_COUNT:
        break;
    }
    return &host->fallback.scaled;
}
