/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tasks: taking input, working on it, handing the output on (see pipeline.h).
 *
 * A task is a batch of items on one worker. All rules about room are here; *when* they are asked is
 * the flow rule's business.
 */
#include "sim/engine/room.h"
#include "sim/pipeline/batching.h"
#include "sim/pipeline/flow.h"
#include "sim/pipeline/loop_room.h"
#include "sim/pipeline/pipeline.h"
#include "sim/pipeline/recovery.h"
#include "sim/pipeline/reservation.h"
#include "sim/pipeline/service.h"
#include "sim/pipeline/transfer.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

static bool is_last(const struct sim_stage_run *stage)
{
    return stage->position + 1 == stage->pipeline->stage_count;
}

/* Whether a backlog still stands behind the first stage. */
bool sim_stage_has_backlog(const struct sim_stage_run *stage)
{
    return stage->position == 0 && stage->pipeline->spec->input.arrivals == NULL &&
           stage->pipeline->source_left > 0;
}

static uint64_t there(const struct sim_stage_run *stage)
{
    const uint64_t queued = sim_batching_is_coming(stage) ? 0 : stage->queue.count;
    return queued + stage->loop.pool.count + sim_batching_waiting(stage);
}

uint64_t sim_stage_waiting(const struct sim_stage_run *stage)
{
    return (sim_stage_has_backlog(stage) ? stage->pipeline->source_left : 0) + there(stage);
}

/* Nothing more can arrive in front of the stage; a backlog behind it is there already. */
static bool upstream_is_empty(const struct sim_stage_run *stage)
{
    const struct sim_pipeline_run *run = stage->pipeline;
    if (sim_source_is_awaited(run) || (run->source_left > 0 && !sim_stage_has_backlog(stage)))
        return false;
    for (uint32_t i = 0; i < stage->position; i++) {
        const struct sim_stage_run *before = &run->stages[i];
        if (before->queue.count > 0 || before->count[SIM_WORKER_BUSY] > 0 ||
            before->count[SIM_WORKER_BLOCKED] > 0)
            return false;
    }
    return true;
}

/* Items of the next task; 0 = not enough for one. A rest smaller than the batch goes only when
 * nothing can be added to it. */
static uint32_t next_batch(const struct sim_stage_run *stage)
{
    const uint32_t batch = stage->spec->batch;
    uint64_t available = stage->queue.count;
    if (sim_stage_has_backlog(stage))
        available = stage->pipeline->source_left == UINT64_MAX
                        ? UINT64_MAX
                        : available + stage->pipeline->source_left;
    if (available >= batch)
        return batch;
    if (available == 0 || !upstream_is_empty(stage))
        return 0;
    return (uint32_t)available;
}

/* The slots rule of the original: what a stage works on plus what stands finished behind it stays
 * below workers * slots, workers in set-up included. A batch of the next stage always fills, or it
 * would wait for items that nobody may make. */
static bool has_room(const struct sim_stage_run *stage)
{
    const struct sim_pipeline *spec = stage->pipeline->spec;
    if (spec->backpressure == SIM_BACKPRESSURE_RESERVATION)
        return sim_reservation_has_room(stage);
    if (spec->backpressure != SIM_BACKPRESSURE_SLOTS &&
        spec->backpressure != SIM_BACKPRESSURE_FORMULA)
        return true;
    const double busy = stage->count[SIM_WORKER_BUSY];
    const double bound = (double)stage->worker_count * stage->slots * spec->slots_multiplier;
    if (is_last(stage))
        return busy < bound;
    const double in_hand = busy + (double)stage[1].queue.count / stage->outputs_per_task;
    return in_hand < bound || (spec->backpressure == SIM_BACKPRESSURE_SLOTS &&
                               in_hand < stage[1].spec->batch / stage->outputs_per_task);
}

bool sim_stage_has_task(const struct sim_stage_run *stage)
{
    return stage->idle.count > 0 && stage->stalled == 0 && next_batch(stage) > 0;
}

bool sim_stage_can_start(const struct sim_stage_run *stage)
{
    return sim_stage_has_task(stage) && has_room(stage);
}

struct sim_hand *sim_stage_pick_idle(const struct sim_stage_run *stage)
{
    struct sim_hand *there = stage->pipeline->moves_bytes ? sim_transfer_idle_there(stage) : NULL;
    if (there != NULL)
        return there;
    const uint32_t position = stage->pipeline->spec->worker_choice == SIM_WORKER_NEWEST
                                  ? sim_ready_set_last(&stage->idle)
                                  : sim_ready_set_first(&stage->idle);
    return stage->hands[position];
}

