/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The runtime flow rule: a main loop that turns `loop_hz` times a second over pools of workers.
 *
 * Workers run on their own: one holds up to `slots` tasks, works on one, and goes on to the next it
 * holds at once. Everything else waits for a turn of the loop. A turn
 *   1. collects what is over (frees slots) and gives tasks of each pool to ready workers, the one
 *      with the fewest slots in use first, the oldest on ties;
 *   2. from the last stage to the first: moves collected output into the next queue, then feeds the
 *      stage's pool from its own queue as back-pressure allows;
 *   3. from the first stage to the last: a stage is done when all before it are and nothing is left
 *      of it; its workers stop.
 * So an item that is over at a turn is fed onward at the next and starts at the one after that.
 * Only turns at which something can happen are processed, and of them only the stages of which that
 * is true: work of theirs ended, workers or slots came or went, they were fed, output came to their
 * queue, or the next stage took from its own. The others sleep: they would do what they did at
 * their last turn, nothing.
 *
 * Back-pressure: slots in use + tasks in the pool + finished output in mean tasks stay below
 * max(whole part of ready workers * slots * multiplier, lower bound, batch of the next stage).
 * Every process of a group counts as a worker here, as it does in the original.
 */
#include "sim/pipeline/barrier.h"
#include "sim/pipeline/flow.h"
#include "sim/pipeline/loop_room.h"
#include "sim/pipeline/recovery.h"
#include "sim/pipeline/stealing.h"
#include "sim/pipeline/transfer.h"

#include <math.h>

enum { FEW_AWAKE = 16 };

static int64_t now_of(const struct sim_pipeline_run *run)
{
    return sim_engine_now(run->context->engine);
}

/* The first turn at or after `at_ns`; not before the loop goes on. */
static void plan_turn(struct sim_pipeline_run *run, int64_t at_ns)
{
    const int64_t turn_ns = run->spec->turn_ns;
    const int64_t from_ns = at_ns > run->loop_free_ns ? at_ns : run->loop_free_ns;
    const int64_t due_ns = (from_ns + turn_ns - 1) / turn_ns * turn_ns;
    if (run->sweep_ns >= 0 && run->sweep_ns <= due_ns)
        return; /* an earlier turn is planned already, and plans on if there is more to do */
    run->sweep_ns = due_ns;
    (void)sim_pipeline_schedule(run, due_ns, SIM_PIPELINE_SWEEP, SIM_PHASE_FLOW);
}

static bool is_last(const struct sim_stage_run *stage)
{
    return stage->position + 1 == stage->pipeline->stage_count;
}

static weir_status begin_setup(struct sim_stage_run *stage, struct sim_hand *hand, double setup_s)
{
    return sim_flow_event.begin_setup(stage, hand, setup_s);
}

/* ---- tasks in pools and hands ---- */

static void move_task(struct sim_item_slab *slab, struct sim_queue *from, struct sim_queue *to)
{
    const uint32_t count = slab->items[from->head].task_items;
    for (uint32_t i = 0; i < count; i++)
        sim_queue_push(to, slab, sim_queue_pop(from, slab));
}

/* An idle worker goes on with the next task it holds. */
static weir_status work_on(struct sim_stage_run *stage, struct sim_hand *hand)
{
    struct sim_pipeline_run *run = stage->pipeline;
    if (hand->worker->state != SIM_WORKER_IDLE || hand->held.count == 0)
        return WEIR_OK;
    stage->loop.owes_start = stage->loop.owes_start || stage->stalled != 0;
    if (stage->stalled != 0)
        return WEIR_OK;
    struct sim_queue task = SIM_QUEUE_EMPTY;
    const int64_t now_ns = now_of(run);
    move_task(&run->items, &hand->held, &task);
    hand->task_head = task.head;
    hand->task_count = (uint32_t)task.count;
    for (uint32_t item = task.head, i = 0; i < task.count; i++, item = run->items.items[item].next)
        sim_meter_wait(run->context->meter, now_ns, stage->index,
                       now_ns - run->items.items[item].queued_ns);
    return sim_stage_work(stage, hand);
}

