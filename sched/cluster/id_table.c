/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open addressing with linear probing; see id_table.h.
 *
 * Invariant: an entry lies in the run of full places that starts at its home place.
 */
#include "sched/cluster/id_table.h"

#include "sched/internal/alloc.h"
#include "sched/internal/hash.h"
#include "sched/internal/invariant.h"

#include <string.h>

static uint64_t id_of(const struct weir_id_entry *entry)
{
    uint64_t id;

    memcpy(&id, entry->id, sizeof id);
    return id;
}

static inline uint32_t home_of(const struct weir_id_table *table, uint64_t id)
{
    return weir_id_home(id) & (table->capacity - 1);
}

/* The place that holds `id`, or the empty one where it would go. */
static inline uint32_t place_of(const struct weir_id_table *table, uint64_t id)
{
    uint32_t place = home_of(table, id);

    while (table->entries[place].index != WEIR_NO_INDEX && id_of(&table->entries[place]) != id)
        place = (place + 1) & (table->capacity - 1);
    return place;
}

uint32_t weir_id_table_find(const struct weir_id_table *table, uint64_t id)
{
    if (table->count == 0)
        return WEIR_NO_INDEX;
    return table->entries[place_of(table, id)].index;
}

weir_status weir_id_table_grow(struct weir_id_table *table, const struct weir_allocator *allocator,
                               uint32_t count)
{
    uint32_t capacity = table->capacity == 0 ? 16 : table->capacity;

    while (capacity / 2 < count) {
        if (capacity > UINT32_MAX / 4)
            return WEIR_ENOMEM;
        capacity *= 2;
    }
    struct weir_id_table larger = { .capacity = capacity, .count = 0 };
    larger.entries = weir_alloc(allocator, capacity, sizeof *larger.entries);
    if (larger.entries == NULL)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < capacity; i++)
        larger.entries[i].index = WEIR_NO_INDEX;
    for (uint32_t i = 0; i < table->capacity; i++) {
        if (table->entries[i].index != WEIR_NO_INDEX)
            weir_id_table_put(&larger, id_of(&table->entries[i]), table->entries[i].index);
    }
    weir_free(allocator, table->entries);
    *table = larger;
    return WEIR_OK;
}

void weir_id_table_put(struct weir_id_table *table, uint64_t id, uint32_t index)
{
    if (!WEIR_HOLDS(table->count < table->capacity / 2, &table->broken))
        return;
    const uint32_t place = place_of(table, id);
    memcpy(table->entries[place].id, &id, sizeof id);
    table->entries[place].index = index;
    table->count++;
}

uint32_t weir_id_table_swap(struct weir_id_table *table, uint64_t id, uint32_t index)
{
    if (!WEIR_HOLDS(table->capacity > 0, &table->broken))
        return WEIR_NO_INDEX;
    struct weir_id_entry *const entry = &table->entries[place_of(table, id)];
    const uint32_t before = entry->index;
    const bool is_new = before == WEIR_NO_INDEX;
    if (is_new && !WEIR_HOLDS(table->count < table->capacity / 2, &table->broken))
        return before;
    memcpy(entry->id, &id, sizeof id);
    entry->index = index;
    table->count += is_new;
    return before;
}

void weir_id_table_set(struct weir_id_table *table, uint64_t id, uint32_t index)
{
    const uint32_t place = table->count == 0 ? 0 : place_of(table, id);

    if (!WEIR_HOLDS(table->count > 0 && table->entries[place].index != WEIR_NO_INDEX,
                    &table->broken))
        return;
    table->entries[place].index = index;
}

void weir_id_table_remove(struct weir_id_table *table, uint64_t id)
{
    const uint32_t mask = table->capacity - 1;
    uint32_t hole = table->count == 0 ? 0 : place_of(table, id);

    if (!WEIR_HOLDS(table->count > 0 && table->entries[hole].index != WEIR_NO_INDEX,
                    &table->broken))
        return;
    /* Move back every later entry of the run whose home is not after the hole. */
    for (uint32_t i = (hole + 1) & mask; table->entries[i].index != WEIR_NO_INDEX;
         i = (i + 1) & mask) {
        const uint32_t distance_home = (i - home_of(table, id_of(&table->entries[i]))) & mask;
        const uint32_t distance_hole = (i - hole) & mask;
        if (distance_home >= distance_hole) {
            table->entries[hole] = table->entries[i];
            hole = i;
        }
    }
    table->entries[hole].index = WEIR_NO_INDEX;
    table->count--;
}

void weir_id_table_free(struct weir_id_table *table, const struct weir_allocator *allocator)
{
    weir_free(allocator, table->entries);
    *table = (struct weir_id_table){ .entries = NULL };
}