void sim_stage_note_backpressure(struct sim_stage_run *stage)
{
    const struct sim_context *context = stage->pipeline->context;
    const bool is_on = stage->blocked_count > 0 ||
                       (stage->idle.count > 0 && next_batch(stage) > 0 && !has_room(stage));
    if (is_on == stage->is_backpressured)
        return;
    stage->is_backpressured = is_on;
    sim_meter_backpressure(context->meter, sim_engine_now(context->engine), stage->index, is_on);
}

void sim_stage_note_queue(const struct sim_stage_run *stage)
{
    const struct sim_context *context = stage->pipeline->context;
    const double queued = sim_batching_is_coming(stage) ? 0 : stage->queue.bytes;
    sim_meter_queue(context->meter, sim_engine_now(context->engine), stage->index, there(stage),
                    queued + stage->loop.pool.bytes + stage->batching.bytes);
}

void sim_stage_hold(struct sim_stage_run *stage, struct sim_hand *hand,
                    const struct sim_queue *task)
{
    hand->task_head = task->head;
    hand->task_count = (uint32_t)task->count;
    hand->input_bytes = task->bytes;
    if (stage->count[SIM_WORKER_BUSY] == 0)
        stage->bytes_in_hand = 0; /* no rest of many roundings */
    stage->bytes_in_hand += task->bytes;
}

/* Moves `count` items from the queue (or the backlog) into the worker's hands, order kept. */
static weir_status take_items(struct sim_stage_run *stage, struct sim_hand *hand, uint32_t count)
{
    struct sim_pipeline_run *run = stage->pipeline;
    const int64_t now_ns = sim_engine_now(run->context->engine);
    struct sim_queue task = SIM_QUEUE_EMPTY;
    const bool from_queue = stage->queue.count > 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t item = SIM_NO_ITEM;
        WEIR_TRY(sim_stage_next_item(stage, &item));
        sim_meter_wait(run->context->meter, now_ns, stage->index,
                       now_ns - run->items.items[item].queued_ns);
        sim_queue_push(&task, &run->items, item);
    }
    sim_stage_hold(stage, hand, &task);
    if (from_queue)
        sim_meter_queue(run->context->meter, now_ns, stage->index, stage->queue.count,
                        stage->queue.bytes);
    return WEIR_OK;
}

static bool attempt_fails(const struct sim_stage_run *stage, const struct sim_item *item)
{
    const double probability =
        stage->spec->process_failure + (1.0 - stage->spec->process_failure) * stage->fail;
    if (!(probability > 0))
        return false;
    struct sim_stream stream;
    const struct sim_stream_key key = { item->id, 0, item->attempt };
    sim_stream_open(&stream, &stage->random, SIM_DRAW_PROCESS_FAILURE, key);
    return sim_stream_uniform(&stream) < probability;
}

weir_status sim_stage_start(struct sim_stage_run *stage, struct sim_hand *hand)
{
    WEIR_TRY(take_items(stage, hand, next_batch(stage)));
    return sim_stage_work(stage, hand);
}

weir_status sim_stage_work(struct sim_stage_run *stage, struct sim_hand *hand)
{
    struct sim_pipeline_run *run = stage->pipeline;
    assert(hand->worker->state == SIM_WORKER_IDLE);
    sim_stage_leave_idle(stage, hand);
    stage->count[SIM_WORKER_IDLE]--;
    stage->count[SIM_WORKER_BUSY]++;
    sim_worker_set_state(run->config.workers, hand->worker, SIM_WORKER_BUSY);
    sim_stage_pick_up(stage, hand);
    const struct sim_task task = { &run->items, hand->task_head, hand->task_count };
    const struct sim_service_time time = sim_service_draw(stage, &task, hand->worker);
    hand->task_start_ns = sim_engine_now(run->context->engine);
    hand->demand_ns = sim_time_from_s(time.demand_s);
    hand->will_fail = attempt_fails(stage, &run->items.items[hand->task_head]);
    WEIR_TRY(sim_stage_activate(stage, hand));
    return run->flow->begin_service(stage, hand, time.actual_s * stage->slow);
}