static weir_status deliver(struct sim_stage_run *stage, struct sim_queue *output)
{
    struct sim_loop_stage *loop = &stage->loop;
    struct sim_item_slab *slab = &stage->pipeline->items;
    sim_stage_wake(stage);
    if (output->count > 0) {
        uint32_t *sample = &loop->samples[loop->samples_seen++ % SIM_LOOP_SAMPLES];
        loop->samples_sum += output->count - *sample;
        *sample = (uint32_t)output->count;
    }
    while (output->count > 0)
        sim_queue_push(&loop->outbox, slab, sim_queue_pop(output, slab));
    return WEIR_OK;
}

static weir_status idled(struct sim_stage_run *stage, struct sim_hand *hand)
{
    hand->uncollected++;
    stage->loop.uncollected++;
    sim_stage_wake(stage);
    sim_loop_room_over(stage, hand, true);
    plan_turn(stage->pipeline, now_of(stage->pipeline));
    return work_on(stage, hand);
}

static void give_up(struct sim_stage_run *stage, struct sim_queue *task)
{
    struct sim_pipeline_run *run = stage->pipeline;
    while (task->count > 0) {
        sim_meter_retry(run->context->meter, now_of(run), true);
        sim_pipeline_item_done(run, sim_queue_pop(task, &run->items), false);
    }
}

/* The front of the pool takes the task back; its items keep their order. */
static void put_back(struct sim_stage_run *stage, struct sim_queue *task)
{
    struct sim_pipeline_run *run = stage->pipeline;
    struct sim_queue reversed = SIM_QUEUE_EMPTY;
    const uint32_t count = (uint32_t)task->count;
    if (sim_recovery_gives_up(&run->items.items[task->head])) {
        give_up(stage, task);
        return;
    }
    while (task->count > 0)
        sim_queue_push_front(&reversed, &run->items, sim_queue_pop(task, &run->items));
    while (reversed.count > 0) {
        const uint32_t item = sim_queue_pop(&reversed, &run->items);
        run->items.items[item].queued_ns = now_of(run);
        sim_queue_push_front(&stage->loop.pool, &run->items, item);
    }
    run->items.items[stage->loop.pool.head].task_items = count;
    stage->loop.pool_tasks++;
}

/* Held tasks go back youngest first, the running one last: so it stands in front again. */
static void release(struct sim_stage_run *stage, struct sim_hand *hand)
{
    struct sim_pipeline_run *run = stage->pipeline;
    sim_stage_wake(stage);
    while (hand->held.count > 0) {
        struct sim_queue rest = SIM_QUEUE_EMPTY;
        struct sim_queue task = SIM_QUEUE_EMPTY;
        while (hand->held.count > 0) {
            while (task.count > 0)
                sim_queue_push(&rest, &run->items, sim_queue_pop(&task, &run->items));
            move_task(&run->items, &hand->held, &task);
        }
        put_back(stage, &task);
        hand->held = rest;
    }
    struct sim_queue running = SIM_QUEUE_EMPTY;
    for (; hand->task_count > 0; hand->task_count--) {
        const uint32_t item = hand->task_head;
        hand->task_head = run->items.items[item].next;
        sim_queue_push(&running, &run->items, item);
    }
    hand->task_head = SIM_NO_ITEM;
    if (running.count > 0)
        put_back(stage, &running);
    stage->loop.used_slots -= hand->used_slots;
    stage->loop.uncollected -= hand->uncollected;
    hand->used_slots = 0;
    hand->uncollected = 0;
    sim_loop_room_over(stage, hand, false);
    sim_loop_room_list(stage, hand);
}

/* ---- one turn ---- */

