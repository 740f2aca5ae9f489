/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stopped workers by number and by node; see stopped.h.
 *
 * Invariant: an entry that is there is in the chain of its node, and `live` counts them.
 */
#include "sched/internal/stopped.h"

#include "sched/internal/alloc.h"

void weir_stopped_free(struct weir_stopped *stopped, const struct weir_allocator *allocator)
{
    weir_free(allocator, stopped->entries);
    weir_free(allocator, stopped->devices);
    weir_free(allocator, stopped->nodes);
    *stopped = (struct weir_stopped){ .entries = NULL };
}

void weir_stopped_clear(struct weir_stopped *stopped)
{
    for (uint32_t i = 0; i < stopped->entry_count; i++)
        stopped->nodes[stopped->entries[i].node].first = WEIR_NO_INDEX;
    stopped->entry_count = 0;
    stopped->device_count = 0;
    stopped->live = 0;
    stopped->round++;
}

static weir_status reserve_nodes(struct weir_stopped *stopped,
                                 const struct weir_allocator *allocator, uint32_t count)
{
    WEIR_ROOM(allocator, stopped->nodes, stopped->node_capacity, count);
    for (; stopped->node_count < count; stopped->node_count++)
        stopped->nodes[stopped->node_count] = (struct weir_stopped_node){ .first = WEIR_NO_INDEX };
    return WEIR_OK;
}

static weir_status reserve(struct weir_stopped *stopped, const struct weir_allocator *allocator,
                           const struct weir_alloc *alloc)
{
    WEIR_TRY(reserve_nodes(stopped, allocator, alloc->node + 1));
    WEIR_ROOM(allocator, stopped->entries, stopped->entry_capacity, stopped->entry_count + 1);
    WEIR_ROOM(allocator, stopped->devices, stopped->device_capacity,
              stopped->device_count + alloc->device_count + 1);
    return WEIR_OK;
}

weir_status weir_stopped_add(struct weir_stopped *stopped, const struct weir_allocator *allocator,
                             const struct weir_worker *worker)
{
    const struct weir_alloc *const alloc = &worker->alloc;

    WEIR_TRY(reserve(stopped, allocator, alloc));
    const uint32_t number = stopped->entry_count++;
    struct weir_stopped_node *const node = &stopped->nodes[alloc->node];
    if (node->first != WEIR_NO_INDEX)
        stopped->entries[node->first].previous = number;
    stopped->entries[number] = (struct weir_stopped_entry){ .id = worker->id,
                                                            .cpu_units = alloc->cpu_units,
                                                            .ram_bytes = alloc->ram_bytes,
                                                            .node = alloc->node,
                                                            .next = node->first,
                                                            .previous = WEIR_NO_INDEX,
                                                            .is_there = 1,
                                                            .device_count = alloc->device_count,
                                                            .more = stopped->device_count };
    if (alloc->device_count > 0)
        stopped->entries[number].first = alloc->devices[0];
    for (uint32_t d = 1; d < alloc->device_count; d++)
        stopped->devices[stopped->device_count++] = alloc->devices[d];
    node->first = number;
    node->changes++;
    node->added++;
    stopped->live++;
    return WEIR_OK;
}

void weir_stopped_take(struct weir_stopped *stopped, uint32_t number)
{
    struct weir_stopped_entry *const entry = &stopped->entries[number];
    struct weir_stopped_node *const node = &stopped->nodes[entry->node];

    if (entry->next != WEIR_NO_INDEX)
        stopped->entries[entry->next].previous = entry->previous;
    if (entry->previous != WEIR_NO_INDEX)
        stopped->entries[entry->previous].next = entry->next;
    else
        node->first = entry->next;
    entry->is_there = 0;
    node->changes++;
    stopped->live--;
}

void weir_stopped_alloc(const struct weir_stopped *stopped, uint32_t number,
                        struct weir_alloc *alloc)
{
    const struct weir_stopped_entry *const entry = &stopped->entries[number];

    alloc->node = entry->node;
    alloc->device_count = entry->device_count;
    alloc->cpu_units = entry->cpu_units;
    alloc->ram_bytes = entry->ram_bytes;
    if (entry->device_count > 0)
        alloc->devices[0] = entry->first;
    for (uint32_t d = 1; d < entry->device_count; d++)
        alloc->devices[d] = stopped->devices[entry->more + d - 1];
}