void sim_pipeline_item_done(struct sim_pipeline_run *run, uint32_t index, bool is_finished)
{
    const struct sim_item *item = &run->items.items[index];
    const int64_t now_ns = sim_engine_now(run->context->engine);
    sim_transfer_forget(run, item);
    sim_meter_item_done(run->context->meter, now_ns, run->index, now_ns - item->admitted_ns,
                        item->service_ns, !is_finished);
    sim_context_digest(run->context, is_finished ? 1 : 2, item->id, now_ns);
    if (is_finished) {
        sim_batching_served(run, item);
        run->finished++;
    } else {
        run->dropped++;
    }
    sim_pipeline_item_leaves(run, &run->items.items[index]);
    sim_item_free(&run->items, index);
    if (sim_pipeline_is_done(run))
        run->completed_ns = run->flow->completed_ns(run, now_ns);
}

/* A failed attempt: its items try again from the front of the queue, or are given up. */
static void repeat_items(struct sim_stage_run *stage, struct sim_hand *hand)
{
    struct sim_pipeline_run *run = stage->pipeline;
    const int64_t now_ns = sim_engine_now(run->context->engine);
    while (hand->task_count > 0) {
        const uint32_t index = hand->task_head;
        struct sim_item *item = &run->items.items[index];
        hand->task_head = item->next;
        hand->task_count--;
        item->attempt++;
        item->queued_ns = now_ns;
        const bool is_exhausted = item->attempt >= stage->spec->max_attempts;
        sim_meter_retry(run->context->meter, now_ns, is_exhausted);
        if (is_exhausted)
            sim_pipeline_item_done(run, index, false);
        else
            sim_queue_push_front(&stage->queue, &run->items, index);
    }
    hand->task_head = SIM_NO_ITEM;
    sim_stage_note_queue(stage);
}

static weir_status add_child(struct sim_stage_run *stage, uint32_t parent, uint32_t number,
                             struct sim_queue *output)
{
    struct sim_pipeline_run *run = stage->pipeline;
    uint32_t index = SIM_NO_ITEM;
    WEIR_TRY(sim_item_new(&run->items, &index));
    struct sim_item *child = &run->items.items[index];
    *child = run->items.items[parent];
    child->id = sim_item_child_id(child->id, stage->random.owner, number);
    child->next = SIM_NO_ITEM;
    const int64_t now_ns = sim_engine_now(run->context->engine);
    sim_meter_item_split(run->context->meter, now_ns, run->index, now_ns - child->admitted_ns);
    sim_queue_push(output, &run->items, index);
    return WEIR_OK;
}

/* What one item of the task becomes: itself, nothing, or itself and children. */
static weir_status collect_output(struct sim_stage_run *stage, const struct sim_hand *hand,
                                  uint32_t index, struct sim_queue *output)
{
    struct sim_pipeline_run *run = stage->pipeline;
    const uint32_t returns = sim_service_returns(stage, &run->items.items[index]);
    struct sim_item *item = &run->items.items[index];
    item->service_ns +=
        sim_engine_now(run->context->engine) - hand->task_start_ns - sim_hand_pause_ns(hand);
    item->bytes = sim_service_bytes(stage, item);
    sim_transfer_made(stage, hand, index, returns);
    if (returns == 0) {
        item->bytes = 0;
        sim_pipeline_item_done(run, index, false);
        return WEIR_OK;
    }
    item->attempt = 0;
    item->deaths = 0;
    item->queued_ns = sim_engine_now(run->context->engine);
    const uint64_t id = item->id;
    sim_queue_push(output, &run->items, index);
    for (uint32_t child = 1; child < returns; child++)
        WEIR_TRY(add_child(stage, index, child, output));
    if (returns > 1) /* the first child needs its own name too: two stages may fan out */
        run->items.items[index].id = sim_item_child_id(id, stage->random.owner, 0);
    return WEIR_OK;
}

static weir_status block(struct sim_stage_run *stage, struct sim_hand *hand)
{
    SIM_ROOM(stage->blocked, stage->blocked_capacity, stage->blocked_count + 1);
    sim_stage_put_down(stage, hand);
    stage->blocked[stage->blocked_count++] = hand->slot;
    stage->count[SIM_WORKER_BUSY]--;
    stage->count[SIM_WORKER_BLOCKED]++;
    sim_worker_set_state(stage->pipeline->config.workers, hand->worker, SIM_WORKER_BLOCKED);
    return WEIR_OK;
}

