/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many nodes what there is to do asks for: all that is held, as the plan leaves it, and all
 * that jobs wait for, less what nodes hold that are there for good, in nodes of the first offer.
 * Of CPUs, GPUs and memory the one that asks for most decides. Places are not looked for: a job
 * that finds no single node may make it too small.
 */
#ifndef SCHED_CAPACITY_PARTS_DEMAND_H
#define SCHED_CAPACITY_PARTS_DEMAND_H

#include "weir/capacity.h"

/* At least 0. O(offers): what jobs wait for is summed up by the host. */
double weir_node_demand(const struct weir_view *view);
/* Of all offers, up or on their way. */
uint32_t weir_node_held(const struct weir_view *view);

#endif
