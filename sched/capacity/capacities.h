/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in capacity policies, for their registry. */
#ifndef SCHED_CAPACITY_CAPACITIES_H
#define SCHED_CAPACITY_CAPACITIES_H

#include "weir/capacity.h"

extern const struct weir_capacity_ops weir_capacity_none;
extern const struct weir_capacity_ops weir_capacity_threshold;
extern const struct weir_capacity_ops weir_capacity_forecast;
extern const struct weir_capacity_ops weir_capacity_demand;
extern const struct weir_capacity_ops weir_capacity_kubernetes;

#endif