void sim_stage_put_down(struct sim_stage_run *stage, struct sim_hand *hand)
{
    stage->bytes_in_hand -= hand->input_bytes;
    hand->input_bytes = 0;
    sim_stage_deactivate(stage, hand);
}

static void make_idle(struct sim_stage_run *stage, struct sim_hand *hand)
{
    sim_stage_put_down(stage, hand);
    stage->count[hand->worker->state]--;
    stage->count[SIM_WORKER_IDLE]++;
    sim_worker_set_state(stage->pipeline->config.workers, hand->worker, SIM_WORKER_IDLE);
    sim_ready_set_add(&stage->idle, hand->position);
    sim_loop_room_list(stage, hand);
    if (stage->idle_on != NULL)
        stage->idle_on[hand->worker->node]++;
}

void sim_stage_leave_idle(struct sim_stage_run *stage, const struct sim_hand *hand)
{
    sim_ready_set_remove(&stage->idle, hand->position);
    if (stage->idle_on != NULL)
        stage->idle_on[hand->worker->node]--;
}

/* Output leaves the worker's hands: out of the pipeline, into the next queue, or it must wait. */
static weir_status hand_over(struct sim_stage_run *stage, struct sim_hand *hand,
                             struct sim_queue *output, bool *is_blocked)
{
    struct sim_pipeline_run *run = stage->pipeline;
    *is_blocked = false;
    if (!is_last(stage) && run->spec->backpressure == SIM_BACKPRESSURE_BLOCKING &&
        output->count > 0) {
        hand->task_head = output->head;
        hand->task_count = (uint32_t)output->count;
        WEIR_TRY(block(stage, hand));
        (void)sim_stage_unblock(stage);
        *is_blocked = hand->worker->state == SIM_WORKER_BLOCKED;
        return WEIR_OK;
    }
    struct sim_queue *next = is_last(stage) ? NULL : &stage[1].queue;
    const bool moves = next != NULL && output->count > 0;
    while (output->count > 0) {
        const uint32_t item = sim_queue_pop(output, &run->items);
        if (next == NULL)
            sim_pipeline_item_done(run, item, true);
        else
            sim_queue_push(next, &run->items, item);
    }
    if (moves)
        sim_meter_queue(run->context->meter, sim_engine_now(run->context->engine), stage[1].index,
                        next->count, next->bytes);
    make_idle(stage, hand);
    return WEIR_OK;
}

/* What an observer learns of one item of the task, before the item becomes its output. */
static struct sim_span item_span(const struct sim_stage_run *stage, const struct sim_hand *hand,
                                 const struct sim_item *item)
{
    return (struct sim_span){ .item = item->id,
                              .stage = stage->index,
                              .attempt = item->attempt,
                              .worker = sim_worker_id(hand->worker),
                              .queued_ns = item->queued_ns,
                              .start_ns = hand->task_start_ns,
                              .end_ns = sim_engine_now(stage->pipeline->context->engine),
                              .node = hand->worker->node,
                              .gpu_type = hand->worker->gpu_type,
                              .size = item->size };
}

static bool is_shown(const struct sim_stage_run *stage)
{
    const struct sim_observer *observer = stage->pipeline->context->observer;
    return observer != NULL && observer->span != NULL;
}

static void show_span(const struct sim_stage_run *stage, const struct sim_span *span)
{
    const struct sim_observer *observer = stage->pipeline->context->observer;
    observer->span(observer->state, span);
}

/* What one item of the task becomes, to an observer too; of `task` batch and place count. */
static weir_status collect_shown(struct sim_stage_run *stage, const struct sim_hand *hand,
                                 uint32_t item, const struct sim_span *task,
                                 struct sim_queue *output)
{
    struct sim_span span = item_span(stage, hand, &stage->pipeline->items.items[item]);
    const uint64_t before = output->count;
    WEIR_TRY(collect_output(stage, hand, item, output));
    span.batch = task->batch;
    span.place = task->place;
    span.returns = (uint32_t)(output->count - before);
    show_span(stage, &span);
    return WEIR_OK;
}

static void show_failure(const struct sim_stage_run *stage, const struct sim_hand *hand)
{
    const struct sim_item *items = stage->pipeline->items.items;
    uint32_t index = hand->task_head;
    if (!is_shown(stage))
        return;
    for (uint32_t place = 0; place < hand->task_count; place++, index = items[index].next) {
        struct sim_span span = item_span(stage, hand, &items[index]);
        span.batch = hand->task_count;
        span.place = place;
        span.has_failed = true;
        show_span(stage, &span);
    }
}

