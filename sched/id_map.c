/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The map from ids to numbers of one decision: lookup, insert with growth, O(1) clear.
 */
#include "sched/internal/id_map.h"

#include "sched/internal/alloc.h"
#include "sched/internal/hash.h"

#include <string.h>

enum { FIRST_CAPACITY = 64 };

/* The entry of `id`, or the free one where it belongs. */
static inline struct weir_id_map_entry *id_entry(const struct weir_id_map *map, uint64_t id)
{
    const uint32_t mask = map->capacity - 1;
    uint32_t place = weir_id_home(id) & mask;

    while (map->entries[place].stamp == map->stamp && map->entries[place].id != id)
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
        struct weir_id_map_entry *const entry = id_entry(&larger, map->entries[i].id);
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
    struct weir_id_map_entry *const entry = id_entry(map, id);
    if (entry->stamp != map->stamp) {
        map->count++;
        *entry = (struct weir_id_map_entry){ id, map->stamp, WEIR_NO_INDEX };
    }
    return &entry->value;
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
    const struct weir_id_map_entry *const entry = id_entry(map, id);
    return entry->stamp == map->stamp ? entry->value : WEIR_NO_INDEX;
}
