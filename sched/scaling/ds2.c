/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DS2 (Kalavri et al., OSDI 2018): every pool gets the workers whose true rates, of the time that
 * they work, meet what the source demands of it.
 *
 * The counts of all pools come from one measurement, in the order of the pipeline: what a pool is
 * to take is what the one before it gives. demand.h says when they may change.
 */
#include "sched/internal/alloc.h"
#include "sched/scaling/demand.h"
#include "sched/scaling/scalings.h"

static const struct weir_param PARAMS[] = { WEIR_DEMAND_PARAMS };

static uint32_t ds2_count(struct weir_demand *demand, uint32_t pool)
{
    return weir_demand_ds2(demand, pool);
}

static weir_status ds2_create(const struct weir_params *params,
                              const struct weir_allocator *allocator, void **state,
                              struct weir_error *error)
{
    const struct weir_allocator memory = weir_allocator_copy(allocator);
    struct weir_demand *const demand = weir_alloc(&memory, 1, sizeof *demand);

    if (demand == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    weir_demand_init(demand, params, &memory);
    demand->count = ds2_count;
    *state = demand;
    return WEIR_OK;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the memory writes to them */
static uint32_t ds2_save(const void *state, double *numbers, uint32_t capacity)
{
    struct weir_memory memory = { .to = numbers, .size = capacity };
    struct weir_demand demand = *(const struct weir_demand *)state;

    weir_demand_remember(&demand, &memory);
    return memory.used;
}

static weir_status ds2_restore(void *state, const struct weir_view *view, const double *numbers,
                               uint32_t count, struct weir_error *error)
{
    struct weir_memory memory = { .from = numbers, .size = count };

    if (weir_demand_learn(state, view) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    weir_demand_remember(state, &memory);
    return weir_memory_end(&memory, error);
}

const struct weir_scaling_ops weir_scaling_ds2 = {
    .size = sizeof(struct weir_scaling_ops),
    .abi = WEIR_ABI_MAJOR,
    .name = "ds2",
    .summary = "as many workers as the demand of the source needs at measured rates",
    .params = PARAMS,
    .param_count = WEIR_DEMAND_PARAM_COUNT,
    .create = ds2_create,
    .destroy = weir_demand_destroy,
    .decide = weir_demand_decide,
    .measured = weir_demand_measured,
    .save = ds2_save,
    .restore = ds2_restore,
};
