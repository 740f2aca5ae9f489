/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pipelines: life cycle and the lists of workers (see pipeline.h). Tasks are in task.c. */
#include "sim/pipeline/pipeline.h"
#include "sim/pipeline/loop_room.h"

#include "sim/engine/room.h"
#include "sim/pipeline/batching.h"
#include "sim/pipeline/flow.h"
#include "sim/pipeline/service.h"
#include "sim/pipeline/transfer.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

static void stage_init(struct sim_stage_run *stage, struct sim_pipeline_run *run, uint32_t position)
{
    const struct sim_stage *spec = &run->spec->stages[position];
    const double returns = spec->returns == NULL ? 1.0 : sim_law_mean(spec->returns);
    *stage = (struct sim_stage_run){
        .spec = spec,
        .pipeline = run,
        .random = sim_random_of(&run->random, SIM_NAME_STAGE, spec->name),
        .index = (uint32_t)run->spec->stage_first + position,
        .position = position,
        .requested = spec->workers,
        .queue = SIM_QUEUE_EMPTY,
        .loop = { .pool = SIM_QUEUE_EMPTY, .outbox = SIM_QUEUE_EMPTY, .restarted_ns = -1 },
        .slots = run->spec->slots_per_worker,
        .ranks = spec->shape.node_gpus > 0
                     ? spec->shape.gpu_count * weir_shape_members(&spec->shape)
                     : 1,
        .outputs_per_task = fmax(returns * spec->batch, 1e-9),
        .slow = 1.0,
        .setup_slow = 1.0
    };
    stage->mean_factor = sim_mean_factor(sim_law_cv(spec->service.law), spec->service.measurements,
                                         &stage->random, (struct sim_stream_key){ .item = 0 });
}

static const struct sim_flow *flow_of(const struct sim_pipeline *spec)
{
    switch ((enum sim_semantics)spec->semantics) {
    case SIM_SEMANTICS_TICK:
        return &sim_flow_tick;
    case SIM_SEMANTICS_RUNTIME:
        return &sim_flow_runtime;
    case SIM_SEMANTICS_EVENT:
        break;
    }
    if (spec->backpressure == SIM_BACKPRESSURE_RESERVATION)
        return &sim_flow_reservation;
    return &sim_flow_event;
}

weir_status sim_pipeline_create(const struct sim_driver_config *config,
                                struct sim_pipeline_run **run)
{
    const struct sim_pipeline *spec = &config->scenario->pipelines[config->instance];
    struct sim_pipeline_run *made = calloc(1, sizeof(*made));
    struct sim_stage_run *stages = calloc(spec->stages_count, sizeof(*stages));
    if (made == NULL || stages == NULL) {
        free(made);
        free(stages);
        return WEIR_ENOMEM;
    }
    *made = (struct sim_pipeline_run){
        .spec = spec,
        .config = *config,
        .context = config->context,
        .flow = flow_of(spec),
        .random = sim_random_of(&config->context->random, SIM_NAME_PIPELINE, spec->name),
        .index = config->instance,
        .hands = { .size = sizeof(struct sim_hand) },
        .stages = stages,
        .stage_count = (uint32_t)spec->stages_count,
        .moves_bytes = sim_scenario_moves_bytes(config->scenario, spec),
        .source_left = spec->input.items == 0 ? UINT64_MAX : spec->input.items,
        .arrival_factor = 1.0,
        .arrival_rest_ns = -1,
        .sweep_ns = -1,
        .asked_ns = -1,
        .completed_ns = -1
    };
    for (uint32_t i = 0; i < made->stage_count; i++)
        stage_init(&made->stages[i], made, i);
    bool has_memory = true;
    for (uint32_t i = 0; i < made->stage_count; i++)
        has_memory = sim_batching_open(&made->stages[i]) == WEIR_OK && has_memory;
    for (uint32_t i = 0; i < made->stage_count; i++)
        made->has_batches = made->has_batches || spec->stages[i].batch > 1;
    made->due = calloc(made->stage_count + 1, sizeof(*made->due));
    made->awake = calloc(made->stage_count + 1, sizeof(*made->awake));
    if (!has_memory || made->due == NULL || made->awake == NULL) {
        sim_pipeline_destroy(made);
        return WEIR_ENOMEM;
    }
    for (uint32_t i = 0; i < made->stage_count; i++)
        sim_stage_wake(&made->stages[i]);
    *run = made;
    return WEIR_OK;
}

