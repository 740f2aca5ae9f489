/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A long list that grows without moving what is in it: elements lie in blocks of as many. Copying a
 * list of all workers at every growth cost a tenth of a first plan.
 */
#ifndef SCHED_INTERNAL_BLOCKS_H
#define SCHED_INTERNAL_BLOCKS_H

#include "weir/cluster.h"

#include <stddef.h>

enum { WEIR_BLOCK_SHIFT = 9, WEIR_BLOCK_ELEMENTS = 1 << WEIR_BLOCK_SHIFT };

struct weir_blocks {
    unsigned char **blocks;
    uint32_t count, capacity;
};

/* Room for `needed` elements of `size` bytes, not initialised, each block with `margin` bytes
 * behind its last element. */
weir_status weir_blocks_reserve(struct weir_blocks *blocks, const struct weir_allocator *allocator,
                                uint32_t needed, size_t size, size_t margin);
void weir_blocks_free(struct weir_blocks *blocks, const struct weir_allocator *allocator);

static inline void *weir_blocks_at(const struct weir_blocks *blocks, uint32_t index, size_t size)
{
    return blocks->blocks[index >> WEIR_BLOCK_SHIFT] + index % WEIR_BLOCK_ELEMENTS * size;
}

#endif
