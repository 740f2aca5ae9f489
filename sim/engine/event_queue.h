/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The pending set of the engine: an indexed 4-ary heap of 16-byte records. Private to engine.c,
 * which inlines it into its run loop.
 *
 * Key = (time, order); order = phase (4 bits), sequence (36), slot (24), so keys never tie and the
 * slot never decides. Child choice is a tournament without branches: with random keys a branch
 * there is mispredicted half of the time and costs more than the loads.
 *
 * Invariants: position[slot] is the index of the record of that slot; every record beyond `size`
 * holds the greatest key, so a group of four children is always complete; groups start on a cache
 * line. The queue knows nothing of handles, of the clock or of what an event means.
 */
#ifndef SIM_ENGINE_EVENT_QUEUE_H
#define SIM_ENGINE_EVENT_QUEUE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    EVENT_QUEUE_SLOT_BITS = 24,
    EVENT_QUEUE_SEQUENCE_BITS = 36,
    EVENT_QUEUE_WAYS = 4,
    EVENT_QUEUE_LEAD = EVENT_QUEUE_WAYS - 1, /* unused records that align the first child group */
    EVENT_QUEUE_LINE = 64,
};

struct event_record {
    uint64_t time;
    uint64_t order;
};

struct event_queue {
    struct event_record *records; /* EVENT_QUEUE_LEAD records into the allocation */
    uint32_t *position;           /* by slot; owned by the slab, same capacity */
    uint32_t size;
    uint32_t capacity;
};

static inline uint32_t event_record_slot(struct event_record record)
{
    return (uint32_t)(record.order & ((UINT64_C(1) << EVENT_QUEUE_SLOT_BITS) - 1));
}

static inline unsigned event_record_phase(struct event_record record)
{
    return (unsigned)(record.order >> (EVENT_QUEUE_SLOT_BITS + EVENT_QUEUE_SEQUENCE_BITS));
}

/* Records move word by word: compilers would copy them through a 16-byte register, and a wide load
 * of two words just stored waits for both to reach the cache (a third of the cost of M/M/1). */
static inline struct event_record event_record_load(const struct event_record *from)
{
    const volatile struct event_record *words = from;
    const uint64_t time = words->time;
    return (struct event_record){ time, words->order };
}

static inline void event_record_store(struct event_record *to, struct event_record record)
{
    volatile struct event_record *words = to;
    words->time = record.time;
    words->order = record.order;
}

/* The two words as one 128-bit number: compare and subtract-with-borrow, no branch. */
static inline bool event_record_before(struct event_record a, struct event_record b)
{
    __extension__ typedef unsigned __int128 wide;
    return ((wide)a.time << 64 | a.order) < ((wide)b.time << 64 | b.order);
}

static inline void event_queue_place(struct event_queue *queue, uint32_t index,
                                     struct event_record record)
{
    event_record_store(&queue->records[index], record);
    queue->position[event_record_slot(record)] = index;
}

/* 1 when the record at `b` comes before the one at `a`. */
static inline uint32_t event_queue_second_wins(const struct event_record *a,
                                               const struct event_record *b)
{
    return event_record_before(event_record_load(b), event_record_load(a));
}

static inline uint32_t event_queue_first_child(const struct event_queue *queue, uint32_t group)
{
    const struct event_record *children = &queue->records[group];
    const uint32_t left = event_queue_second_wins(children, children + 1);
    const uint32_t right = 2 + event_queue_second_wins(children + 2, children + 3);
    const uint32_t take_right = event_queue_second_wins(children + left, children + right);
    return group + (left ^ ((left ^ right) & -take_right));
}

/* Fills the hole at `index` with `record`, moving the hole towards the leaves. */
static inline void event_queue_sift_down(struct event_queue *queue, uint32_t index,
                                         struct event_record record)
{
    for (;;) {
        const uint32_t group = EVENT_QUEUE_WAYS * index + 1;
        if (group >= queue->size)
            break;
        const uint32_t child = event_queue_first_child(queue, group);
        const struct event_record least = event_record_load(&queue->records[child]);
        if (!event_record_before(least, record))
            break;
        event_queue_place(queue, index, least);
        index = child;
    }
    event_queue_place(queue, index, record);
}

/* Fills the hole at `index` with `record`, moving the hole towards the root. */
static inline void event_queue_sift_up(struct event_queue *queue, uint32_t index,
                                       struct event_record record)
{
    while (index > 0) {
        const uint32_t parent = (index - 1) / EVENT_QUEUE_WAYS;
        const struct event_record above = event_record_load(&queue->records[parent]);
        if (!event_record_before(record, above))
            break;
        event_queue_place(queue, index, above);
        index = parent;
    }
    event_queue_place(queue, index, record);
}

/* Puts `record` in place of the root of a queue of one or two, which is common (a single server)
 * and needs no tournament: with one record the other is the greatest key. */
static inline void event_queue_replace_root_of_two(struct event_queue *queue,
                                                   struct event_record record)
{
    const struct event_record other = event_record_load(&queue->records[1]);
    if (event_record_before(other, record)) {
        event_queue_place(queue, 0, other);
        event_queue_place(queue, 1, record);
    } else {
        event_queue_place(queue, 0, record);
    }
}

/* Puts `record` where the record at `index` was, in whichever direction its key asks for. */
static inline void event_queue_replace(struct event_queue *queue, uint32_t index,
                                       struct event_record record)
{
    if (index > 0 && event_record_before(record, queue->records[(index - 1) / EVENT_QUEUE_WAYS]))
        event_queue_sift_up(queue, index, record);
    else
        event_queue_sift_down(queue, index, record);
}

/* The caller has made room: size < capacity. */
static inline void event_queue_push(struct event_queue *queue, struct event_record record)
{
    event_queue_sift_up(queue, queue->size++, record);
}

static inline void event_queue_remove(struct event_queue *queue, uint32_t index)
{
    const struct event_record last = event_record_load(&queue->records[--queue->size]);
    event_record_store(&queue->records[queue->size],
                       (struct event_record){ UINT64_MAX, UINT64_MAX });
    if (index < queue->size)
        event_queue_replace(queue, index, last);
}

static inline void event_queue_free(struct event_queue *queue)
{
    if (queue->records)
        free(queue->records - EVENT_QUEUE_LEAD);
    queue->records = NULL;
}

/* Room for `capacity` records, a multiple of 4; `position` is grown by its owner. */
static inline bool event_queue_grow(struct event_queue *queue, uint32_t capacity)
{
    /* One group more than asked: the children of the last record are read before they exist. */
    const size_t count = (size_t)capacity + 2 * (size_t)EVENT_QUEUE_WAYS;
    struct event_record *block =
        aligned_alloc(EVENT_QUEUE_LINE, count * sizeof(struct event_record));
    if (!block)
        return false;
    memset(block, 0xFF, count * sizeof *block);
    if (queue->size > 0)
        memcpy(block + EVENT_QUEUE_LEAD, queue->records, queue->size * sizeof *block);
    event_queue_free(queue);
    queue->records = block + EVENT_QUEUE_LEAD;
    queue->capacity = capacity;
    /* cppcheck-suppress memleak ; the block is queue->records, past its lead */
    return true;
}

#endif