static weir_status measure(struct sim_stage_run *stage, const struct sim_hand *hand, uint32_t batch,
                           uint32_t returns)
{
    const struct sim_pipeline_run *run = stage->pipeline;
    struct weir_measurement task = { .size = sizeof(task),
                                     .pool = stage->index,
                                     .start_ns = hand->task_start_ns,
                                     .end_ns = sim_engine_now(run->context->engine),
                                     .returns = returns,
                                     .batch = batch,
                                     .node = hand->worker->node,
                                     .gpu_type = hand->worker->gpu_type,
                                     .worker = sim_worker_id(hand->worker) };
    const struct sim_driver_config *config = &run->config;
    if (run->flow->duration_s != NULL)
        task.duration_s = run->flow->duration_s(run, task.start_ns, task.end_ns);
    return config->services->measure(config->world, &task);
}

static bool is_last_attempt(const struct sim_stage_run *stage, const struct sim_hand *hand)
{
    const struct sim_item *first = &stage->pipeline->items.items[hand->task_head];
    return first->attempt + 1 >= stage->spec->max_attempts;
}

/* The pause before an attempt is lost, as the attempt that failed is. */
static void end_pause(struct sim_stage_run *stage, struct sim_hand *hand)
{
    if (hand->pause_s == 0)
        return;
    sim_meter_work_lost(stage->pipeline->context->meter,
                        sim_engine_now(stage->pipeline->context->engine), stage->index,
                        sim_hand_pause_ns(hand), "attempt failed");
    hand->task_start_ns += sim_hand_pause_ns(hand);
    hand->pause_s = 0;
}

/* The worker keeps the task and starts it once more after a pause. */
static weir_status try_again(struct sim_stage_run *stage, struct sim_hand *hand)
{
    struct sim_item *items = stage->pipeline->items.items;
    uint32_t item = hand->task_head;
    hand->pause_s = (uint16_t)(sim_recovery_pause_ns(items[item].attempt) / SIM_NS_PER_S);
    for (uint32_t i = 0; i < hand->task_count; i++, item = items[item].next) {
        items[item].attempt++;
        sim_meter_retry(stage->pipeline->context->meter,
                        sim_engine_now(stage->pipeline->context->engine), false);
    }
    make_idle(stage, hand);
    return sim_stage_work(stage, hand);
}

/* The task gives nothing; the worker goes on, or goes. */
static weir_status ignore_task(struct sim_stage_run *stage, struct sim_hand *hand)
{
    struct sim_pipeline_run *run = stage->pipeline;
    for (; hand->task_count > 0; hand->task_count--) {
        const uint32_t item = hand->task_head;
        hand->task_head = run->items.items[item].next;
        sim_meter_retry(run->context->meter, sim_engine_now(run->context->engine), true);
        sim_pipeline_item_done(run, item, false);
    }
    hand->task_head = SIM_NO_ITEM;
    make_idle(stage, hand);
    if (!stage->spec->resets_on_failure)
        return run->flow->idled(stage, hand);
    return sim_pipeline_end_worker(stage, hand, SIM_STOP_GIVEN_UP, "reset");
}

