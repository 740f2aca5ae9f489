/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What workers have in hand (see struct sim_hand): slots are reused, addresses stay. */
#include "sim/pipeline/pipeline.h"

#include <stdlib.h>

static weir_status grow(struct sim_hand_slab *slab)
{
    const uint32_t capacity = slab->capacity == 0 ? 64 : slab->capacity * 2;
    struct sim_hand **slots = realloc(slab->slots, capacity * sizeof(struct sim_hand *));
    if (slots == NULL)
        return WEIR_ENOMEM;
    slab->slots = slots;
    uint32_t *free_slots = realloc(slab->free_slots, capacity * sizeof(*free_slots));
    if (free_slots == NULL)
        return WEIR_ENOMEM;
    slab->free_slots = free_slots;
    slab->capacity = capacity;
    return WEIR_OK;
}

weir_status sim_hand_take(struct sim_hand_slab *slab, struct sim_hand **hand)
{
    uint32_t slot = slab->used;
    if (slab->free_count > 0) {
        slot = slab->free_slots[--slab->free_count];
    } else {
        if (slab->used == slab->capacity)
            WEIR_TRY(grow(slab));
        slab->slots[slot] = calloc(1, sizeof(struct sim_hand));
        if (slab->slots[slot] == NULL)
            return WEIR_ENOMEM;
        slab->used++;
    }
    *hand = slab->slots[slot];
    **hand = (struct sim_hand){ .slot = slot, .task_head = SIM_NO_ITEM, .held = SIM_QUEUE_EMPTY };
    return WEIR_OK;
}

void sim_hand_free(struct sim_hand_slab *slab, struct sim_hand *hand)
{
    hand->worker = NULL;
    slab->free_slots[slab->free_count++] = hand->slot;
}

void sim_hand_slab_clear(struct sim_hand_slab *slab)
{
    for (uint32_t i = 0; i < slab->used; i++)
        free(slab->slots[i]);
    free(slab->slots);
    free(slab->free_slots);
    *slab = (struct sim_hand_slab){ 0 };
}