void sim_pipeline_destroy(struct sim_pipeline_run *run)
{
    if (run == NULL)
        return;
    for (uint32_t i = 0; i < run->stage_count; i++) {
        free(run->stages[i].hands);
        free(run->stages[i].blocked);
        for (uint32_t r = 0; r < run->stages[i].loop.return_count; r++)
            free(run->stages[i].loop.returns[r].places);
        free(run->stages[i].loop.returns);
        free(run->stages[i].node_ready_ns);
        sim_ready_set_clear(&run->stages[i].idle);
        sim_loop_room_clear(&run->stages[i].loop);
        free(run->stages[i].idle_on);
        sim_batching_close(&run->stages[i]);
    }
    free(run->stages);
    free(run->moves);
    free(run->due);
    free(run->awake);
    sim_slab_clear(&run->hands);
    sim_item_slab_clear(&run->items);
    free(run);
}

static weir_status fill_queue(struct sim_stage_run *stage, uint64_t items)
{
    struct sim_pipeline_run *run = stage->pipeline;
    for (uint64_t i = 0; i < items; i++) {
        uint32_t item = SIM_NO_ITEM;
        WEIR_TRY(sim_source_add(run, &item));
        sim_queue_push(&stage->queue, &run->items, item);
    }
    sim_stage_note_queue(stage);
    return WEIR_OK;
}

weir_status sim_pipeline_begin(struct sim_pipeline_run *run, const struct sim_initial *initial)
{
    for (size_t i = 0; i < initial->stages_count; i++) {
        const struct sim_initial_stage *start = &initial->stages[i];
        if (start->stage >= run->stages[0].index &&
            start->stage < run->stages[0].index + run->stage_count)
            WEIR_TRY(fill_queue(&run->stages[start->stage - run->stages[0].index], start->queued));
    }
    WEIR_TRY(sim_source_begin(run));
    return run->flow->changed(run, 0);
}

bool sim_pipeline_is_done(const struct sim_pipeline_run *run)
{
    return sim_source_is_dry(run) && run->items.alive == 0;
}

/* Closes the holes in the list of workers once most of it is holes; order is kept. */
static void close_holes(struct sim_stage_run *stage)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < stage->positions; i++) {
        struct sim_hand *hand = stage->hands[i];
        if (hand == NULL)
            continue;
        if (hand->worker->state == SIM_WORKER_IDLE && kept != i) {
            sim_ready_set_remove(&stage->idle, i);
            sim_ready_set_add(&stage->idle, kept);
        }
        sim_loop_room_move(stage, hand, kept);
        stage->hands[kept++] = hand;
    }
    stage->positions = kept;
}

/* Room for one more hand in the list. */
static weir_status reserve_position(struct sim_stage_run *stage)
{
    if (stage->positions == stage->capacity && stage->worker_count * 2 < stage->positions)
        close_holes(stage);
    SIM_ROOM(stage->hands, stage->capacity, stage->positions + 1);
    if (stage->pipeline->moves_bytes && stage->idle_on == NULL) {
        stage->idle_on = calloc(sim_scenario_node_count(stage->pipeline->context->scenario),
                                sizeof(*stage->idle_on));
        if (stage->idle_on == NULL)
            return WEIR_ENOMEM;
    }
    WEIR_TRY(sim_loop_room_reserve(stage, stage->capacity));
    return sim_ready_set_reserve(&stage->idle, stage->capacity);
}

static void append(struct sim_stage_run *stage, struct sim_hand *hand)
{
    hand->position = stage->positions;
    stage->hands[stage->positions++] = hand;
    stage->worker_count++;
}

/* How long a worker must wait for setup_on_node; the first one on the node begins it. */
static weir_status node_setup_s(struct sim_stage_run *stage, uint32_t node, double *seconds)
{
    const struct sim_context *context = stage->pipeline->context;
    const int64_t now_ns = sim_engine_now(context->engine);
    *seconds = 0;
    if (stage->spec->setup_on_node == NULL)
        return WEIR_OK;
    if (stage->node_ready_ns == NULL) {
        const uint32_t nodes = sim_scenario_node_count(context->scenario);
        stage->node_ready_ns = malloc(nodes * sizeof(*stage->node_ready_ns));
        if (stage->node_ready_ns == NULL)
            return WEIR_ENOMEM;
        for (uint32_t n = 0; n < nodes; n++)
            stage->node_ready_ns[n] = -1;
    }
    if (stage->node_ready_ns[node] < 0)
        stage->node_ready_ns[node] =
            now_ns + sim_time_from_s(sim_service_node_setup_s(stage, node));
    if (stage->node_ready_ns[node] > now_ns)
        *seconds = sim_time_s(stage->node_ready_ns[node] - now_ns);
    return WEIR_OK;
}

