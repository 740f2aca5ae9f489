/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The jobs that wait; see the header. */
#include "tests/support/job_oracle/wait_queue.h"

#include <stdlib.h>

weir_status oracle_wait_queue_open(struct oracle_wait_queue *queue, uint32_t kind_count)
{
    *queue = (struct oracle_wait_queue){ .kind_count = kind_count };
    queue->kinds = calloc((size_t)kind_count + 1, sizeof(*queue->kinds));
    return queue->kinds == NULL ? WEIR_ENOMEM : WEIR_OK;
}

void oracle_wait_queue_close(struct oracle_wait_queue *queue)
{
    for (uint32_t k = 0; k < queue->kind_count && queue->kinds != NULL; k++)
        free(queue->kinds[k].entries);
    free(queue->kinds);
    free(queue->place);
    *queue = (struct oracle_wait_queue){ .count = 0 };
}

/* ---- heaps ---- */

static bool is_before(const struct oracle_wait_entry *a, const struct oracle_wait_entry *b)
{
    if (a->key < b->key || a->key > b->key)
        return a->key < b->key;
    if (a->submit_ns != b->submit_ns)
        return a->submit_ns < b->submit_ns;
    return a->id < b->id;
}

static void put(struct oracle_wait_queue *queue, struct oracle_wait_heap *heap, size_t place,
                struct oracle_wait_entry entry)
{
    heap->entries[place] = entry;
    queue->place[entry.slot] = place;
}

static void rise(struct oracle_wait_queue *queue, struct oracle_wait_heap *heap, size_t place)
{
    const struct oracle_wait_entry entry = heap->entries[place];
    while (place > 0 && is_before(&entry, &heap->entries[(place - 1) / 2])) {
        put(queue, heap, place, heap->entries[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    put(queue, heap, place, entry);
}

static void sink(struct oracle_wait_queue *queue, struct oracle_wait_heap *heap, size_t place)
{
    const struct oracle_wait_entry entry = heap->entries[place];
    for (;;) {
        size_t child = 2 * place + 1;
        if (child + 1 < heap->count && is_before(&heap->entries[child + 1], &heap->entries[child]))
            child++;
        if (child >= heap->count || !is_before(&heap->entries[child], &entry))
            break;
        put(queue, heap, place, heap->entries[child]);
        place = child;
    }
    put(queue, heap, place, entry);
}

/* ---- room ---- */

static weir_status reserve_place(struct oracle_wait_queue *queue, uint32_t slot)
{
    if (slot < queue->place_count)
        return WEIR_OK;
    const size_t count = 2 * (size_t)slot + 64;
    size_t *grown = realloc(queue->place, count * sizeof(*grown));
    if (grown == NULL)
        return WEIR_ENOMEM;
    queue->place = grown;
    queue->place_count = count;
    return WEIR_OK;
}

static weir_status reserve_entry(struct oracle_wait_heap *heap)
{
    if (heap->count < heap->capacity)
        return WEIR_OK;
    const size_t capacity = 2 * heap->capacity + 8;
    struct oracle_wait_entry *grown = realloc(heap->entries, capacity * sizeof(*grown));
    if (grown == NULL)
        return WEIR_ENOMEM;
    heap->entries = grown;
    heap->capacity = capacity;
    return WEIR_OK;
}

/* ---- the queue ---- */

weir_status oracle_wait_queue_push(struct oracle_wait_queue *queue,
                                   const struct oracle_wait_entry *entry)
{
    struct oracle_wait_heap *heap = &queue->kinds[entry->kind];
    WEIR_TRY(reserve_place(queue, entry->slot));
    WEIR_TRY(reserve_entry(heap));
    put(queue, heap, heap->count++, *entry);
    rise(queue, heap, heap->count - 1);
    queue->count++;
    return WEIR_OK;
}

void oracle_wait_queue_remove(struct oracle_wait_queue *queue, uint32_t kind, uint32_t slot)
{
    struct oracle_wait_heap *heap = &queue->kinds[kind];
    const size_t place = queue->place[slot];
    const struct oracle_wait_entry last = heap->entries[--heap->count];
    queue->count--;
    if (place == heap->count)
        return;
    put(queue, heap, place, last);
    rise(queue, heap, place);
    sink(queue, heap, queue->place[last.slot]);
}

const struct oracle_wait_entry *oracle_wait_queue_first(const struct oracle_wait_queue *queue,
                                                        bool is_strict)
{
    const struct oracle_wait_heap *best = NULL;
    for (uint32_t k = 0; k < queue->kind_count; k++) {
        const struct oracle_wait_heap *heap = &queue->kinds[k];
        if (heap->count == 0 || (heap->is_settled && !is_strict))
            continue;
        if (best == NULL || is_before(&heap->entries[0], &best->entries[0]))
            best = heap;
    }
    return best == NULL || best->is_settled ? NULL : &best->entries[0];
}

void oracle_wait_queue_unsettle(struct oracle_wait_queue *queue)
{
    for (uint32_t k = 0; k < queue->kind_count; k++)
        queue->kinds[k].is_settled = false;
}

void oracle_wait_queue_reorder(struct oracle_wait_queue *queue, uint32_t kind)
{
    struct oracle_wait_heap *heap = &queue->kinds[kind];
    for (size_t place = heap->count / 2; place-- > 0;)
        sink(queue, heap, place);
}
