/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A map from 64-bit ids to 32-bit numbers, for the life of one decision.
 *
 * Open addressing with linear probing, at most half full, a row of ids in a place. Every row
 * carries the stamp of the round it was written in, so clearing is O(1) and the memory stays.
 * Entries cannot be removed; a value can be overwritten. Zero the struct before its first use.
 */
#ifndef SCHED_INTERNAL_ID_MAP_H
#define SCHED_INTERNAL_ID_MAP_H

#include "sched/internal/hash.h"
#include "weir/cluster.h"

/* Of ids that follow one another. */
struct weir_id_map_entry {
    uint64_t name;  /* of the row */
    uint32_t stamp; /* equal to the map's: in use */
    uint32_t reserved;
    uint32_t values[WEIR_ID_ROW]; /* WEIR_NO_INDEX = is not there */
};

struct weir_id_map {
    struct weir_id_map_entry *entries;
    uint32_t capacity; /* 0 or a power of two */
    uint32_t count;    /* of rows */
    uint32_t stamp;
};

void weir_id_map_clear(struct weir_id_map *map);
void weir_id_map_free(const struct weir_allocator *allocator, struct weir_id_map *map);
weir_status weir_id_map_put(const struct weir_allocator *allocator, struct weir_id_map *map,
                            uint64_t id, uint32_t value);
/* The number of an id, WEIR_NO_INDEX when it is new; it holds until the next id comes. NULL: out of
 * memory. */
uint32_t *weir_id_map_at(const struct weir_allocator *allocator, struct weir_id_map *map,
                         uint64_t id);
/* WEIR_NO_INDEX when it is not there. */
uint32_t weir_id_map_get(const struct weir_id_map *map, uint64_t id);

#endif