void sim_pipeline_forget_node(struct sim_stage_run *stage, uint32_t node)
{
    sim_workers_forget_kept(stage->pipeline->config.workers, node);
    if (stage->node_ready_ns != NULL)
        stage->node_ready_ns[node] = -1;
}

/* The slowest node decides when all may begin. */
static weir_status node_setups_s(struct sim_stage_run *stage, const struct sim_worker *worker,
                                 double *seconds)
{
    *seconds = 0;
    for (uint32_t i = 0; stage->spec->setup_on_node != NULL && i < worker->places; i++) {
        double wait_s = 0;
        WEIR_TRY(node_setup_s(stage, sim_worker_place(worker, i).alloc.node, &wait_s));
        *seconds = fmax(*seconds, wait_s);
    }
    return WEIR_OK;
}

/* A worker with empty hands; NULL when the cluster refuses it. */
static weir_status start_worker(struct sim_stage_run *stage, const struct sim_start *start,
                                struct sim_hand **hand, uint32_t *reason)
{
    struct sim_pipeline_run *run = stage->pipeline;
    const struct sim_worker_start wanted = { .owner = start->owner,
                                             .driver = run->config.index,
                                             .uses = &stage->spec->uses_shape,
                                             .traffic =
                                                 sim_memory_traffic_of(&stage->spec->traffic),
                                             .places = start->places };
    struct sim_worker *worker = NULL;
    void *taken = NULL;
    WEIR_TRY(reserve_position(stage));
    WEIR_TRY(sim_slab_take(&run->hands, &taken));
    *hand = taken;
    (*hand)->task_head = SIM_NO_ITEM;
    (*hand)->held = SIM_QUEUE_EMPTY;
    if (run->moves_bytes)
        SIM_ROOM(run->moves, run->moves_capacity, (*hand)->slot + 1);
    const weir_status status = sim_worker_start(run->config.workers, &wanted, &worker, reason);
    if (worker == NULL) {
        sim_slab_give(&run->hands, taken);
        *hand = NULL;
        return status;
    }
    (*hand)->worker = worker;
    worker->work = *hand;
    return WEIR_OK;
}

/* What a worker of the stage reads before all else; kept things are the stage's own. */
static uint32_t loads_of(const struct sim_stage_run *stage,
                         struct sim_load_spec loads[SIM_SETUP_LOADS])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < SIM_SETUP_LOADS; i++) {
        const struct sim_load *load = &stage->spec->loads[i];
        if (load->bytes == 0)
            continue;
        const uint64_t key = (stage->random.owner ^ i) | 1U << SIM_SETUP_LOADS; /* never 0 */
        loads[count++] = (struct sim_load_spec){ .bytes = (double)load->bytes,
                                                 .store = load->store,
                                                 .traffic = load->traffic,
                                                 .key = load->is_kept ? key : 0 };
    }
    return count;
}

weir_status sim_pipeline_add_worker(struct sim_stage_run *stage, const struct sim_start *start,
                                    struct sim_hand **hand, uint32_t *reason)
{
    struct sim_pipeline_run *run = stage->pipeline;
    WEIR_TRY(start_worker(stage, start, hand, reason));
    if (*hand == NULL)
        return WEIR_OK;
    append(stage, *hand);
    (*hand)->ordinal = stage->next_ordinal++;
    sim_worker_set_state(run->config.workers, (*hand)->worker, SIM_WORKER_SETUP);
    stage->count[SIM_WORKER_SETUP]++;
    if (start->is_ready)
        return sim_stage_enter(stage, *hand);
    struct sim_load_spec loads[SIM_SETUP_LOADS];
    const uint32_t count = loads_of(stage, loads);
    bool is_there = count == 0;
    if (count > 0)
        WEIR_TRY(sim_worker_load(run->config.workers, (*hand)->worker, loads, count, &is_there));
    return is_there ? sim_pipeline_loaded(stage, *hand) : WEIR_OK;
}

weir_status sim_pipeline_loaded(struct sim_stage_run *stage, struct sim_hand *hand)
{
    double wait_s = 0;
    WEIR_TRY(node_setups_s(stage, hand->worker, &wait_s));
    return stage->pipeline->flow->begin_setup(stage, hand,
                                              wait_s + sim_service_setup_s(stage, hand->ordinal));
}

/* Items in hand go back to the front of the queue, in their order, with their attempt unchanged: a
 * lost worker is not the item's fault, and the demand of a repeated task is the same. */
