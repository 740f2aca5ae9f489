/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A map from 64-bit ids to 32-bit indices: open addressing with linear probing, at most half full.
 *
 * A place holds a row of ids that follow one another (see hash.h): those of a cluster are
 * mostly there all or not at all. It has no order and is never iterated, so nothing observable
 * depends on its layout. Removal shifts rows back; there are no tombstones.
 */
#ifndef SCHED_CLUSTER_ID_TABLE_H
#define SCHED_CLUSTER_ID_TABLE_H

#include "sched/internal/hash.h"
#include "weir/cluster.h"

struct weir_id_row {
    uint32_t indices[WEIR_ID_ROW]; /* WEIR_NO_INDEX = is not there */
};

struct weir_id_table {
    uint64_t *names; /* of rows; apart from them, so that a search touches few lines of memory */
    struct weir_id_row *rows;
    uint32_t capacity; /* of rows: a power of two, or 0 */
    uint32_t used;     /* rows */
    uint32_t count;    /* ids */
    uint32_t broken;   /* invariants that did not hold; 0 */
};

/* Index stored for `id`, or WEIR_NO_INDEX. */
uint32_t weir_id_table_find(const struct weir_id_table *table, uint64_t id);

/* Makes room for so many `more` ids, so that as many puts cannot fail. */
weir_status weir_id_table_grow(struct weir_id_table *table, const struct weir_allocator *allocator,
                               uint32_t more);

static inline weir_status weir_id_table_reserve(struct weir_id_table *table,
                                                const struct weir_allocator *allocator,
                                                uint32_t more)
{
    return table->used + more <= table->capacity / 2 ? WEIR_OK
                                                     : weir_id_table_grow(table, allocator, more);
}

/* Becomes equal to `source`. */
weir_status weir_id_table_copy(struct weir_id_table *table, const struct weir_allocator *allocator,
                               const struct weir_id_table *source);

/* Gives an id this index; room must have been reserved if it is not there. */
void weir_id_table_put(struct weir_id_table *table, uint64_t id, uint32_t index);

/* Stores an index for an id; the one it had, or WEIR_NO_INDEX: then room must have been reserved.
 */
uint32_t weir_id_table_swap(struct weir_id_table *table, uint64_t id, uint32_t index);

/* Removes an id that is there. */
void weir_id_table_remove(struct weir_id_table *table, uint64_t id);

void weir_id_table_free(struct weir_id_table *table, const struct weir_allocator *allocator);

#endif
