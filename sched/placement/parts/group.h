/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A placement group in the making: what the strategies (group.c) and the question whether it can
 * ever fit (group_room.c) share.
 */
#ifndef SCHED_PLACEMENT_GROUP_H
#define SCHED_PLACEMENT_GROUP_H

#include "weir/group.h"

/* CPUs, GPUs and memory of one bundle or of all. */
struct weir_group_demand {
    int64_t cpu_units;
    int64_t gpu_units;
    int64_t ram_bytes;
};

struct weir_group_demand weir_group_demand(const struct weir_shape *bundle);
struct weir_group_demand weir_group_demand_sum(const struct weir_group_query *query);

/* The bundle without a place (node WEIR_NO_INDEX) that comes next after `last` (WEIR_NO_INDEX =
 * from the first on), or WEIR_NO_INDEX. */
uint32_t weir_group_next(const struct weir_group_query *query, const struct weir_alloc *allocs,
                         uint32_t last);

/* group_search.c: all bundles, none of which has a place yet, on this node in whatever way they go
 * there. On WEIR_OK they are in the scratch; WEIR_EBUSY, and nothing is changed: no way was found.
 */
weir_status weir_group_search(const struct weir_group_query *query, uint32_t node,
                              struct weir_alloc *allocs, struct weir_error *error);

/* group_draw.c: what a group has on one GPU for those of its members that keep no place of their
 * own. `all` has room for every device of its allocations. */
struct weir_group_part {
    uint32_t node, gpu;
    int64_t units;
};
struct weir_group_parts {
    struct weir_group_part *all;
    uint32_t count;
};

/* The members of a placed group, in their order, take GPUs of what it has on their nodes. Gives the
 * first that finds no amount large enough, whose group holds it for nothing; WEIR_NO_INDEX = all
 * did. The allocations are worth something only then. Cost: O(devices^2). */
uint32_t weir_group_draw(struct weir_group_parts *parts, struct weir_alloc *allocs, uint32_t count);

/* What labels have against all bundles on this node; WEIR_REASON_NONE = nothing. */
uint32_t weir_group_label_reason(const struct weir_group_query *query, uint32_t node);

/* WEIR_EINFEASIBLE with a sentence when the group can never be placed, as far as the query wants
 * that told; the answer says which bundle and why. */
weir_status weir_group_check_room(const struct weir_group_query *query,
                                  struct weir_group_answer *answer, struct weir_error *error);

#endif
