/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kinds of policies; see policies.h. */
#include "sim/scenario/policies.h"

#define TABLE(ops)                                                                                 \
    (struct sim_policy_table)                                                                      \
    {                                                                                              \
        (ops)->name, (ops)->summary, (ops)->params, (ops)->param_count                             \
    }

const char *sim_policy_kind_name(uint32_t kind)
{
    static const char *const names[SIM_POLICY_KINDS] = { [SIM_POLICY_NONE] = "",
                                                         [SIM_POLICY_PLACEMENT] = "placement",
                                                         [SIM_POLICY_SCALING] = "scaling",
                                                         [SIM_POLICY_QUEUEING] = "queueing",
                                                         [SIM_POLICY_BATCHING] = "batching",
                                                         [SIM_POLICY_CAPACITY] = "capacity" };
    return names[kind];
}

size_t sim_policy_count(const struct sim_policies *policies, uint32_t kind)
{
    const size_t counts[SIM_POLICY_KINDS] = { [SIM_POLICY_PLACEMENT] = policies->placements_count,
                                              [SIM_POLICY_SCALING] = policies->scalings_count,
                                              [SIM_POLICY_QUEUEING] = policies->queueings_count,
                                              [SIM_POLICY_BATCHING] =
                                                  weir_batching_count(), /* modules bring none */
                                              [SIM_POLICY_CAPACITY] = policies->capacities_count };
    return counts[kind];
}

struct sim_policy_table sim_policy_at(const struct sim_policies *policies, uint32_t kind,
                                      size_t index, struct sim_policy_choice *choice)
{
    struct sim_policy_choice of = { .values = NULL };
    struct sim_policy_choice *chosen = choice == NULL ? &of : choice;
    if (kind == SIM_POLICY_PLACEMENT)
        chosen->placement = policies->placements[index];
    else if (kind == SIM_POLICY_SCALING)
        chosen->scaling = policies->scalings[index];
    else if (kind == SIM_POLICY_QUEUEING)
        chosen->queueing = policies->queueings[index];
    else if (kind == SIM_POLICY_BATCHING)
        chosen->batching = weir_batching_at((uint32_t)index);
    else
        chosen->capacity = policies->capacities[index];
    return sim_policy_chosen(chosen);
}

struct sim_policy_table sim_policy_chosen(const struct sim_policy_choice *choice)
{
    if (choice->placement != NULL)
        return TABLE(choice->placement);
    if (choice->scaling != NULL)
        return TABLE(choice->scaling);
    if (choice->queueing != NULL)
        return TABLE(choice->queueing);
    if (choice->batching != NULL)
        return TABLE(choice->batching);
    if (choice->capacity != NULL)
        return TABLE(choice->capacity);
    return (struct sim_policy_table){ .name = NULL };
}
