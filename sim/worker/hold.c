/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finding places by id and by node, and claims by hash (see hold.h). */
#include "sim/worker/hold.h"

#include <assert.h>
#include <stdlib.h>

/* Where the search for a key begins: neighbouring ids come to lie apart. */
static uint32_t home_of(const struct key_table *table, uint64_t key)
{
    return (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (table->capacity - 1);
}

/* The slot of this key, or the empty one where it would be. */
static uint32_t slot_of(const struct key_table *table, uint64_t key)
{
    uint32_t slot = home_of(table, key);
    while (table->slots[slot].thing != NULL && table->slots[slot].key != key)
        slot = (slot + 1) & (table->capacity - 1);
    return slot;
}

void *sim_key_find(const struct key_table *table, uint64_t key)
{
    return table->capacity == 0 ? NULL : table->slots[slot_of(table, key)].thing;
}

weir_status sim_key_reserve(struct key_table *table)
{
    struct key_table grown = { .capacity = table->capacity == 0 ? 64 : table->capacity * 2 };
    if (5 * ((uint64_t)table->count + 1) <= 4 * (uint64_t)table->capacity)
        return WEIR_OK;
    grown.slots = calloc(grown.capacity, sizeof(*grown.slots));
    if (grown.slots == NULL)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < table->capacity; i++)
        if (table->slots[i].thing != NULL)
            grown.slots[slot_of(&grown, table->slots[i].key)] = table->slots[i];
    grown.count = table->count;
    free(table->slots);
    *table = grown;
    return WEIR_OK;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the table hands it out to be written to */
void sim_key_add(struct key_table *table, uint64_t *key)
{
    const uint32_t slot = slot_of(table, *key);
    assert(table->slots[slot].thing == NULL);
    table->slots[slot] = (struct key_slot){ *key, key };
    table->count++;
}

/* Closes the gap: what was displaced over it moves back, so that no search ends too early. */
void sim_key_remove(struct key_table *table, uint64_t key)
{
    const uint32_t mask = table->capacity - 1;
    uint32_t gap = slot_of(table, key);
    assert(table->slots[gap].thing != NULL);
    for (uint32_t slot = (gap + 1) & mask; table->slots[slot].thing != NULL;
         slot = (slot + 1) & mask) {
        const uint32_t home = home_of(table, table->slots[slot].key);
        if (((slot - home) & mask) < ((slot - gap) & mask))
            continue;
        table->slots[gap] = table->slots[slot];
        gap = slot;
    }
    table->slots[gap].thing = NULL;
    table->count--;
}

void sim_hold_enter(struct sim_workers *workers, struct sim_hold *hold)
{
    struct node_holds *list = &workers->on_node[hold->lease.node];
    sim_key_add(&workers->holds, &hold->id);
    hold->before = list->last;
    hold->after = NULL;
    *(list->last == NULL ? &list->first : &list->last->after) = hold;
    list->last = hold;
}

void sim_hold_leave(struct sim_workers *workers, struct sim_hold *hold)
{
    struct node_holds *list = &workers->on_node[hold->lease.node];
    sim_key_remove(&workers->holds, hold->id);
    *(hold->before == NULL ? &list->first : &hold->before->after) = hold->after;
    *(hold->after == NULL ? &list->last : &hold->after->before) = hold->before;
}
