/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See slab.h. Free records are chained by their slots. Blocks begin on a line of the cache, so that
 * a record of 64 bytes is one. */
#include "sim/engine/slab.h"

#include <stdlib.h>
#include <string.h>

enum { LINE = 64 };
_Static_assert((1 << SIM_SLAB_BITS) % LINE == 0, "a block is whole lines, whatever the record");

static weir_status add_block(struct sim_slab *slab)
{
    if (slab->block_count == slab->block_capacity) {
        const uint32_t capacity = slab->block_capacity == 0 ? 8 : slab->block_capacity * 2;
        char **blocks = realloc(slab->blocks, capacity * sizeof(char *));
        if (blocks == NULL)
            return WEIR_ENOMEM;
        slab->blocks = blocks;
        slab->block_capacity = capacity;
    }
    slab->blocks[slab->block_count] = aligned_alloc(LINE, slab->size << SIM_SLAB_BITS);
    if (slab->blocks[slab->block_count] == NULL)
        return WEIR_ENOMEM;
    slab->block_count++;
    return WEIR_OK;
}

weir_status sim_slab_take(struct sim_slab *slab, void **record)
{
    uint32_t slot = slab->used;
    if (slab->free > 0)
        slot = slab->free - 1;
    else if (slot >> SIM_SLAB_BITS == slab->block_count)
        WEIR_TRY(add_block(slab));
    uint32_t *taken = sim_slab_at(slab, slot);
    if (slab->free > 0)
        slab->free = *taken;
    else
        slab->used++;
    memset(taken, 0, slab->size);
    *taken = slot;
    *record = taken;
    return WEIR_OK;
}

void sim_slab_give(struct sim_slab *slab, void *record)
{
    uint32_t *given = record;
    const uint32_t slot = *given;
    *given = slab->free;
    slab->free = slot + 1;
}

void sim_slab_clear(struct sim_slab *slab)
{
    for (uint32_t i = 0; i < slab->block_count; i++)
        free(slab->blocks[i]);
    free(slab->blocks);
    *slab = (struct sim_slab){ .size = slab->size };
}