static void collect(struct sim_stage_run *stage)
{
    while (stage->loop.over.count > 0) {
        struct sim_hand *hand = stage->hands[sim_ready_set_first(&stage->loop.over)];
        stage->loop.uncollected -= hand->uncollected;
        stage->loop.used_slots -= hand->uncollected;
        hand->used_slots -= hand->uncollected;
        hand->uncollected = 0;
        sim_loop_room_over(stage, hand, false);
        sim_loop_room_list(stage, hand);
    }
}

/* Idle workers that hold something: what a stall held back, or what they took from others. */
static weir_status work_on_held(struct sim_stage_run *stage)
{
    if (!stage->loop.owes_start || stage->stalled != 0)
        return WEIR_OK;
    stage->loop.owes_start = false;
    for (uint32_t i = 0; stage->idle.count > 0 && i < stage->positions; i++)
        if (stage->hands[i] != NULL)
            WEIR_TRY(work_on(stage, stage->hands[i]));
    return WEIR_OK;
}

static weir_status hand_out(struct sim_stage_run *stage, bool *has_moved)
{
    struct sim_pipeline_run *run = stage->pipeline;
    WEIR_TRY(work_on_held(stage));
    while (stage->loop.pool_tasks > 0) {
        struct sim_hand *hand = sim_loop_room_freest(stage, stage->loop.pool.head);
        if (hand == NULL)
            break;
        move_task(&run->items, &stage->loop.pool, &hand->held);
        stage->loop.pool_tasks--;
        stage->loop.used_slots++;
        hand->used_slots++;
        sim_loop_room_list(stage, hand);
        *has_moved = true;
        WEIR_TRY(work_on(stage, hand));
        sim_stage_note_queue(stage);
    }
    return WEIR_OK;
}

static weir_status move_output(struct sim_stage_run *stage, bool *has_moved)
{
    struct sim_pipeline_run *run = stage->pipeline;
    if (stage->loop.outbox.count == 0)
        return WEIR_OK;
    *has_moved = true;
    while (stage->loop.outbox.count > 0) {
        const uint32_t item = sim_queue_pop(&stage->loop.outbox, &run->items);
        if (is_last(stage))
            sim_pipeline_item_done(run, item, true);
        else
            sim_queue_push(&stage[1].queue, &run->items, item);
    }
    if (is_last(stage))
        return WEIR_OK;
    sim_stage_wake(stage + 1);
    sim_stage_note_queue(stage + 1);
    return sim_barrier_store(stage + 1);
}

/* *is_pressed: a worker is idle and the stage would have room if nothing stood behind it. Who is
 * full of his own work is held by nobody. */
static bool has_room(const struct sim_stage_run *stage, bool *is_pressed)
{
    const struct sim_pipeline *spec = stage->pipeline->spec;
    const struct sim_loop_stage *loop = &stage->loop;
    if (spec->backpressure == SIM_BACKPRESSURE_NONE || sim_pipeline_is_batch(spec))
        return true;
    const uint32_t ready = stage->ranks * (stage->worker_count - stage->count[SIM_WORKER_SETUP]);
    double most = (double)(int64_t)((double)ready * stage->slots * spec->slots_multiplier);
    if (spec->backpressure == SIM_BACKPRESSURE_SLOTS) {
        most = most < spec->lower_bound ? spec->lower_bound : most;
        most = !is_last(stage) && most < stage[1].spec->batch ? stage[1].spec->batch : most;
    }
    double waiting = (double)stage->ranks * loop->used_slots + loop->pool_tasks;
    *is_pressed = waiting < most && stage->count[SIM_WORKER_IDLE] > 0;
    if (!is_last(stage) && loop->samples_seen > 0) {
        const uint64_t kept =
            loop->samples_seen < SIM_LOOP_SAMPLES ? loop->samples_seen : SIM_LOOP_SAMPLES;
        waiting += (double)stage[1].queue.count / ((double)loop->samples_sum / (double)kept);
    }
    return waiting < most;
}

