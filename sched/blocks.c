/* SPDX-License-Identifier: Apache-2.0 */
/* Lists in blocks; see the header. */
#include "sched/internal/blocks.h"

#include "sched/internal/alloc.h"

weir_status weir_blocks_reserve(struct weir_blocks *blocks, const struct weir_allocator *allocator,
                                uint32_t needed, size_t size, size_t margin)
{
    while (blocks->count < (needed + WEIR_BLOCK_ELEMENTS - 1) / WEIR_BLOCK_ELEMENTS) {
        WEIR_ROOM(allocator, blocks->blocks, blocks->capacity, blocks->count + 1);
        void *const block =
            allocator->resize(allocator->state, NULL, WEIR_BLOCK_ELEMENTS * size + margin);
        if (block == NULL)
            return WEIR_ENOMEM;
        blocks->blocks[blocks->count++] = block;
    }
    return WEIR_OK;
}

void weir_blocks_free(struct weir_blocks *blocks, const struct weir_allocator *allocator)
{
    for (uint32_t i = 0; i < blocks->count; i++)
        weir_free(allocator, blocks->blocks[i]);
    weir_free(allocator, blocks->blocks);
    *blocks = (struct weir_blocks){ .blocks = NULL };
}