static void return_items(struct sim_stage_run *stage, struct sim_hand *hand)
{
    struct sim_pipeline_run *run = stage->pipeline;
    struct sim_queue reversed = SIM_QUEUE_EMPTY;
    while (hand->task_count > 0) {
        const uint32_t item = hand->task_head;
        hand->task_head = run->items.items[item].next;
        hand->task_count--;
        sim_queue_push_front(&reversed, &run->items, item);
    }
    hand->task_head = SIM_NO_ITEM;
    const int64_t now_ns = sim_engine_now(run->context->engine);
    while (reversed.count > 0) {
        const uint32_t item = sim_queue_pop(&reversed, &run->items);
        run->items.items[item].queued_ns = now_ns;
        sim_queue_push_front(&stage->queue, &run->items, item);
    }
    sim_stage_note_queue(stage);
}

/* Output of a blocked worker is finished work: it moves on even where the buffer is full. */
static void release_output(struct sim_stage_run *stage, struct sim_hand *hand)
{
    struct sim_pipeline_run *run = stage->pipeline;
    struct sim_stage_run *next = stage + 1;
    while (hand->task_count > 0) {
        const uint32_t item = hand->task_head;
        hand->task_head = run->items.items[item].next;
        hand->task_count--;
        sim_queue_push(&next->queue, &run->items, item);
    }
    hand->task_head = SIM_NO_ITEM;
    sim_meter_queue(run->context->meter, sim_engine_now(run->context->engine), next->index,
                    next->queue.count, next->queue.bytes);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < stage->blocked_count; i++)
        if (stage->blocked[i] != hand->slot)
            stage->blocked[kept++] = stage->blocked[i];
    stage->blocked_count = kept;
}

weir_status sim_pipeline_stop(struct sim_stage_run *stage, struct sim_hand *hand, enum sim_stop why)
{
    struct sim_pipeline_run *run = stage->pipeline;
    const int64_t now_ns = sim_engine_now(run->context->engine);
    if (run->flow->release != NULL)
        run->flow->release(stage, hand);
    if (hand->worker->state == SIM_WORKER_BUSY) {
        sim_meter_work_lost(run->context->meter, now_ns, stage->index, now_ns - hand->task_start_ns,
                            sim_stop_cause(why));
        return_items(stage, hand);
    } else if (hand->worker->state == SIM_WORKER_BLOCKED) {
        release_output(stage, hand);
    } else if (hand->worker->state == SIM_WORKER_IDLE) {
        sim_stage_leave_idle(stage, hand);
    }
    sim_stage_put_down(stage, hand);
    stage->count[hand->worker->state]--;
    sim_loop_room_leave(stage, hand);
    stage->hands[hand->position] = NULL;
    stage->worker_count--;
    const weir_status status = sim_stage_drop_task(stage, hand);
    assert(hand->task_count == 0 && hand->held.count == 0);
    hand->worker->work = NULL;
    hand->worker = NULL;
    sim_slab_give(&run->hands, hand);
    return status;
}

weir_status sim_pipeline_end_worker(struct sim_stage_run *stage, struct sim_hand *hand,
                                    enum sim_stop why, const char *text)
{
    const struct sim_driver_config *config = &stage->pipeline->config;
    return config->services->end(config->world, hand->worker, why, text);
}

sim_handle sim_pipeline_schedule(const struct sim_pipeline_run *run, int64_t at_ns,
                                 enum sim_pipeline_event kind, enum sim_phase phase)
{
    const struct sim_event event = { .time_ns = at_ns,
                                     .kind = sim_driver_kind(run->config.index, (uint8_t)kind),
                                     .phase = (uint16_t)phase };
    return sim_engine_schedule(run->context->engine, &event);
}

weir_status sim_pipeline_stall(struct sim_stage_run *stage)
{
    stage->stalled++;
    return sim_stage_paced(stage);
}

weir_status sim_pipeline_unstall(struct sim_stage_run *stage)
{
    stage->stalled--;
    WEIR_TRY(sim_stage_paced(stage));
    return stage->pipeline->flow->changed(stage->pipeline, stage->position);
}

static uint64_t list_ages(const struct sim_item_slab *slab, uint32_t head, uint64_t count,
                          int64_t now_ns, int64_t *age_ns)
{
    for (uint64_t n = 0; n < count; n++, head = slab->items[head].next)
        age_ns[n] = now_ns - slab->items[head].admitted_ns;
    return count;
}

