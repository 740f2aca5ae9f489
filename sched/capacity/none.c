/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes are those that there are: nothing is asked for or given back.
 */
#include "sched/capacity/capacities.h"

const struct weir_capacity_ops weir_capacity_none = {
    .size = sizeof(struct weir_capacity_ops),
    .abi = WEIR_ABI_MAJOR,
    .name = "none",
    .summary = "the nodes that there are at the start: none is asked for or given back",
};
