/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Items, and the first-in-first-out lists they stand in.
 *
 * An item is in exactly one list at a time (a queue or a worker's hands), linked through `next`, so
 * moving it costs no allocation. Items live in one slab a pipeline; an index names a living item.
 *
 * `id` is the same in every policy: the position in the source, or a hash of (parent id, name of
 * the stage, child number) for what a stage made of it. All random draws about an item are keyed by
 * it.
 */
#ifndef SIM_QUEUE_ITEM_H
#define SIM_QUEUE_ITEM_H

#include "weir/status.h"

#include <stdbool.h>
#include <stdint.h>

#define SIM_NO_ITEM UINT32_MAX

struct sim_item {
    uint64_t id;
    int64_t admitted_ns;
    int64_t queued_ns;  /* since when it stands in its present queue */
    int64_t service_ns; /* work it has received so far */
    double size;
    double bytes;
    uint32_t item_class;
    uint32_t attempt; /* at the present stage */
    uint32_t deaths;  /* runtime: workers that died with it in hand, at the present stage */
    uint32_t next;
    uint32_t lies_on;    /* node + 1 in whose memory it is; 0 = nowhere */
    uint32_t task_items; /* items of the task it heads; only of tasks in a pool or held */
    uint32_t place;      /* of its bytes, see sim/pipeline/transfer.h */
    bool is_let_in;      /* by the service that it is a request of */
};

struct sim_item_slab {
    struct sim_item *items;
    uint32_t capacity;
    uint32_t used; /* indices handed out so far */
    uint32_t free; /* first of the free list */
    uint32_t alive;
};

/* WEIR_ENOMEM, or a fresh index with next = SIM_NO_ITEM and everything else 0. */
weir_status sim_item_new(struct sim_item_slab *slab, uint32_t *index);
void sim_item_free(struct sim_item_slab *slab, uint32_t index);
void sim_item_slab_clear(struct sim_item_slab *slab);

/* The id of child number `child` that `stage` (the hash of its name) makes of `parent`. */
uint64_t sim_item_child_id(uint64_t parent, uint64_t stage, uint32_t child);

struct sim_queue {
    uint32_t head, tail;
    uint64_t count;
    double bytes;
};

#define SIM_QUEUE_EMPTY ((struct sim_queue){ SIM_NO_ITEM, SIM_NO_ITEM, 0, 0.0 })

static inline void sim_queue_push(struct sim_queue *queue, struct sim_item_slab *slab,
                                  uint32_t index)
{
    slab->items[index].next = SIM_NO_ITEM;
    if (queue->count == 0)
        queue->head = index;
    else
        slab->items[queue->tail].next = index;
    queue->tail = index;
    queue->count++;
    queue->bytes += slab->items[index].bytes;
}

static inline void sim_queue_push_front(struct sim_queue *queue, struct sim_item_slab *slab,
                                        uint32_t index)
{
    slab->items[index].next = queue->head;
    if (queue->count == 0)
        queue->tail = index;
    queue->head = index;
    queue->count++;
    queue->bytes += slab->items[index].bytes;
}

/* The queue must not be empty. */
static inline uint32_t sim_queue_pop(struct sim_queue *queue, struct sim_item_slab *slab)
{
    const uint32_t index = queue->head;
    queue->head = slab->items[index].next;
    queue->count--;
    queue->bytes = queue->count == 0 ? 0.0 : queue->bytes - slab->items[index].bytes;
    slab->items[index].next = SIM_NO_ITEM;
    return index;
}

#endif
