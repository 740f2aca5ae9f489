/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open addressing with linear probing, by rows of ids; see id_table.h.
 *
 * Invariant: a row lies in the run of full places that starts at its home place, and has an id.
 */
#include "sched/cluster/id_table.h"

#include "sched/internal/alloc.h"
#include "sched/internal/invariant.h"

#include <string.h>

static const uint64_t NOBODY = UINT64_MAX; /* names no row: ids are divided by its length */

static inline uint32_t home_of(const struct weir_id_table *table, uint64_t name)
{
    return weir_row_home(name) & (table->capacity - 1);
}

/* The place of the row of this name, or the empty one where it would go. */
static inline uint32_t place_of(const struct weir_id_table *table, uint64_t name)
{
    uint32_t place = home_of(table, name);

    while (table->names[place] != NOBODY && table->names[place] != name)
        place = (place + 1) & (table->capacity - 1);
    return place;
}

/* Where the index of an id is, or NULL. */
static uint32_t *find(const struct weir_id_table *table, uint64_t id)
{
    const uint32_t place = table->count == 0 ? 0 : place_of(table, id / WEIR_ID_ROW);

    if (table->count == 0 || table->names[place] == NOBODY)
        return NULL;
    return &table->rows[place].indices[id % WEIR_ID_ROW];
}

uint32_t weir_id_table_find(const struct weir_id_table *table, uint64_t id)
{
    const uint32_t *const index = find(table, id);

    return index == NULL ? WEIR_NO_INDEX : *index;
}

static weir_status make_rows(struct weir_id_table *table, const struct weir_allocator *allocator,
                             uint32_t capacity)
{
    *table = (struct weir_id_table){ .capacity = capacity };
    table->names = weir_alloc(allocator, capacity, sizeof *table->names);
    table->rows = weir_alloc(allocator, capacity, sizeof *table->rows);
    if (table->names == NULL || table->rows == NULL) {
        weir_id_table_free(table, allocator);
        return WEIR_ENOMEM;
    }
    memset(table->names, 0xff, capacity * sizeof *table->names);
    return WEIR_OK;
}

weir_status weir_id_table_grow(struct weir_id_table *table, const struct weir_allocator *allocator,
                               uint32_t more)
{
    uint32_t capacity = table->capacity == 0 ? 4 : table->capacity;
    struct weir_id_table larger;

    while (capacity / 2 < table->used + more) {
        if (capacity > UINT32_MAX / 4)
            return WEIR_ENOMEM;
        capacity *= 2;
    }
    WEIR_TRY(make_rows(&larger, allocator, capacity));
    for (uint32_t i = 0; i < table->capacity; i++) {
        if (table->names[i] == NOBODY)
            continue;
        const uint32_t place = place_of(&larger, table->names[i]);
        larger.names[place] = table->names[i];
        larger.rows[place] = table->rows[i];
    }
    larger.used = table->used;
    larger.count = table->count;
    larger.broken = table->broken;
    weir_id_table_free(table, allocator);
    *table = larger;
    return WEIR_OK;
}

weir_status weir_id_table_copy(struct weir_id_table *table, const struct weir_allocator *allocator,
                               const struct weir_id_table *source)
{
    if (table->capacity != source->capacity) {
        weir_id_table_free(table, allocator);
        if (source->capacity > 0)
            WEIR_TRY(make_rows(table, allocator, source->capacity));
    }
    if (source->capacity > 0) {
        memcpy(table->names, source->names, source->capacity * sizeof *source->names);
        memcpy(table->rows, source->rows, source->capacity * sizeof *source->rows);
    }
    table->used = source->used;
    table->count = source->count;
    return WEIR_OK;
}

uint32_t weir_id_table_swap(struct weir_id_table *table, uint64_t id, uint32_t index)
{
    if (!WEIR_HOLDS(table->capacity > 0, &table->broken))
        return WEIR_NO_INDEX;
    const uint32_t place = place_of(table, id / WEIR_ID_ROW);
    struct weir_id_row *const row = &table->rows[place];
    if (table->names[place] == NOBODY) {
        if (!WEIR_HOLDS(table->used < table->capacity / 2, &table->broken))
            return WEIR_NO_INDEX;
        table->names[place] = id / WEIR_ID_ROW;
        memset(row, 0xff, sizeof *row);
        table->used++;
    }
    const uint32_t before = row->indices[id % WEIR_ID_ROW];
    row->indices[id % WEIR_ID_ROW] = index;
    table->count += before == WEIR_NO_INDEX;
    return before;
}

void weir_id_table_put(struct weir_id_table *table, uint64_t id, uint32_t index)
{
    (void)weir_id_table_swap(table, id, index);
}

/* Moves back every later row of the run whose home is not after the hole. */
static void close_hole(struct weir_id_table *table, uint32_t hole)
{
    const uint32_t mask = table->capacity - 1;

    for (uint32_t i = (hole + 1) & mask; table->names[i] != NOBODY; i = (i + 1) & mask) {
        const uint32_t distance_home = (i - home_of(table, table->names[i])) & mask;
        const uint32_t distance_hole = (i - hole) & mask;
        if (distance_home >= distance_hole) {
            table->names[hole] = table->names[i];
            table->rows[hole] = table->rows[i];
            hole = i;
        }
    }
    table->names[hole] = NOBODY;
    table->used--;
}

void weir_id_table_remove(struct weir_id_table *table, uint64_t id)
{
    uint32_t *const index = find(table, id);

    if (!WEIR_HOLDS(index != NULL && *index != WEIR_NO_INDEX, &table->broken))
        return;
    *index = WEIR_NO_INDEX;
    table->count--;
    const struct weir_id_row *const row = (const struct weir_id_row *)(index - id % WEIR_ID_ROW);
    for (uint32_t i = 0; i < WEIR_ID_ROW; i++)
        if (row->indices[i] != WEIR_NO_INDEX)
            return;
    close_hole(table, (uint32_t)(row - table->rows));
}

void weir_id_table_free(struct weir_id_table *table, const struct weir_allocator *allocator)
{
    weir_free(allocator, table->names);
    weir_free(allocator, table->rows);
    *table = (struct weir_id_table){ .names = NULL };
}
