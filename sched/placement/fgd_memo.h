/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was found for a state of a node, kept for the next node that comes into the same state: on a
 * cluster of many equal nodes few states are ever seen. States are named by the fingerprints of the
 * inventory, which say nothing of which node it is.
 *
 * Places are found for nodes that differ in the order of their GPUs alone (likeness, see state.h);
 * only which device it is depends on that.
 *
 * A table of fixed size: a state that falls on the place of another one takes it.
 */
#ifndef SCHED_PLACEMENT_FGD_MEMO_H
#define SCHED_PLACEMENT_FGD_MEMO_H

#include "weir/cluster.h"

/* The best place for one shape. */
struct weir_memo_place {
    uint64_t state;   /* 0 = nothing is kept here */
    uint64_t version; /* of the node that has this device */
    int64_t primary, secondary;
    uint32_t candidates, ties, reason;
    uint32_t device_count; /* WEIR_NO_INDEX = more than are kept */
    struct weir_device device;
};

struct weir_memo_places {
    struct weir_memo_place *places;
    uint32_t capacity; /* a power of two, or 0 */
};

/* Forgets everything; room for as much as so many nodes are worth. */
weir_status weir_memo_places_reset(struct weir_memo_places *memo,
                                   const struct weir_allocator *allocator, uint32_t nodes);
void weir_memo_places_free(struct weir_memo_places *memo, const struct weir_allocator *allocator);

/* Where a state is kept, if it is: its `state` tells. */
static inline struct weir_memo_place *weir_memo_place(const struct weir_memo_places *memo,
                                                      uint64_t state)
{
    return &memo->places[state & (memo->capacity - 1)];
}

/* The two keys of one change of a node. */
struct weir_memo_change {
    uint64_t change; /* node's state and what comes or goes; 0 = nothing is kept here */
    int64_t primary, secondary;
};
enum { WEIR_MEMO_CHANGES = 16384 };

/* What a worker holds of a node, as far as keys depend on it. */
struct weir_memo_hold {
    uint64_t amounts; /* of several devices, or an instance: and on which GPUs */
    uint32_t device_count;
    uint32_t gpu; /* of the only device, else 0 */
};
struct weir_memo_hold weir_memo_hold(const struct weir_alloc *alloc);

#endif
