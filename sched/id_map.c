/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The map from ids to numbers of one decision: lookup, insert with growth, O(1) clear.
 */
#include "sched/internal/id_map.h"

#include "sched/internal/alloc.h"
#include "sched/internal/hash.h"

#include <string.h>

enum { FIRST_CAPACITY = 8 };

/* The row of this name, or the free one where it belongs. */
static inline struct weir_id_map_entry *id_entry(const struct weir_id_map *map, uint64_t name)
{
    const uint32_t mask = map->capacity - 1;
    uint32_t place = weir_row_home(name) & mask;

    while (map->entries[place].stamp == map->stamp && map->entries[place].name != name)
        place = (place + 1) & mask;
    return &map->entries[place];
}

void weir_id_map_clear(struct weir_id_map *map)
{
    map->count = 0;
    if (map->stamp == UINT32_MAX && map->capacity > 0) {
        memset(map->entries, 0, (size_t)map->capacity * sizeof *map->entries);
        map->stamp = 0;
    }
    map->stamp++;
}

void weir_id_map_free(const struct weir_allocator *allocator, struct weir_id_map *map)
{
    weir_free(allocator, map->entries);
    *map = (struct weir_id_map){ 0 };
}

static weir_status id_map_grow(const struct weir_allocator *allocator, struct weir_id_map *map)
{
    struct weir_id_map larger = {
        .capacity = map->capacity == 0 ? FIRST_CAPACITY : map->capacity * 2,
        .count = map->count,
        .stamp = 1,
    };

    if (map->capacity > UINT32_MAX / 2)
        return WEIR_ENOMEM;
    larger.entries = weir_alloc(allocator, larger.capacity, sizeof *larger.entries);
    if (larger.entries == NULL)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < map->capacity; i++) {
        if (map->entries[i].stamp != map->stamp)
            continue;
        struct weir_id_map_entry *const entry = id_entry(&larger, map->entries[i].name);
        *entry = map->entries[i];
        entry->stamp = larger.stamp;
    }
    weir_free(allocator, map->entries);
    *map = larger;
    return WEIR_OK;
}

uint32_t *weir_id_map_at(const struct weir_allocator *allocator, struct weir_id_map *map,
                         uint64_t id)
{
    if (map->count >= map->capacity / 2 && id_map_grow(allocator, map) != WEIR_OK)
        return NULL;
    struct weir_id_map_entry *const entry = id_entry(map, id / WEIR_ID_ROW);
    if (entry->stamp != map->stamp) {
        map->count++;
        entry->name = id / WEIR_ID_ROW;
        entry->stamp = map->stamp;
        memset(entry->values, 0xff, sizeof entry->values);
    }
    return &entry->values[id % WEIR_ID_ROW];
}

weir_status weir_id_map_put(const struct weir_allocator *allocator, struct weir_id_map *map,
                            uint64_t id, uint32_t value)
{
    uint32_t *const place = weir_id_map_at(allocator, map, id);

    if (place == NULL)
        return WEIR_ENOMEM;
    *place = value;
    return WEIR_OK;
}

uint32_t weir_id_map_get(const struct weir_id_map *map, uint64_t id)
{
    if (map->count == 0)
        return WEIR_NO_INDEX;
    const struct weir_id_map_entry *const entry = id_entry(map, id / WEIR_ID_ROW);
    return entry->stamp == map->stamp ? entry->values[id % WEIR_ID_ROW] : WEIR_NO_INDEX;
}
