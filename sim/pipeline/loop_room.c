/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Slots that are free, by how many are in use; see loop_room.h. */
#include "sim/pipeline/loop_room.h"

#include "sim/pipeline/transfer.h"

#include <stdlib.h>

/* Lists there are; the last is of workers that use so many slots or more. */
enum { MOST_LISTS = 256 };

static uint32_t lists_of(const struct sim_loop_stage *loop)
{
    return loop->listed_slots < MOST_LISTS ? loop->listed_slots : MOST_LISTS;
}

weir_status sim_loop_room_reserve(struct sim_stage_run *stage, uint32_t positions)
{
    struct sim_loop_stage *loop = &stage->loop;
    for (uint32_t u = 0; u < lists_of(loop); u++)
        WEIR_TRY(sim_ready_set_reserve(&loop->free_with[u], positions));
    return sim_ready_set_reserve(&loop->over, positions);
}

void sim_loop_room_clear(struct sim_loop_stage *loop)
{
    for (uint32_t u = 0; u < lists_of(loop); u++)
        sim_ready_set_clear(&loop->free_with[u]);
    free(loop->free_with);
    loop->free_with = NULL;
    loop->listed_slots = 0;
    sim_ready_set_clear(&loop->over);
}

/* The list it belongs to, NULL = none. */
static struct sim_ready_set *list_of(const struct sim_stage_run *stage, const struct sim_hand *hand)
{
    const uint32_t used = hand->used_slots;
    return hand->worker->state == SIM_WORKER_SETUP || used >= stage->loop.listed_slots
               ? NULL
               : &stage->loop.free_with[used < MOST_LISTS ? used : MOST_LISTS - 1];
}

/* The list it is in. Looked for, as slots are few and workers many: no worker remembers it. */
static struct sim_ready_set *listed_in(const struct sim_stage_run *stage,
                                       const struct sim_hand *hand)
{
    for (uint32_t u = 0; u < lists_of(&stage->loop); u++)
        if (sim_ready_set_has(&stage->loop.free_with[u], hand->position))
            return &stage->loop.free_with[u];
    return NULL;
}

void sim_loop_room_list(struct sim_stage_run *stage, struct sim_hand *hand)
{
    struct sim_ready_set *const list = list_of(stage, hand);
    struct sim_ready_set *const before = listed_in(stage, hand);
    if (list == before)
        return;
    if (before != NULL)
        sim_ready_set_remove(before, hand->position);
    if (list != NULL)
        sim_ready_set_add(list, hand->position);
}

void sim_loop_room_leave(struct sim_stage_run *stage, struct sim_hand *hand)
{
    struct sim_ready_set *const before = listed_in(stage, hand);
    if (before != NULL)
        sim_ready_set_remove(before, hand->position);
    sim_loop_room_over(stage, hand, false);
}

void sim_loop_room_move(struct sim_stage_run *stage, struct sim_hand *hand, uint32_t to)
{
    const bool is_over = hand->is_over;
    sim_loop_room_leave(stage, hand);
    hand->position = to;
    sim_loop_room_list(stage, hand);
    sim_loop_room_over(stage, hand, is_over);
}

void sim_loop_room_over(struct sim_stage_run *stage, struct sim_hand *hand, bool is_over)
{
    if (hand->is_over == is_over)
        return;
    hand->is_over = is_over;
    if (is_over)
        sim_ready_set_add(&stage->loop.over, hand->position);
    else
        sim_ready_set_remove(&stage->loop.over, hand->position);
}

weir_status sim_loop_room_fit(struct sim_stage_run *stage)
{
    struct sim_loop_stage *loop = &stage->loop;
    if (loop->listed_slots == stage->slots)
        return WEIR_OK;
    struct sim_ready_set *sets = calloc(MOST_LISTS, sizeof(*sets));
    if (sets == NULL)
        return WEIR_ENOMEM;
    for (uint32_t u = 0; u < lists_of(loop); u++)
        sim_ready_set_clear(&loop->free_with[u]);
    free(loop->free_with);
    loop->free_with = sets;
    loop->listed_slots = stage->slots;
    WEIR_TRY(sim_loop_room_reserve(stage, stage->capacity));
    for (uint32_t i = 0; i < stage->positions; i++) {
        if (stage->hands[i] != NULL)
            sim_loop_room_list(stage, stage->hands[i]);
    }
    return WEIR_OK;
}

/* The first of those that are listed where the bytes of `item` are, else the first. */
static struct sim_hand *nearest(const struct sim_stage_run *stage, const struct sim_ready_set *set,
                                uint32_t item)
{
    struct sim_hand *const first = stage->hands[sim_ready_set_first(set)];
    if (!stage->pipeline->moves_bytes || sim_transfer_is_there(stage, first, item))
        return first;
    for (uint32_t i = first->position + 1; i < stage->positions; i++)
        if (stage->hands[i] != NULL && sim_ready_set_has(set, i) &&
            sim_transfer_is_there(stage, stage->hands[i], item))
            return stage->hands[i];
    return first;
}

/* Likewise of the last list, whose workers may differ in what they use. */
static struct sim_hand *least(const struct sim_stage_run *stage, const struct sim_ready_set *set,
                              uint32_t item)
{
    struct sim_hand *best = NULL;
    bool is_best_there = false;
    for (uint32_t i = sim_ready_set_first(set); i < stage->positions; i++) {
        struct sim_hand *const hand = stage->hands[i];
        if (hand == NULL || !sim_ready_set_has(set, i) ||
            (best != NULL && hand->used_slots > best->used_slots))
            continue;
        const bool is_there =
            stage->pipeline->moves_bytes && sim_transfer_is_there(stage, hand, item);
        if (best != NULL && hand->used_slots == best->used_slots && is_there <= is_best_there)
            continue;
        best = hand;
        is_best_there = is_there;
    }
    return best;
}

struct sim_hand *sim_loop_room_freest(const struct sim_stage_run *stage, uint32_t item)
{
    for (uint32_t u = 0; u < lists_of(&stage->loop); u++) {
        const struct sim_ready_set *set = &stage->loop.free_with[u];
        if (set->count > 0)
            return u + 1 < MOST_LISTS ? nearest(stage, set, item) : least(stage, set, item);
    }
    return NULL;
}

bool sim_loop_room_check(const struct sim_stage_run *stage)
{
    const struct sim_loop_stage *loop = &stage->loop;
    uint32_t listed = 0;
    uint32_t over = 0;
    for (uint32_t i = 0; i < stage->positions; i++) {
        const struct sim_hand *hand = stage->hands[i];
        if (hand == NULL)
            continue;
        const struct sim_ready_set *list = list_of(stage, hand);
        if (list != listed_in(stage, hand) || hand->is_over != (hand->uncollected > 0))
            return false;
        listed += list != NULL ? 1 : 0;
        over += hand->is_over ? 1 : 0;
    }
    for (uint32_t u = 0; loop->free_with != NULL && u < lists_of(loop); u++)
        listed -= loop->free_with[u].count;
    return listed == 0 && over == loop->over.count;
}