/* Items of the next task, 0 = not enough. The first stage never waits for a full batch. */
static uint32_t next_batch(const struct sim_stage_run *stage)
{
    const uint32_t batch = stage->spec->batch;
    uint64_t available = stage->queue.count;
    if (sim_stage_has_backlog(stage)) {
        const uint64_t left = stage->pipeline->source_left;
        available = left > batch ? batch : available + left;
    }
    if (available >= batch)
        return batch;
    const bool is_rest = stage->position == 0 || stage[-1].loop.is_done;
    return is_rest ? (uint32_t)available : 0;
}

/* A served pipeline takes one request a turn, alone. */
static bool is_serving_source(const struct sim_stage_run *stage)
{
    return stage->position == 0 && stage->pipeline->spec->execution == SIM_EXECUTION_SERVING;
}

/* A task of so many items from the queue, or the source, into the pool. */
static weir_status feed_task(struct sim_stage_run *stage, uint32_t count)
{
    struct sim_pipeline_run *run = stage->pipeline;
    uint32_t head = SIM_NO_ITEM;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t item = SIM_NO_ITEM;
        WEIR_TRY(sim_stage_next_item(stage, &item));
        head = i == 0 ? item : head;
        sim_queue_push(&stage->loop.pool, &run->items, item);
    }
    run->items.items[head].task_items = count;
    stage->loop.pool_tasks++;
    return WEIR_OK;
}

static weir_status feed(struct sim_stage_run *stage, bool *has_fed)
{
    const struct sim_pipeline_run *run = stage->pipeline;
    if (!sim_barrier_is_open(stage))
        return WEIR_OK;
    uint32_t count = next_batch(stage);
    if (is_serving_source(stage) && count > 1)
        count = 1;
    bool is_pressed = false;
    while (count > 0 && has_room(stage, &is_pressed)) {
        WEIR_TRY(feed_task(stage, count));
        *has_fed = true;
        count = is_serving_source(stage) ? 0 : next_batch(stage);
    }
    if (*has_fed)
        sim_stage_wake(stage); /* it has tasks to give away */
    if (*has_fed && stage->position == 0)
        sim_stage_note_queue(stage); /* elsewhere queue and pool hold together what they held */
    is_pressed = is_pressed && count > 0;
    if (stage->is_backpressured != is_pressed) {
        stage->is_backpressured = is_pressed;
        sim_meter_backpressure(run->context->meter, now_of(run), stage->index, is_pressed);
    }
    return WEIR_OK;
}

/* A stage that is done gives its workers back. */
static weir_status end_stages(struct sim_pipeline_run *run, bool *has_moved)
{
    if (run->spec->execution == SIM_EXECUTION_SERVING)
        return WEIR_OK;
    for (uint32_t s = 0; s < run->stage_count && sim_source_is_dry(run); s++) {
        struct sim_stage_run *stage = &run->stages[s];
        if (stage->queue.count + stage->loop.pool.count + stage->loop.outbox.count > 0 ||
            stage->loop.used_slots > 0)
            break;
        if (!stage->loop.is_done) {
            *has_moved = true;
            if (!is_last(stage))
                sim_stage_wake(stage + 1); /* a rest is a batch now */
        }
        stage->loop.is_done = true;
        for (uint32_t i = 0; i < stage->positions; i++)
            if (stage->hands[i] != NULL)
                WEIR_TRY(
                    sim_pipeline_end_worker(stage, stage->hands[i], SIM_STOP_OVER, "stage done"));
    }
    return WEIR_OK;
}

/* Stages wait for the end of others, or for work of others' workers. */
static bool has_all_awake(const struct sim_pipeline *spec)
{
    return spec->steals_work || sim_pipeline_is_batch(spec);
}

/* To faults or age: it waits for times. */
static bool loses_workers(const struct sim_stage_run *stage)
{
    return stage->loop.return_count > 0 || stage->spec->max_lifetime_ns > 0;
}