/* Of requests in a batcher, which fill the list with their items first. */
static uint64_t batched_ages(const struct sim_stage_run *stage, int64_t now_ns, int64_t *age_ns)
{
    const uint64_t count = sim_batching_waiting(stage);
    uint64_t *const items = calloc(count + 1, sizeof *items);
    if (count > 0 && items != NULL)
        sim_batching_list(stage, items);
    for (uint64_t i = 0; i < count; i++)
        age_ns[i] = items == NULL ? 0 : now_ns - stage->pipeline->items.items[items[i]].admitted_ns;
    free(items);
    return count;
}

uint64_t sim_pipeline_ages(const struct sim_pipeline_run *run, int64_t now_ns, int64_t *age_ns)
{
    uint64_t filled = 0;
    for (uint32_t s = 0; s < run->stage_count; s++) {
        const struct sim_stage_run *stage = &run->stages[s];
        const struct sim_queue *const queues[] = { &stage->queue, &stage->loop.pool,
                                                   &stage->loop.outbox };
        filled += batched_ages(stage, now_ns, age_ns + filled);
        for (size_t q = 0; q < sizeof(queues) / sizeof(queues[0]); q++)
            filled +=
                list_ages(&run->items, queues[q]->head, queues[q]->count, now_ns, age_ns + filled);
        for (uint32_t i = 0; i < stage->positions; i++) {
            const struct sim_hand *hand = stage->hands[i];
            if (hand == NULL)
                continue;
            filled +=
                list_ages(&run->items, hand->task_head, hand->task_count, now_ns, age_ns + filled);
            filled +=
                list_ages(&run->items, hand->held.head, hand->held.count, now_ns, age_ns + filled);
        }
    }
    return filled;
}

static weir_status check_stage(const struct sim_stage_run *stage, uint64_t *items,
                               struct weir_error *error)
{
    uint32_t count[SIM_METER_STATES] = { 0 };
    uint32_t workers = 0;
    uint32_t used_slots = 0;
    double in_hand = 0;
    *items += stage->queue.count + stage->loop.pool.count + stage->loop.outbox.count +
              sim_batching_waiting(stage);
    for (uint32_t i = 0; i < stage->positions; i++) {
        const struct sim_hand *hand = stage->hands[i];
        if (hand == NULL)
            continue;
        workers++;
        count[hand->worker->state]++;
        *items += hand->task_count + hand->held.count;
        used_slots += hand->used_slots;
        in_hand += hand->input_bytes;
    }
    if (used_slots != stage->loop.used_slots)
        return weir_fail(error, WEIR_EINVARIANT, "stage %s: %u slots in use, counted %u",
                         stage->spec->name, used_slots, stage->loop.used_slots);
    if (fabs(in_hand - stage->bytes_in_hand) > 1 + 1e-9 * in_hand)
        return weir_fail(error, WEIR_EINVARIANT, "stage %s: %.0f bytes in hand, counted %.0f",
                         stage->spec->name, in_hand, stage->bytes_in_hand);
    for (uint32_t s = SIM_WORKER_SETUP; s < SIM_METER_STATES; s++)
        if (count[s] != stage->count[s])
            return weir_fail(error, WEIR_EINVARIANT, "stage %s: %u workers in state %u, counted %u",
                             stage->spec->name, count[s], s, stage->count[s]);
    if (sim_stage_batches(stage) &&
        weir_batcher_waiting(stage->batching.batcher) != stage->batching.count)
        return weir_fail(error, WEIR_EINVARIANT, "service %s: %u requests wait, counted %llu",
                         stage->spec->name, weir_batcher_waiting(stage->batching.batcher),
                         (unsigned long long)stage->batching.count);
    if (!sim_loop_room_check(stage))
        return weir_fail(error, WEIR_EINVARIANT, "stage %s: free slots are listed wrongly",
                         stage->spec->name);
    if (workers != stage->worker_count || count[SIM_WORKER_IDLE] != stage->idle.count)
        return weir_fail(error, WEIR_EINVARIANT, "stage %s: %u workers, counted %u (%u idle)",
                         stage->spec->name, workers, stage->worker_count, stage->idle.count);
    return WEIR_OK;
}

weir_status sim_pipeline_check(const struct sim_pipeline_run *run, struct weir_error *error)
{
    uint64_t items = 0;
    for (uint32_t i = 0; i < run->stage_count; i++)
        WEIR_TRY(check_stage(&run->stages[i], &items, error));
    if (items != run->items.alive)
        return weir_fail(error, WEIR_EINVARIANT,
                         "pipeline %s: %llu items in queues and hands, %u alive", run->spec->name,
                         (unsigned long long)items, run->items.alive);
    return sim_transfer_check(run, error);
}
