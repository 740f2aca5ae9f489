/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The workers of one pool that a plan has stopped so far, in the order they were stopped, and by
 * node.
 *
 * Numbers are given in the order of stopping and never change; a worker that is taken back leaves a
 * hole. So adding and taking cost O(devices), however many there are. A place can come back only
 * where the inventory changes, so a policy that follows changes looks at the workers of one node at
 * a time.
 *
 * `round` differs after every clear; `changes` of a node counts what came and went there.
 */
#ifndef SCHED_INTERNAL_STOPPED_H
#define SCHED_INTERNAL_STOPPED_H

#include "weir/cluster.h"

struct weir_stopped_entry {
    uint64_t id;
    int64_t cpu_units;
    int64_t ram_bytes;
    uint32_t node;
    uint32_t next; /* stopped before it on the same node, or WEIR_NO_INDEX */
    uint32_t previous;
    uint32_t is_there; /* 0 = hole */
    uint32_t device_count;
    uint32_t more; /* the second and later devices: index into devices */
    struct weir_device first;
};

struct weir_stopped_node {
    uint32_t first; /* the latest, or WEIR_NO_INDEX */
    uint32_t changes;
    uint32_t added; /* those of them that came */
};

/* Zeroed = empty. */
struct weir_stopped {
    struct weir_stopped_entry *entries;
    uint32_t entry_count, entry_capacity; /* holes included */
    uint32_t live;
    struct weir_device *devices;
    uint32_t device_count, device_capacity;
    struct weir_stopped_node *nodes;
    uint32_t node_count, node_capacity;
    uint64_t round;
};

void weir_stopped_free(struct weir_stopped *stopped, const struct weir_allocator *allocator);
/* O(workers since the last clear); the memory stays. */
void weir_stopped_clear(struct weir_stopped *stopped);
weir_status weir_stopped_add(struct weir_stopped *stopped, const struct weir_allocator *allocator,
                             const struct weir_worker *worker);
/* Makes a hole of a number that is there. */
void weir_stopped_take(struct weir_stopped *stopped, uint32_t number);
/* What worker `number` held; only devices in use are written. */
void weir_stopped_alloc(const struct weir_stopped *stopped, uint32_t number,
                        struct weir_alloc *alloc);

static inline bool weir_stopped_has(const struct weir_stopped *stopped, uint32_t number)
{
    return number < stopped->entry_count && stopped->entries[number].is_there != 0;
}

/* The latest worker stopped on `node`, or WEIR_NO_INDEX; those before it follow by `next`. */
static inline uint32_t weir_stopped_first(const struct weir_stopped *stopped, uint32_t node)
{
    return node < stopped->node_count ? stopped->nodes[node].first : WEIR_NO_INDEX;
}

static inline struct weir_stopped_node weir_stopped_at(const struct weir_stopped *stopped,
                                                       uint32_t node)
{
    return node < stopped->node_count ? stopped->nodes[node]
                                      : (struct weir_stopped_node){ .first = WEIR_NO_INDEX };
}

#endif