weir_status sim_stage_finish(struct sim_stage_run *stage, struct sim_hand *hand, bool *is_blocked)
{
    struct sim_pipeline_run *run = stage->pipeline;
    const int64_t now_ns = sim_engine_now(run->context->engine);
    const int64_t service_ns = now_ns - hand->task_start_ns - sim_hand_pause_ns(hand);
    const uint32_t batch = hand->task_count;
    struct sim_queue output = SIM_QUEUE_EMPTY;
    assert(hand->worker->state == SIM_WORKER_BUSY && batch > 0);
    if (hand->will_fail && is_last_attempt(stage, hand) &&
        stage->spec->on_failure == SIM_FAILURE_END)
        return sim_recovery_give_up(run, "a task failed too often");
    end_pause(stage, hand);
    hand->worker->tasks++;
    *is_blocked = false;
    if (hand->will_fail) {
        sim_meter_work_lost(run->context->meter, now_ns, stage->index, service_ns,
                            "attempt failed");
        show_failure(stage, hand);
        if (stage->spec->on_failure != SIM_FAILURE_REQUEUE && !is_last_attempt(stage, hand))
            return try_again(stage, hand);
        if (stage->spec->on_failure == SIM_FAILURE_IGNORE)
            return ignore_task(stage, hand);
        repeat_items(stage, hand);
        make_idle(stage, hand);
        return run->flow->idled == NULL ? WEIR_OK : run->flow->idled(stage, hand);
    }
    stage->tasks_done++;
    hand->deaths = 0;
    run->demand_ns += hand->demand_ns;
    sim_meter_task_done(run->context->meter, now_ns, stage->index, service_ns);
    sim_stage_use_up(stage, hand);
    const uint32_t taken = sim_batching_items(stage, hand->task_head, batch);
    uint32_t item = hand->task_head;
    hand->task_head = SIM_NO_ITEM;
    hand->task_count = 0;
    for (uint32_t i = 0; i < batch; i++) {
        const uint32_t next = run->items.items[item].next;
        const struct sim_span task = { .batch = batch, .place = i };
        WEIR_TRY(is_shown(stage) ? collect_shown(stage, hand, item, &task, &output)
                                 : collect_output(stage, hand, item, &output));
        item = next;
    }
    stage->bytes_made += output.bytes;
    sim_stage_lay_down(stage, hand, &output);
    WEIR_TRY(measure(stage, hand, taken,
                     sim_batching_items(stage, output.head, (uint32_t)output.count)));
    if (run->flow->deliver != NULL) {
        WEIR_TRY(run->flow->deliver(stage, &output));
        make_idle(stage, hand);
        return run->flow->idled(stage, hand);
    }
    return hand_over(stage, hand, &output, is_blocked);
}

bool sim_stage_unblock(struct sim_stage_run *stage)
{
    struct sim_pipeline_run *run = stage->pipeline;
    bool has_moved = false;
    while (stage->blocked_count > 0) {
        struct sim_stage_run *next = stage + 1;
        const uint64_t takers = next->stalled == 0 ? next->idle.count : 0;
        if (next->queue.count >= stage->spec->buffer + takers * next->spec->batch)
            break;
        struct sim_hand *hand = sim_slab_at(&run->hands, stage->blocked[0]);
        const uint32_t item = hand->task_head;
        hand->task_head = run->items.items[item].next;
        hand->task_count--;
        sim_queue_push(&next->queue, &run->items, item);
        sim_meter_queue(run->context->meter, sim_engine_now(run->context->engine), next->index,
                        next->queue.count, next->queue.bytes);
        has_moved = true;
        if (hand->task_count > 0)
            continue;
        hand->task_head = SIM_NO_ITEM;
        stage->blocked_count--;
        for (uint32_t i = 0; i < stage->blocked_count; i++)
            stage->blocked[i] = stage->blocked[i + 1];
        make_idle(stage, hand);
    }
    return has_moved;
}

static void arm_crash(struct sim_stage_run *stage, struct sim_hand *hand)
{
    const struct sim_law *law = stage->spec->worker_between;
    if (law == NULL)
        return;
    const struct sim_driver_config *config = &stage->pipeline->config;
    const struct sim_stream_key key = { hand->ordinal, 0, 0 };
    sim_worker_arm_crash(
        config->workers, hand->worker,
        sim_time_from_s(sim_law_draw_of(law, &stage->random, SIM_DRAW_WORKER_FAILURE, key)));
}

static bool setup_fails(const struct sim_stage_run *stage, const struct sim_hand *hand)
{
    if (!(stage->spec->setup_failure > 0))
        return false;
    struct sim_stream stream;
    const struct sim_stream_key key = { hand->ordinal, 0, hand->setup_tries };
    sim_stream_open(&stream, &stage->random, SIM_DRAW_SETUP_FAILURE, key);
    return sim_stream_uniform(&stream) < stage->spec->setup_failure;
}

weir_status sim_stage_ready(struct sim_stage_run *stage, struct sim_hand *hand, bool *has_failed)
{
    *has_failed = setup_fails(stage, hand);
    if (*has_failed)
        return WEIR_OK;
    stage->loop.setups_tried++;
    return sim_stage_enter(stage, hand);
}

weir_status sim_stage_enter(struct sim_stage_run *stage, struct sim_hand *hand)
{
    const struct sim_driver_config *config = &stage->pipeline->config;
    make_idle(stage, hand);
    config->services->ready(config->world, hand->worker);
    arm_crash(stage, hand);
    return WEIR_OK;
}
