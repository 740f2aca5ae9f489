/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The slab behind items (see item.h): indices are reused last-freed-first, memory never shrinks. */
#include "sim/queue/item.h"

#include "sim/engine/digest.h"

#include <stdlib.h>

static weir_status slab_grow(struct sim_item_slab *slab)
{
    const uint32_t capacity = slab->capacity == 0 ? 256 : slab->capacity * 2;
    if (capacity <= slab->capacity)
        return WEIR_ENOMEM;
    struct sim_item *items = realloc(slab->items, (size_t)capacity * sizeof(*items));
    if (items == NULL)
        return WEIR_ENOMEM;
    slab->items = items;
    slab->capacity = capacity;
    return WEIR_OK;
}

weir_status sim_item_new(struct sim_item_slab *slab, uint32_t *index)
{
    uint32_t found = slab->alive < slab->used ? slab->free : slab->used;
    if (found == slab->used) {
        if (slab->used == slab->capacity)
            WEIR_TRY(slab_grow(slab));
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
