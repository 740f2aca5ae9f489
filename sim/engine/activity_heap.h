/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A heap of end tags: indexed, 4-ary, least first. Private to the activities.
 *
 * The heap orders by tag alone: equal tags come out in any order, and who needs the order of
 * creation sorts what was taken out together. Each move of a record is told to the table of places
 * (by slot) that the caller lends, so that any activity can be removed. O(log n) a change.
 *
 * As in event_queue.h the least of four children is found without branches: tags beyond `count` are
 * the greatest, and the leftmost wins a tie, so that one of those is never taken for a child.
 */
#ifndef SIM_ENGINE_ACTIVITY_HEAP_H
#define SIM_ENGINE_ACTIVITY_HEAP_H

#include "sim/engine/activity_state.h"

#include <stdlib.h>
#include <string.h>

enum {
    TAG_HEAP_WAYS = 4,
    TAG_HEAP_LEAD = TAG_HEAP_WAYS - 1, /* unused tags that align the first group of children */
    TAG_HEAP_FIRST_CAPACITY = 4,
};

static inline uint32_t *tag_heap_slots(const struct tag_heap *heap)
{
    return (uint32_t *)(void *)(heap->tags + heap->capacity + TAG_HEAP_WAYS);
}

static inline void tag_heap_place(struct tag_heap *heap, uint32_t *places, uint32_t index,
                                  sim_quanta tag, uint32_t slot)
{
    heap->tags[index] = tag;
    tag_heap_slots(heap)[index] = slot;
    places[slot] = index;
}

static inline void tag_heap_up(struct tag_heap *heap, uint32_t *places, uint32_t index,
                               sim_quanta tag, uint32_t slot)
{
    while (index > 0) {
        const uint32_t parent = (index - 1) / TAG_HEAP_WAYS;
        if (heap->tags[parent] <= tag)
            break;
        tag_heap_place(heap, places, index, heap->tags[parent], tag_heap_slots(heap)[parent]);
        index = parent;
    }
    tag_heap_place(heap, places, index, tag, slot);
}

static inline uint32_t tag_heap_first_child(const struct tag_heap *heap, uint32_t group)
{
    const sim_quanta *children = &heap->tags[group];
    const uint32_t left = children[1] < children[0];
    const uint32_t right = 2 + (children[3] < children[2]);
    const uint32_t take_right = children[right] < children[left];
    return group + (left ^ ((left ^ right) & -take_right));
}

static inline void tag_heap_down(struct tag_heap *heap, uint32_t *places, uint32_t index,
                                 sim_quanta tag, uint32_t slot)
{
    for (;;) {
        const uint32_t group = TAG_HEAP_WAYS * index + 1;
        if (group >= heap->count)
            break;
        const uint32_t least = tag_heap_first_child(heap, group);
        if (heap->tags[least] >= tag)
            break;
        tag_heap_place(heap, places, index, heap->tags[least], tag_heap_slots(heap)[least]);
        index = least;
    }
    tag_heap_place(heap, places, index, tag, slot);
}

static inline void tag_heap_free(struct tag_heap *heap)
{
    if (heap->tags)
        free(heap->tags - TAG_HEAP_LEAD);
    *heap = (struct tag_heap){ 0 };
}

/* Room for `capacity` tags, a multiple of four. */
static inline bool tag_heap_grow(struct tag_heap *heap, uint32_t capacity)
{
    /* A group more than asked: the children of the last tag are read before they exist. */
    const size_t tags = (size_t)capacity + TAG_HEAP_LEAD + TAG_HEAP_WAYS;
    const size_t bytes = tags * sizeof(sim_quanta) + capacity * sizeof(uint32_t);
    sim_quanta *block =
        aligned_alloc(ACTIVITY_LINE, (bytes + ACTIVITY_LINE - 1) / ACTIVITY_LINE * ACTIVITY_LINE);
    if (!block)
        return false;
    memset(block, 0xFF, tags * sizeof(sim_quanta));
    struct tag_heap grown = { block + TAG_HEAP_LEAD, heap->count, capacity };
    if (heap->count > 0) {
        memcpy(grown.tags, heap->tags, heap->count * sizeof(sim_quanta));
        memcpy(tag_heap_slots(&grown), tag_heap_slots(heap), heap->count * sizeof(uint32_t));
    }
    tag_heap_free(heap);
    *heap = grown;
    return true; /* NOLINT(clang-analyzer-unix.Malloc): the block is grown.tags, past its lead */
}

/* False when out of memory. */
static inline bool tag_heap_push(struct tag_heap *heap, uint32_t *places, sim_quanta tag,
                                 uint32_t slot)
{
    if (heap->count == heap->capacity &&
        !tag_heap_grow(heap, heap->capacity ? 2 * heap->capacity : TAG_HEAP_FIRST_CAPACITY))
        return false;
    tag_heap_up(heap, places, heap->count++, tag, slot);
    return true;
}

static inline void tag_heap_remove(struct tag_heap *heap, uint32_t *places, uint32_t index)
{
    const uint32_t end = --heap->count;
    const sim_quanta tag = heap->tags[end];
    const uint32_t slot = tag_heap_slots(heap)[end];
    heap->tags[end] = ~(sim_quanta)0;
    if (index == end)
        return;
    if (index > 0 && tag < heap->tags[(index - 1) / TAG_HEAP_WAYS])
        tag_heap_up(heap, places, index, tag, slot);
    else
        tag_heap_down(heap, places, index, tag, slot);
}

#endif
