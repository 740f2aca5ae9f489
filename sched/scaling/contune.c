/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ContTune (Lian et al., VLDB 2023): few changes. A pool that falls behind its demand gets a big
 * change at once, so that it never falls behind twice; one that has too much is cut back to the
 * least count that what was seen of it says will do.
 *
 * Big: twice as many, or DS2's count when that is more. Small: by history.h when the count lies
 * within `alpha` of one that was seen (conservative exploration), else DS2's. In between, within
 * `hold` of the demand, nothing changes.
 */
#include "sched/scaling/demand.h"
#include "sched/scaling/scalings.h"

enum { PARAM_ALPHA = WEIR_DEMAND_PARAM_COUNT, PARAM_HOLD, PARAM_COUNT };

static const struct weir_param PARAMS[] = {
    WEIR_DEMAND_PARAMS,
    WEIR_COUNT("alpha", "workers", 0, 1e6, 3,
               "how far from a count that was seen its ability is believed"),
    WEIR_NUMBER("hold", "", 0, 1, 0.1,
                "part of the demand by which the ability may differ before a count changes"),
};

struct contune {
    struct weir_demand demand; /* first: see WEIR_DEMAND_POLICY */
    uint32_t alpha;
    double hold;
};

static uint32_t contune_count(struct weir_demand *demand, uint32_t pool)
{
    const struct contune *const contune = (const struct contune *)demand;
    const struct weir_run_pool *const seen = &demand->run.pools[pool];
    struct weir_history *const history = &demand->pools[pool].history;
    const double per_s = demand->pools[pool].per_s;
    const double ability = seen->before * seen->rate_per_s;
    const uint32_t ds2 = weir_demand_ds2(demand, pool);
    const uint32_t twice = seen->before > INT32_MAX / 2 ? INT32_MAX : 2 * seen->before;
    uint32_t distance = 0;

    if (seen->before > 0)
        weir_history_add(history, seen->before, ability);
    if (ability < per_s * (1 - contune->hold))
        return ds2 > twice ? ds2 : twice;
    uint32_t workers = weir_history_least(history, per_s, &distance);
    if (distance > contune->alpha)
        workers = ds2;
    const bool has_too_many = ability > per_s * (1 + contune->hold);
    return has_too_many && workers < seen->before ? workers : seen->before;
}

static weir_status contune_create(const struct weir_params *params,
                                  const struct weir_allocator *allocator, void **state,
                                  struct weir_error *error)
{
    WEIR_TRY(
        weir_demand_create(sizeof(struct contune), contune_count, params, allocator, state, error));
    struct contune *const contune = *state;
    contune->alpha = (uint32_t)params->values[PARAM_ALPHA];
    contune->hold = params->values[PARAM_HOLD];
    return WEIR_OK;
}

const struct weir_scaling_ops weir_scaling_contune =
    WEIR_DEMAND_POLICY("contune", PARAMS, contune_create,
                       "twice as many where a demand is not met, back to what was seen to do");
