/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bytes between stages; see the header. */
#include "sim/pipeline/transfer.h"

#include "sim/pipeline/service.h"

#include <math.h>

static bool writes_to_store(const struct sim_stage_run *stage)
{
    return stage->pipeline->spec->transfers == SIM_TRANSFERS_STORE &&
           stage->position + 1 < stage->pipeline->stage_count;
}

/* ---- bringing ---- */

/* Items of the task that lie at one place other than here. */
static struct sim_move next_move(const struct sim_stage_run *stage, struct sim_hand *hand)
{
    const struct sim_pipeline_run *run = stage->pipeline;
    const uint32_t here = hand->worker->node + 1;
    struct sim_move move = { .from = WEIR_NO_INDEX,
                             .to = hand->worker->node,
                             .store = WEIR_NO_INDEX,
                             .owner = sim_work_owner(run->config.index, hand->slot) };
    hand->fetch_place = 0;
    for (uint32_t n = 0, i = hand->task_head; n < hand->task_count;
         n++, i = run->items.items[i].next) {
        const struct sim_item *item = &run->items.items[i];
        if (hand->fetch_place == 0 && item->place != here && item->bytes > 0)
            hand->fetch_place = item->place;
        if (hand->fetch_place == 0 || item->place != hand->fetch_place)
            continue;
        move.bytes += item->bytes;
        move.items++;
    }
    if (hand->fetch_place == SIM_PLACE_STORE) {
        move.store = run->spec->transfer_store;
        move.traffic = run->spec->traffic;
    } else if (hand->fetch_place == SIM_PLACE_INPUT) {
        move.store = run->spec->input.store;
        move.traffic = run->spec->input.traffic;
    } else {
        move.from = hand->fetch_place - 1;
    }
    return move;
}

/* All that lay there is here now. */
static void arrive(struct sim_stage_run *stage, const struct sim_hand *hand)
{
    struct sim_pipeline_run *run = stage->pipeline;
    for (uint32_t n = 0, i = hand->task_head; n < hand->task_count;
         n++, i = run->items.items[i].next) {
        struct sim_item *item = &run->items.items[i];
        if (item->place != hand->fetch_place)
            continue;
        sim_transfer_forget(run, item);
        item->place = hand->worker->node + 1;
    }
}

weir_status sim_transfer_fetch(struct sim_stage_run *stage, struct sim_hand *hand)
{
    const struct sim_context *context = stage->pipeline->context;
    struct sim_move *move = sim_hand_move(stage->pipeline, hand);
    for (;;) {
        *move = next_move(stage, hand);
        if (hand->fetch_place == 0)
            return WEIR_OK;
        WEIR_TRY(sim_move_begin(context, move));
        if (sim_move_is_under_way(move))
            return WEIR_OK;
        arrive(stage, hand);
    }
}

weir_status sim_transfer_fetched(struct sim_stage_run *stage, struct sim_hand *hand)
{
    struct sim_move *move = sim_hand_move(stage->pipeline, hand);
    WEIR_TRY(sim_move_worked(stage->pipeline->context, move));
    if (sim_move_is_under_way(move))
        return WEIR_OK;
    arrive(stage, hand);
    return sim_transfer_fetch(stage, hand);
}

/* ---- what is made ---- */

weir_status sim_transfer_store(struct sim_stage_run *stage, struct sim_hand *hand)
{
    struct sim_pipeline_run *run = stage->pipeline;
    struct sim_move *move = sim_hand_move(run, hand);
    *move = (struct sim_move){ .from = hand->worker->node,
                               .to = WEIR_NO_INDEX,
                               .store = run->spec->transfer_store,
                               .traffic = run->spec->traffic,
                               .owner = sim_work_owner(run->config.index, hand->slot) };
    if (!writes_to_store(stage) || hand->will_fail)
        return WEIR_OK;
    for (uint32_t n = 0, i = hand->task_head; n < hand->task_count;
         n++, i = run->items.items[i].next) {
        const struct sim_item *item = &run->items.items[i];
        const uint32_t returns = sim_service_returns(stage, item);
        move->bytes += returns * sim_service_bytes(stage, item);
        move->items += returns;
    }
    run->written_bytes += move->bytes;
    return move->bytes > 0 ? sim_move_begin(run->context, move) : WEIR_OK;
}