/* Those awake, ascending: a few are sorted, of many all stages are asked. */
static uint32_t list_due(struct sim_pipeline_run *run)
{
    uint32_t count = 0;
    if (run->awake_count > FEW_AWAKE) {
        for (uint32_t s = 0; s < run->stage_count; s++)
            if (run->stages[s].loop.is_awake)
                run->due[count++] = s;
        return count;
    }
    for (; count < run->awake_count; count++) {
        uint32_t at = count;
        for (; at > 0 && run->due[at - 1] > run->awake[count]; at--)
            run->due[at] = run->due[at - 1];
        run->due[at] = run->awake[count];
    }
    return count;
}

/* The stages that take part in this turn; how many. Who waits for times takes part in the next one,
 * too. */
static uint32_t take_due(struct sim_pipeline_run *run)
{
    if (has_all_awake(run->spec))
        for (uint32_t s = 0; s < run->stage_count; s++)
            sim_stage_wake(&run->stages[s]);
    const uint32_t count = list_due(run);
    run->awake_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct sim_stage_run *stage = &run->stages[run->due[i]];
        stage->loop.is_awake = false;
        if (loses_workers(stage))
            sim_stage_wake(stage);
    }
    return count;
}

/* First to last: ends are collected, tasks given to workers. */
static weir_status give_work(struct sim_pipeline_run *run, uint32_t due, bool *has_moved,
                             int64_t *next_ns)
{
    for (uint32_t i = 0; i < due && run->gave_up[0] == '\0'; i++) {
        struct sim_stage_run *stage = &run->stages[run->due[i]];
        if (loses_workers(stage)) {
            WEIR_TRY(sim_recovery_retire(stage, next_ns));
            WEIR_TRY(sim_recovery_turn(stage, has_moved));
        }
        if (run->gave_up[0] != '\0')
            break;
        if (stage->loop.listed_slots != stage->slots)
            WEIR_TRY(sim_loop_room_fit(stage));
        collect(stage);
        WEIR_TRY(hand_out(stage, has_moved));
        if (!run->spec->steals_work)
            continue;
        sim_stealing_turn(stage, has_moved, next_ns);
        WEIR_TRY(work_on_held(stage));
    }
    return WEIR_OK;
}

/* Last to first: output moves on, pools are fed. Who takes from his queue makes room for the stage
 * before, whose turn comes next then. */
static weir_status pass_on(struct sim_pipeline_run *run, uint32_t due, bool *has_moved)
{
    uint32_t s = due > 0 ? run->due[--due] : run->stage_count;
    while (s < run->stage_count) {
        bool has_fed = false;
        WEIR_TRY(move_output(&run->stages[s], has_moved));
        if (run->gave_up[0] != '\0')
            return WEIR_OK;
        WEIR_TRY(feed(&run->stages[s], &has_fed));
        *has_moved = *has_moved || has_fed;
        const bool goes_before = has_fed && s > 0 && (due == 0 || run->due[due - 1] + 1 < s);
        s = goes_before ? s - 1 : due > 0 ? run->due[--due] : run->stage_count;
    }
    return WEIR_OK;
}

static weir_status turn(struct sim_pipeline_run *run)
{
    const int64_t now_ns = now_of(run);
    bool has_moved = false;
    int64_t next_ns = SIM_TIME_MAX;
    if (run->gave_up[0] != '\0')
        return WEIR_OK;
    if (run->sweep_ns != now_ns)
        return WEIR_OK; /* planned before an earlier turn was needed */
    run->sweep_ns = -1;
    if (now_ns < run->loop_free_ns) {
        plan_turn(run, now_ns);
        return WEIR_OK;
    }
    run->loop_free_ns = now_ns + 1; /* one turn an instant */
    const uint32_t due = take_due(run);
    WEIR_TRY(give_work(run, due, &has_moved, &next_ns));
    if (run->gave_up[0] == '\0')
        WEIR_TRY(pass_on(run, due, &has_moved));
    if (run->gave_up[0] != '\0')
        return WEIR_OK;
    WEIR_TRY(end_stages(run, &has_moved));
    sim_barrier_turn(run, &next_ns);
    if (has_moved && (run->awake_count > 0 || has_all_awake(run->spec)))
        plan_turn(run, now_ns);
    else if (next_ns < SIM_TIME_MAX)
        plan_turn(run, next_ns);
    return WEIR_OK;
}

