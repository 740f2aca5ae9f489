/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The capacity policies this library brings. The first is the default. A new policy is one file and
 * one line here.
 */
#include "sched/capacity/capacities.h"

#include "sched/internal/registry.h"

static const struct weir_capacity_ops *const capacities[] = {
    &weir_capacity_none,   &weir_capacity_threshold,  &weir_capacity_forecast,
    &weir_capacity_demand, &weir_capacity_kubernetes,
};

WEIR_REGISTRY(capacity, capacities)