void sim_transfer_made(struct sim_stage_run *stage, const struct sim_hand *hand, uint32_t item,
                       uint32_t returns)
{
    struct sim_pipeline_run *run = stage->pipeline;
    struct sim_item *made = &run->items.items[item];
    if (!run->moves_bytes)
        return;
    made->place = stage->pipeline->spec->transfers == SIM_TRANSFERS_OFF ? 0
                  : writes_to_store(stage)                              ? SIM_PLACE_STORE
                                                                        : hand->worker->node + 1;
    if (made->place == SIM_PLACE_STORE)
        run->stored_bytes += returns * made->bytes;
}

void sim_transfer_forget(struct sim_pipeline_run *run, const struct sim_item *item)
{
    if (item->place == SIM_PLACE_STORE)
        run->taken_bytes += item->bytes;
}

/* ---- who takes it ---- */

bool sim_transfer_is_there(const struct sim_stage_run *stage, const struct sim_hand *hand,
                           uint32_t item)
{
    return stage->pipeline->moves_bytes &&
           stage->pipeline->items.items[item].place == hand->worker->node + 1;
}

struct sim_hand *sim_transfer_idle_there(const struct sim_stage_run *stage)
{
    const bool is_newest = stage->pipeline->spec->worker_choice == SIM_WORKER_NEWEST;
    struct sim_hand *found = NULL;
    if (stage->queue.count == 0)
        return NULL;
    const uint32_t place = stage->pipeline->items.items[stage->queue.head].place;
    if (place == 0 || place >= SIM_PLACE_INPUT || stage->idle_on[place - 1] == 0)
        return NULL;
    for (uint32_t i = 0; i < stage->positions && (found == NULL || is_newest); i++) {
        struct sim_hand *hand = stage->hands[i];
        if (hand != NULL && hand->worker->state == SIM_WORKER_IDLE &&
            sim_transfer_is_there(stage, hand, stage->queue.head))
            found = hand;
    }
    return found;
}

/* ---- conservation ---- */

static double bytes_there(const struct sim_pipeline_run *run, uint32_t head, uint64_t count)
{
    double sum = 0;
    for (uint64_t n = 0; n < count; n++, head = run->items.items[head].next)
        sum += run->items.items[head].place == SIM_PLACE_STORE ? run->items.items[head].bytes : 0;
    return sum;
}

static double stage_bytes_there(const struct sim_stage_run *stage)
{
    const struct sim_pipeline_run *run = stage->pipeline;
    double sum = bytes_there(run, stage->queue.head, stage->queue.count) +
                 bytes_there(run, stage->loop.pool.head, stage->loop.pool.count) +
                 bytes_there(run, stage->loop.outbox.head, stage->loop.outbox.count);
    for (uint32_t i = 0; i < stage->positions; i++) {
        const struct sim_hand *hand = stage->hands[i];
        if (hand != NULL)
            sum += bytes_there(run, hand->task_head, hand->task_count) +
                   bytes_there(run, hand->held.head, hand->held.count);
    }
    return sum;
}

weir_status sim_transfer_check(const struct sim_pipeline_run *run, struct weir_error *error)
{
    double there = 0;
    double writing = 0;
    if (run->spec->transfers != SIM_TRANSFERS_STORE)
        return WEIR_OK;
    for (uint32_t s = 0; s < run->stage_count; s++) {
        const struct sim_stage_run *stage = &run->stages[s];
        there += stage_bytes_there(stage);
        for (uint32_t i = 0; i < stage->positions; i++)
            if (stage->hands[i] != NULL && stage->hands[i]->phase == SIM_TASK_STORE)
                writing += sim_hand_move(run, stage->hands[i])->bytes;
    }
    const double slack = 1 + 1e-9 * run->written_bytes;
    if (fabs(run->written_bytes - writing - run->stored_bytes) > slack ||
        fabs(run->stored_bytes - run->taken_bytes - there) > slack)
        return weir_fail(error, WEIR_EINVARIANT,
                         "pipeline %s: %.0f bytes written (%.0f of them not yet), %.0f stored, "
                         "%.0f taken, %.0f there",
                         run->spec->name, run->written_bytes, writing, run->stored_bytes,
                         run->taken_bytes, there);
    return WEIR_OK;
}