/* ---- from outside ---- */

static weir_status rescaled(struct sim_pipeline_run *run)
{
    for (uint32_t s = 0; s < run->stage_count; s++)
        sim_stage_wake(&run->stages[s]);
    run->has_counted = false;
    plan_turn(run, now_of(run));
    return WEIR_OK;
}

static weir_status changed(struct sim_pipeline_run *run, uint32_t position)
{
    sim_stage_wake(&run->stages[position]);
    run->has_counted = false;
    plan_turn(run, now_of(run));
    return WEIR_OK;
}

static int64_t completed_ns(const struct sim_pipeline_run *run, int64_t last_ns)
{
    (void)run;
    return last_ns;
}

/* How many workers of each stage a plan may stop at most, counted before its first stop. */
static void count_stops(struct sim_pipeline_run *run)
{
    if (run->has_counted)
        return;
    run->has_counted = true;
    for (uint32_t s = 0; s < run->stage_count; s++) {
        struct sim_stage_run *stage = &run->stages[s];
        struct sim_loop_stage *loop = &stage->loop;
        const uint32_t ready = stage->worker_count - stage->count[SIM_WORKER_SETUP];
        const double slots = stage->slots;
        const double waiting = (double)sim_stage_waiting(stage);
        double keep = fmax(1.0, ceil(loop->used_slots / slots));
        keep = fmax(keep, ceil(waiting / (slots * stage->spec->batch)));
        loop->stops_left = !run->spec->has_backlog_guard || loop->is_done ? UINT32_MAX
                           : keep < ready                                 ? ready - (uint32_t)keep
                                                                          : 0;
    }
}

bool sim_runtime_may_stop(struct sim_stage_run *stage, const struct sim_hand *hand)
{
    struct sim_pipeline_run *run = stage->pipeline;
    struct sim_loop_stage *loop = &stage->loop;
    const int64_t now_ns = now_of(run);
    const int64_t grace_ns = run->spec->grace_ns;
    if (!loop->is_done && grace_ns > 0 &&
        (hand->worker->ready_ns < 0 || now_ns - hand->worker->ready_ns < grace_ns))
        return false;
    count_stops(run);
    if (loop->stops_left == 0)
        return false;
    loop->stops_left -= loop->stops_left == UINT32_MAX ? 0 : 1;
    if (run->spec->stops_serially) {
        run->loop_free_ns = run->loop_free_ns > now_ns ? run->loop_free_ns : now_ns;
        run->loop_free_ns += stage->spec->teardown_ns < run->spec->teardown_limit_ns
                                 ? stage->spec->teardown_ns
                                 : run->spec->teardown_limit_ns;
    }
    return true;
}

bool sim_runtime_kills(const struct sim_stage_run *stage)
{
    return stage->pipeline->spec->semantics == SIM_SEMANTICS_RUNTIME &&
           stage->spec->teardown_ns > stage->pipeline->spec->teardown_limit_ns;
}

const struct sim_flow sim_flow_runtime = { .name = "runtime",
                                           .begin_setup = begin_setup,
                                           .begin_service = sim_stage_begin_task,
                                           .changed = changed,
                                           .rescaled = rescaled,
                                           .sweep = turn,
                                           .deliver = deliver,
                                           .idled = idled,
                                           .release = release,
                                           .completed_ns = completed_ns };
