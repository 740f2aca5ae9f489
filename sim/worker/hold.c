/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finding places by id and by node (see hold.h). */
#include "sim/worker/hold.h"

#include <assert.h>
#include <stdlib.h>

/* Where the search for an id begins: neighbouring ids come to lie apart. */
static uint32_t home_of(const struct hold_table *table, uint64_t id)
{
    return (uint32_t)((id * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (table->capacity - 1);
}

/* The slot of this id, or the empty one where it would be. */
static uint32_t slot_of(const struct hold_table *table, uint64_t id)
{
    uint32_t slot = home_of(table, id);
    while (table->slots[slot] != NULL && table->slots[slot]->id != id)
        slot = (slot + 1) & (table->capacity - 1);
    return slot;
}

struct sim_hold *sim_hold_find(const struct hold_table *table, uint64_t id)
{
    return table->capacity == 0 ? NULL : table->slots[slot_of(table, id)];
}

weir_status sim_hold_reserve(struct hold_table *table)
{
    struct hold_table grown = { .capacity = table->capacity == 0 ? 64 : table->capacity * 2 };
    if ((table->count + 1) * 2 <= table->capacity)
        return WEIR_OK;
    grown.slots = calloc(grown.capacity, sizeof(struct sim_hold *));
    if (grown.slots == NULL)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < table->capacity; i++)
        if (table->slots[i] != NULL)
            grown.slots[slot_of(&grown, table->slots[i]->id)] = table->slots[i];
    grown.count = table->count;
    free(table->slots);
    *table = grown;
    return WEIR_OK;
}

void sim_hold_enter(struct sim_workers *workers, struct sim_hold *hold)
{
    struct node_holds *list = &workers->on_node[hold->lease.node];
    const uint32_t slot = slot_of(&workers->table, hold->id);
    assert(workers->table.slots[slot] == NULL);
    workers->table.slots[slot] = hold;
    workers->table.count++;
    hold->before = list->last;
    hold->after = NULL;
    *(list->last == NULL ? &list->first : &list->last->after) = hold;
    list->last = hold;
}

/* Closes the gap: what was displaced over it moves back, so that no search ends too early. */
static void remove_id(struct hold_table *table, uint64_t id)
{
    const uint32_t mask = table->capacity - 1;
    uint32_t gap = slot_of(table, id);
    assert(table->slots[gap] != NULL);
    for (uint32_t slot = (gap + 1) & mask; table->slots[slot] != NULL; slot = (slot + 1) & mask) {
        const uint32_t home = home_of(table, table->slots[slot]->id);
        if (((slot - home) & mask) < ((slot - gap) & mask))
            continue;
        table->slots[gap] = table->slots[slot];
        gap = slot;
    }
    table->slots[gap] = NULL;
    table->count--;
}

void sim_hold_leave(struct sim_workers *workers, struct sim_hold *hold)
{
    struct node_holds *list = &workers->on_node[hold->lease.node];
    remove_id(&workers->table, hold->id);
    *(hold->before == NULL ? &list->first : &hold->before->after) = hold->after;
    *(hold->after == NULL ? &list->last : &hold->after->before) = hold->before;
}
