/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workers of a pool in blocks; see pool_list.h.
 */
#include "sched/cluster/pool_list.h"

#include "sched/cluster/state.h"
#include "sched/internal/alloc.h"

#include <string.h>

void weir_pool_list_free(struct weir_pool_list *list, const struct weir_allocator *allocator)
{
    weir_free(allocator, list->slots);
    weir_free(allocator, list->blocks);
    *list = (struct weir_pool_list){ .slots = NULL };
}

weir_status weir_pool_list_reserve(struct weir_pool_list *list,
                                   const struct weir_allocator *allocator, uint32_t count)
{
    const uint32_t needed = (uint32_t)((uint64_t)count * 2 / WEIR_POOL_BLOCK + 2);
    uint32_t capacity = list->block_capacity;

    if (needed <= capacity)
        return WEIR_OK;
    struct weir_pool_block *const blocks =
        weir_grow(allocator, list->blocks, &capacity, needed, sizeof *blocks);
    if (blocks == NULL)
        return WEIR_ENOMEM;
    list->blocks = blocks;
    uint32_t slot_capacity = list->block_capacity;
    uint32_t *const slots = weir_grow(allocator, list->slots, &slot_capacity, capacity,
                                      WEIR_POOL_BLOCK * sizeof *slots);
    if (slots == NULL)
        return WEIR_ENOMEM;
    list->slots = slots;
    for (uint32_t b = list->block_capacity; b < capacity; b++)
        blocks[b] = (struct weir_pool_block){ .at = b };
    list->block_capacity = capacity;
    return WEIR_OK;
}

weir_status weir_pool_list_copy(struct weir_pool_list *list, const struct weir_allocator *allocator,
                                const struct weir_pool_list *source)
{
    WEIR_TRY(weir_pool_list_reserve(list, allocator, source->count));
    list->count = source->count;
    list->block_count = source->block_count;
    list->settled = 0;
    for (uint32_t b = 0; b < source->block_count; b++) {
        const struct weir_pool_block *const block = &source->blocks[b];
        memcpy(list->slots + (size_t)b * WEIR_POOL_BLOCK,
               source->slots + (size_t)block->at * WEIR_POOL_BLOCK,
               block->count * sizeof *list->slots);
        list->blocks[b] =
            (struct weir_pool_block){ .first = block->first, .at = b, .count = block->count };
    }
    for (uint32_t b = source->block_count; b < list->block_capacity; b++)
        list->blocks[b] = (struct weir_pool_block){ .at = b };
    return WEIR_OK;
}

/* ---- blocks ---- */

static uint32_t *slots_of(const struct weir_pool_list *list, uint32_t block)
{
    return list->slots + (size_t)list->blocks[block].at * WEIR_POOL_BLOCK;
}

static void unsettle(struct weir_pool_list *list, uint32_t from)
{
    if (list->settled > from)
        list->settled = from;
}

/* An empty block, as number `block` of the list. */
static void open_block(struct weir_pool_list *list, uint32_t block)
{
    const uint32_t at = list->blocks[list->block_count].at;

    memmove(list->blocks + block + 1, list->blocks + block,
            (list->block_count - block) * sizeof *list->blocks);
    list->blocks[block] = (struct weir_pool_block){ .at = at };
    list->block_count++;
    unsettle(list, block);
}

static void close_block(struct weir_pool_list *list, uint32_t block)
{
    const uint32_t at = list->blocks[block].at;

    list->block_count--;
    memmove(list->blocks + block, list->blocks + block + 1,
            (list->block_count - block) * sizeof *list->blocks);
    list->blocks[list->block_count] = (struct weir_pool_block){ .at = at };
    unsettle(list, block);
}

/* With the one after it, when both fit into one. */
static void join(struct weir_pool_list *list, uint32_t block)
{
    if (block + 1 >= list->block_count ||
        list->blocks[block].count + list->blocks[block + 1].count > WEIR_POOL_BLOCK)
        return;
    memcpy(slots_of(list, block) + list->blocks[block].count, slots_of(list, block + 1),
           list->blocks[block + 1].count * sizeof *list->slots);
    list->blocks[block].count += list->blocks[block + 1].count;
    close_block(list, block + 1);
}

