/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A heap of end tags: indexed, 4-ary, least first. Private to the activities.
 *
 * The heap orders by tag alone: equal tags come out in any order, and who needs the order of
 * creation sorts what was taken out together. Each move of a record is told to the table of places
 * that the caller lends, so that any activity can be removed. O(log n) a change.
 */
#ifndef SIM_ENGINE_ACTIVITY_HEAP_H
#define SIM_ENGINE_ACTIVITY_HEAP_H

#include "sim/engine/activity_state.h"

#include <stdlib.h>

enum { TAG_HEAP_WAYS = 4, TAG_HEAP_FIRST_CAPACITY = 4 };

static inline void tag_heap_place(struct tag_heap *heap, struct activity_terms *terms,
                                  uint32_t index, struct tag_record record)
{
    heap->records[index] = record;
    terms[record.terms].place = index;
}

static inline void tag_heap_up(struct tag_heap *heap, struct activity_terms *terms, uint32_t index,
                               struct tag_record record)
{
    while (index > 0) {
        const uint32_t parent = (index - 1) / TAG_HEAP_WAYS;
        if (heap->records[parent].tag <= record.tag)
            break;
        tag_heap_place(heap, terms, index, heap->records[parent]);
        index = parent;
    }
    tag_heap_place(heap, terms, index, record);
}

static inline void tag_heap_down(struct tag_heap *heap, struct activity_terms *terms,
                                 uint32_t index, struct tag_record record)
{
    for (;;) {
        const uint32_t first = TAG_HEAP_WAYS * index + 1;
        if (first >= heap->count)
            break;
        const uint32_t end =
            heap->count - first < TAG_HEAP_WAYS ? heap->count : first + TAG_HEAP_WAYS;
        uint32_t least = first;
        for (uint32_t child = first + 1; child < end; child++) {
            if (heap->records[child].tag < heap->records[least].tag)
                least = child;
        }
        if (heap->records[least].tag >= record.tag)
            break;
        tag_heap_place(heap, terms, index, heap->records[least]);
        index = least;
    }
    tag_heap_place(heap, terms, index, record);
}

/* False when out of memory. */
static inline bool tag_heap_push(struct tag_heap *heap, struct activity_terms *terms,
                                 struct tag_record record)
{
    if (heap->count == heap->capacity) {
        const uint32_t capacity = heap->capacity ? 2 * heap->capacity : TAG_HEAP_FIRST_CAPACITY;
        struct tag_record *records = realloc(heap->records, capacity * sizeof *records);
        if (!records)
            return false;
        heap->records = records;
        heap->capacity = capacity;
    }
    tag_heap_up(heap, terms, heap->count++, record);
    return true;
}

static inline void tag_heap_remove(struct tag_heap *heap, struct activity_terms *terms,
                                   uint32_t index)
{
    const struct tag_record last = heap->records[--heap->count];
    if (index == heap->count)
        return;
    if (index > 0 && last.tag < heap->records[(index - 1) / TAG_HEAP_WAYS].tag)
        tag_heap_up(heap, terms, index, last);
    else
        tag_heap_down(heap, terms, index, last);
}

#endif
