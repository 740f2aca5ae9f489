/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workers of a pool in blocks; see pool_list.h.
 */
#include "sched/cluster/pool_list.h"

#include "sched/internal/alloc.h"

#include <string.h>

void weir_pool_list_free(struct weir_pool_list *list, const struct weir_allocator *allocator)
{
    weir_free(allocator, list->rooms);
    weir_free(allocator, list->blocks);
    *list = (struct weir_pool_list){ .rooms = NULL };
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
    uint32_t room_capacity = list->block_capacity;
    struct weir_pool_room *const rooms =
        weir_grow(allocator, list->rooms, &room_capacity, capacity, sizeof *rooms);
    if (rooms == NULL)
        return WEIR_ENOMEM;
    list->rooms = rooms;
    for (uint32_t b = list->block_capacity; b < capacity; b++)
        blocks[b] = (struct weir_pool_block){ .at = b };
    list->block_capacity = capacity;
    return WEIR_OK;
}

/* `count` of the one from `from` on, to the other from `at` on. */
static void move(struct weir_pool_room *to, uint32_t at, const struct weir_pool_room *one,
                 uint32_t from, uint32_t count)
{
    memmove(to->sequences + at, one->sequences + from, count * sizeof one->sequences[0]);
    memmove(to->slots + at, one->slots + from, count * sizeof one->slots[0]);
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
        move(&list->rooms[b], 0, &source->rooms[block->at], 0, block->count);
        list->blocks[b] =
            (struct weir_pool_block){ .first = block->first, .at = b, .count = block->count };
    }
    for (uint32_t b = source->block_count; b < list->block_capacity; b++)
        list->blocks[b] = (struct weir_pool_block){ .at = b };
    return WEIR_OK;
}

/* ---- blocks ---- */

static struct weir_pool_room *room_of(const struct weir_pool_list *list, uint32_t block)
{
    return &list->rooms[list->blocks[block].at];
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
    move(room_of(list, block), list->blocks[block].count, room_of(list, block + 1), 0,
         list->blocks[block + 1].count);
    list->blocks[block].count += list->blocks[block + 1].count;
    close_block(list, block + 1);
}

/* The upper half of a full block becomes one of its own. */
static void split(struct weir_pool_list *list, uint32_t block)
{
    const uint32_t kept = WEIR_POOL_BLOCK / 2;

    open_block(list, block + 1);
    move(room_of(list, block + 1), 0, room_of(list, block), kept, WEIR_POOL_BLOCK - kept);
    list->blocks[block + 1].first = room_of(list, block + 1)->sequences[0];
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
static uint32_t place_in(const struct weir_pool_list *list, uint32_t block, uint64_t sequence)
{
    const uint64_t *const sequences = room_of(list, block)->sequences;
    uint32_t low = 0;
    uint32_t high = list->blocks[block].count;

    /* Nearly every insertion is at the end. */
    if (high == 0 || sequences[high - 1] < sequence)
        return high;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (sequences[middle] < sequence)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void put(struct weir_pool_list *list, uint32_t block, uint32_t place, uint64_t sequence,
                uint32_t slot)
{
    struct weir_pool_room *const room = room_of(list, block);

    move(room, place + 1, room, place, list->blocks[block].count - place);
    room->sequences[place] = sequence;
    room->slots[place] = slot;
    list->blocks[block].first = room->sequences[0];
    list->blocks[block].count++;
    list->count++;
    unsettle(list, block + 1);
}

bool weir_pool_list_insert(struct weir_pool_list *list, uint64_t sequence, uint32_t slot)
{
    const uint32_t block = list->block_count > 0 ? block_of(list, sequence) : 0;
    const uint32_t place = list->block_count > 0 ? place_in(list, block, sequence) : 0;

    if (list->block_count > 0 && list->blocks[block].count < WEIR_POOL_BLOCK) {
        put(list, block, place, sequence, slot);
        return true;
    }
    if (list->block_count == list->block_capacity)
        return false;
    if (block + 1 >= list->block_count && (list->block_count == 0 || place == WEIR_POOL_BLOCK)) {
        open_block(list, list->block_count); /* at the end of a list whose last block is full */
        put(list, list->block_count - 1, 0, sequence, slot);
        return true;
    }
    split(list, block);
    if (place > WEIR_POOL_BLOCK / 2)
        put(list, block + 1, place - WEIR_POOL_BLOCK / 2, sequence, slot);
    else
        put(list, block, place, sequence, slot);
    join(list, block + 1);
    if (block > 0)
        join(list, block - 1);
    return true;
}

bool weir_pool_list_extract(struct weir_pool_list *list, uint64_t sequence, uint32_t slot)
{
    if (list->count == 0)
        return false;
    const uint32_t block = block_of(list, sequence);
    const uint32_t place = place_in(list, block, sequence);
    struct weir_pool_room *const room = room_of(list, block);
    if (place >= list->blocks[block].count || room->slots[place] != slot)
        return false;
    list->count--;
    list->blocks[block].count--;
    move(room, place, room, place + 1, list->blocks[block].count - place);
    list->blocks[block].first = room->sequences[0];
    unsettle(list, block + 1);
    if (list->blocks[block].count == 0) {
        close_block(list, block);
        return true;
    }
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
    return room_of(list, low)->slots[position - list->blocks[low].before];
}
