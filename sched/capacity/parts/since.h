/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Since when something has held without a break: a mark is passed, a node is idle.
 */
#ifndef SCHED_CAPACITY_PARTS_SINCE_H
#define SCHED_CAPACITY_PARTS_SINCE_H

#include "sched/internal/memory.h"
#include "weir/capacity.h"

/* WEIR_UNKNOWN_TIME = it does not hold. */
void weir_since_follow(int64_t *since_ns, bool holds, int64_t now_ns);
/* A time or none, on its way out, or in. */
void weir_since_remember(struct weir_memory *memory, int64_t *time_ns);

/* Of every node, by index. All zero at first. */
struct weir_node_since {
    int64_t *ns;
    uint32_t count, capacity;
};

/* As many as there are nodes; it holds of none that is new. WEIR_ENOMEM. */
weir_status weir_node_since_grow(struct weir_node_since *since,
                                 const struct weir_allocator *allocator,
                                 const struct weir_view *view);
void weir_node_since_remember(struct weir_node_since *since, struct weir_memory *memory);

#endif
