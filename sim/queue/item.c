/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The slab behind items (see item.h): indices are reused last-freed-first, memory never shrinks. */
#include "sim/queue/item.h"

#include "sim/engine/digest.h"
#include "sim/engine/room.h"

#include <stdlib.h>

weir_status sim_item_new(struct sim_item_slab *slab, uint32_t *index)
{
    uint32_t found = slab->alive < slab->used ? slab->free : slab->used;
    if (found == slab->used) {
        SIM_ROOM(slab->items, slab->capacity, slab->used + 1);
        slab->used++;
    } else {
        slab->free = slab->items[found].next;
    }
    slab->items[found] = (struct sim_item){ .next = SIM_NO_ITEM };
    slab->alive++;
    *index = found;
    return WEIR_OK;
}

void sim_item_free(struct sim_item_slab *slab, uint32_t index)
{
    slab->items[index].next = slab->free;
    slab->free = index;
    slab->alive--;
}

void sim_item_slab_clear(struct sim_item_slab *slab)
{
    free(slab->items);
    *slab = (struct sim_item_slab){ 0 };
}

uint64_t sim_item_child_id(uint64_t parent, uint64_t stage, uint32_t child)
{
    const uint64_t made = sim_digest_word(sim_digest_word(SIM_DIGEST_START, parent), stage);
    return sim_digest_word(made, child);
}
