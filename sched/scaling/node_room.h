/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether any plan can reach a rate on the nodes that there are: for a rate z pool i needs
 * max(1, ceil(z / c_i)) workers, c_i the rate of one, or its fixed number, and they have to pass
 * the configuration programme of solve/fillings.h. Nodes that are alike count as one type, so the
 * cost is that of a walk over the nodes and of a programme whose size does not know how many there
 * are.
 *
 * It stays a bound: CPUs and GPUs alone are counted, sizes of workers are rounded down to steps and
 * those of nodes up, and what others than pools hold counts as room. Of groups over several nodes,
 * slices and more than MOST_TYPES types of nodes nothing is said, and all passes.
 */
#ifndef SCHED_SCALING_NODE_ROOM_H
#define SCHED_SCALING_NODE_ROOM_H

#include "sched/scaling/run.h"
#include "sched/solve/fillings.h"

struct weir_node_room {
    struct weir_fillings fillings;
    struct weir_filling_item *items; /* by pool */
    struct weir_filling_node *nodes; /* by type */
    struct weir_node_kind *kinds;    /* the same, see node_room.c */
    bool *may_stand;
    double *counts;
    uint32_t item_capacity, node_capacity, kind_capacity, may_capacity, count_capacity;
    bool is_said;
};

void weir_node_room_open(struct weir_node_room *room, const struct weir_allocator *allocator);
void weir_node_room_close(struct weir_node_room *room);
/* The nodes and pools of a decision. WEIR_ENOMEM. */
weir_status weir_node_room_begin(struct weir_node_room *room, const struct weir_run *run);
/* No plan gives more than *most_per_s, which is found between the two rates to a share of the upper
 * one; it is the lower one when nothing above it passes. */
weir_status weir_node_room_most(struct weir_node_room *room, const struct weir_run *run,
                                double low_per_s, double high_per_s, double *most_per_s);

#endif