/* The upper half of a full block becomes one of its own. */
static void split(struct weir_pool_list *list, const struct weir_worker_slot *all, uint32_t block)
{
    const uint32_t kept = WEIR_POOL_BLOCK / 2;

    open_block(list, block + 1);
    memcpy(slots_of(list, block + 1), slots_of(list, block) + kept,
           (WEIR_POOL_BLOCK - kept) * sizeof *list->slots);
    list->blocks[block + 1].first = all[slots_of(list, block + 1)[0]].sequence;
    list->blocks[block + 1].count = WEIR_POOL_BLOCK - kept;
    list->blocks[block].count = kept;
}

/* ---- places ---- */

/* The last block that begins at or before `sequence`, else the first. */
static uint32_t block_of(const struct weir_pool_list *list, uint64_t sequence)
{
    uint32_t low = 0;
    uint32_t high = list->block_count;

    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (list->blocks[middle].first <= sequence)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The first place in a block whose sequence is not below `sequence`. */
static uint32_t place_in(const struct weir_pool_list *list, const struct weir_worker_slot *all,
                         uint32_t block, uint64_t sequence)
{
    const uint32_t *const slots = slots_of(list, block);
    uint32_t low = 0;
    uint32_t high = list->blocks[block].count;

    /* Nearly every insertion is at the end. */
    if (high == 0 || all[slots[high - 1]].sequence < sequence)
        return high;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (all[slots[middle]].sequence < sequence)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void put(struct weir_pool_list *list, const struct weir_worker_slot *all, uint32_t block,
                uint32_t place, uint32_t slot)
{
    uint32_t *const slots = slots_of(list, block);

    memmove(slots + place + 1, slots + place, (list->blocks[block].count - place) * sizeof *slots);
    slots[place] = slot;
    if (place == 0)
        list->blocks[block].first = all[slot].sequence;
    list->blocks[block].count++;
    list->count++;
    unsettle(list, block + 1);
}

bool weir_pool_list_insert(struct weir_pool_list *list, const struct weir_worker_slot *all,
                           uint32_t slot)
{
    const uint64_t sequence = all[slot].sequence;
    uint32_t block = list->block_count > 0 ? block_of(list, sequence) : 0;
    uint32_t place = list->block_count > 0 ? place_in(list, all, block, sequence) : 0;

    if (list->block_count > 0 && list->blocks[block].count < WEIR_POOL_BLOCK) {
        put(list, all, block, place, slot);
        return true;
    }
    if (list->block_count == list->block_capacity)
        return false;
    if (block + 1 >= list->block_count && (list->block_count == 0 || place == WEIR_POOL_BLOCK)) {
        open_block(list, list->block_count); /* at the end of a list whose last block is full */
        put(list, all, list->block_count - 1, 0, slot);
        return true;
    }
    split(list, all, block);
    if (place > WEIR_POOL_BLOCK / 2)
        put(list, all, block + 1, place - WEIR_POOL_BLOCK / 2, slot);
    else
        put(list, all, block, place, slot);
    join(list, block + 1);
    if (block > 0)
        join(list, block - 1);
    return true;
}

bool weir_pool_list_extract(struct weir_pool_list *list, const struct weir_worker_slot *all,
                            uint32_t slot)
{
    if (list->count == 0)
        return false;
    const uint32_t block = block_of(list, all[slot].sequence);
    uint32_t *const slots = slots_of(list, block);
    uint32_t place = list->blocks[block].count;
    /* Side by side, the latest first: sooner done than a search by sequences, which lie far apart.
     */
    while (place > 0 && slots[place - 1] != slot)
        place--;
    if (place-- == 0)
        return false;
    list->count--;
    list->blocks[block].count--;
    memmove(slots + place, slots + place + 1, (list->blocks[block].count - place) * sizeof *slots);
    unsettle(list, block + 1);
    if (list->blocks[block].count == 0) {
        close_block(list, block);
        return true;
    }
    if (place == 0)
        list->blocks[block].first = all[slots[0]].sequence;
    join(list, block);
    if (block > 0)
        join(list, block - 1);
    return true;
}

uint32_t weir_pool_list_at(struct weir_pool_list *list, uint32_t position)
{
    uint32_t low = 0;
    uint32_t high = list->block_count;

    for (; list->settled < list->block_count; list->settled++) {
        const uint32_t b = list->settled;
        list->blocks[b].before =
            b == 0 ? 0 : list->blocks[b - 1].before + list->blocks[b - 1].count;
    }
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (list->blocks[middle].before <= position)
            low = middle;
        else
            high = middle;
    }
    return slots_of(list, low)[position - list->blocks[low].before];
}
