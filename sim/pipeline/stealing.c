/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tasks that change hands before they begin (see stealing.h). */
#include "sim/pipeline/stealing.h"

#include "sim/pipeline/loop_room.h"

static const int64_t PATIENCE_NS = SIM_NS_PER_S;

/* The next worker, in turn, that holds a task it has not begun. */
static struct sim_hand *next_donor(struct sim_stage_run *stage)
{
    for (uint32_t i = 0; i < stage->positions; i++) {
        const uint32_t position = (stage->loop.steal_from + i) % stage->positions;
        struct sim_hand *hand = stage->hands[position];
        if (hand == NULL || hand->used_slots <= 1 || hand->held.count == 0)
            continue;
        stage->loop.steal_from = position + 1;
        return hand;
    }
    return NULL;
}

/* The task of `donor` that was given out last. */
static void take_last(struct sim_item_slab *slab, struct sim_hand *donor, struct sim_hand *thief)
{
    struct sim_queue kept = SIM_QUEUE_EMPTY;
    while (donor->held.count > slab->items[donor->held.head].task_items)
        for (uint32_t left = slab->items[donor->held.head].task_items; left > 0; left--)
            sim_queue_push(&kept, slab, sim_queue_pop(&donor->held, slab));
    thief->held = donor->held;
    donor->held = kept;
    donor->used_slots--;
    thief->used_slots++;
}

void sim_stealing_turn(struct sim_stage_run *stage, bool *has_moved, int64_t *next_ns)
{
    const int64_t now_ns = sim_engine_now(stage->pipeline->context->engine);
    for (uint32_t i = 0; stage->idle.count > 0 && i < stage->positions; i++) {
        struct sim_hand *hand = stage->hands[i];
        if (hand == NULL || hand->worker->state != SIM_WORKER_IDLE || hand->used_slots > 0)
            continue;
        struct sim_hand *donor = next_donor(stage);
        if (donor == NULL)
            return;
        const int64_t due_ns = hand->worker->since_ns + PATIENCE_NS;
        if (due_ns > now_ns) {
            *next_ns = due_ns < *next_ns ? due_ns : *next_ns;
            continue;
        }
        take_last(&stage->pipeline->items, donor, hand);
        sim_loop_room_list(stage, donor);
        sim_loop_room_list(stage, hand);
        stage->loop.owes_start = true;
        *has_moved = true;
    }
}
