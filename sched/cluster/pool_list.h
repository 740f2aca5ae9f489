/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The workers of one pool in the order in which they came, as slots ascending by sequence, in
 * blocks: to add or to take out one of n moves no more than a block, wherever it stands.
 *
 * Neighbouring blocks hold more than one block between them, so there are never more than
 * 2 n / WEIR_POOL_BLOCK + 1. Room for n workers, once there, is room for any n of them.
 */
#ifndef SCHED_CLUSTER_POOL_LIST_H
#define SCHED_CLUSTER_POOL_LIST_H

#include "weir/cluster.h"

enum { WEIR_POOL_BLOCK = 128 };

struct weir_worker_slot;

/* In the order of the list; behind the last one are those that are free. */
struct weir_pool_block {
    uint64_t first; /* its first sequence: a block is found without a look at slots anywhere */
    uint32_t at;    /* in `slots`, in blocks */
    uint32_t count;
    uint32_t before; /* workers in the blocks before; for the first `settled` blocks */
};

/* Zeroed = empty. */
struct weir_pool_list {
    uint32_t *slots;
    struct weir_pool_block *blocks;
    uint32_t count; /* of workers */
    uint32_t block_count, block_capacity;
    uint32_t settled;
};

void weir_pool_list_free(struct weir_pool_list *list, const struct weir_allocator *allocator);
weir_status weir_pool_list_reserve(struct weir_pool_list *list,
                                   const struct weir_allocator *allocator, uint32_t count);
weir_status weir_pool_list_copy(struct weir_pool_list *list, const struct weir_allocator *allocator,
                                const struct weir_pool_list *source);
/* Room must have been reserved; false when there is none, or no such slot. `all` are the slots of
 * the inventory. */
bool weir_pool_list_insert(struct weir_pool_list *list, const struct weir_worker_slot *all,
                           uint32_t slot);
bool weir_pool_list_extract(struct weir_pool_list *list, const struct weir_worker_slot *all,
                            uint32_t slot);
/* The slot at a position below `count`. */
uint32_t weir_pool_list_at(struct weir_pool_list *list, uint32_t position);

#endif
