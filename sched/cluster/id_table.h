/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A map from 64-bit ids to 32-bit indices: open addressing with linear probing, at most half full.
 *
 * It has no order and is never iterated, so nothing observable depends on its layout. Removal
 * shifts entries back; there are no tombstones.
 */
#ifndef SCHED_CLUSTER_ID_TABLE_H
#define SCHED_CLUSTER_ID_TABLE_H

#include "weir/cluster.h"

/* 12 bytes: as one number the id would cost four more. */
struct weir_id_entry {
    uint32_t id[2];
    uint32_t index; /* WEIR_NO_INDEX = empty */
};

struct weir_id_table {
    struct weir_id_entry *entries; /* NULL while empty */
    uint32_t capacity;             /* a power of two, or 0 */
    uint32_t count;
    uint32_t broken; /* invariants that did not hold; 0 */
};

/* Index stored for `id`, or WEIR_NO_INDEX. */
uint32_t weir_id_table_find(const struct weir_id_table *table, uint64_t id);

/* Makes room for `count` ids, so that as many puts cannot fail. */
weir_status weir_id_table_grow(struct weir_id_table *table, const struct weir_allocator *allocator,
                               uint32_t count);

static inline weir_status weir_id_table_reserve(struct weir_id_table *table,
                                                const struct weir_allocator *allocator,
                                                uint32_t count)
{
    return count <= table->capacity / 2 && table->capacity > 0
               ? WEIR_OK
               : weir_id_table_grow(table, allocator, count);
}

/* Adds an id that is not there; room must have been reserved. */
void weir_id_table_put(struct weir_id_table *table, uint64_t id, uint32_t index);

/* Stores an index for an id; the one it had, or WEIR_NO_INDEX: then room must have been reserved.
 */
uint32_t weir_id_table_swap(struct weir_id_table *table, uint64_t id, uint32_t index);

/* Stores another index for an id that is there. */
void weir_id_table_set(struct weir_id_table *table, uint64_t id, uint32_t index);

/* Removes an id that is there. */
void weir_id_table_remove(struct weir_id_table *table, uint64_t id);

void weir_id_table_free(struct weir_id_table *table, const struct weir_allocator *allocator);

#endif
