/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requests in front of a service; see the header. */
#include "sim/pipeline/batching.h"

#include "sim/engine/room.h"
#include "sim/pipeline/flow.h"
#include "sim/record/meter/meter_services.h"

#include <stdlib.h>

static int64_t now_of(const struct sim_stage_run *stage)
{
    return sim_engine_now(stage->pipeline->context->engine);
}

static const struct sim_item_class *class_of(const struct sim_stage_run *stage,
                                             const struct sim_item *item)
{
    return &stage->pipeline->spec->input.classes[item->item_class];
}

weir_status sim_batching_open(struct sim_stage_run *stage)
{
    const struct sim_policy_choice *choice = stage->spec->batching;
    stage->batching.due = SIM_NO_HANDLE;
    if (choice == NULL)
        return WEIR_OK;
    const struct weir_params params = { choice->values, (uint32_t)choice->count, 0 };
    const struct sim_input *input = &stage->pipeline->spec->input;
    stage->batching.class_count = (uint32_t)input->classes_count;
    stage->batching.class_names = calloc(input->classes_count, sizeof(char *));
    if (stage->batching.class_names == NULL)
        return WEIR_ENOMEM;
    for (size_t i = 0; i < input->classes_count; i++)
        stage->batching.class_names[i] = input->classes[i].name;
    return weir_batcher_create(choice->batching, &params, NULL, &stage->batching.batcher, NULL);
}

void sim_batching_close(struct sim_stage_run *stage)
{
    weir_batcher_destroy(stage->batching.batcher);
    free(stage->batching.class_names);
}

void sim_batching_list(const struct sim_stage_run *stage, uint64_t *items)
{
    weir_batcher_list(stage->batching.batcher, items);
}

uint32_t sim_batching_items(const struct sim_stage_run *stage, uint32_t head, uint32_t count)
{
    const struct sim_item *items = stage->pipeline->items.items;
    uint32_t sum = 0;
    if (!sim_stage_batches(stage))
        return count;
    for (uint32_t i = head, n = 0; n < count; n++, i = items[i].next)
        sum += class_of(stage, &items[i])->items;
    return sum;
}

void sim_batching_served(struct sim_pipeline_run *run, const struct sim_item *item)
{
    const struct sim_stage_run *stage = &run->stages[0];
    const int64_t now_ns = now_of(stage);
    if (sim_stage_batches(stage))
        sim_meter_request_served(run->context->meter, now_ns, stage->index, item->item_class,
                                 now_ns - item->admitted_ns);
}

/* ---- requests come and are turned away ---- */

static void turn_away(struct sim_stage_run *stage, uint32_t item, enum sim_turned_away why)
{
    struct sim_pipeline_run *run = stage->pipeline;
    sim_meter_request_turned_away(run->context->meter, now_of(stage), stage->index, why);
    sim_pipeline_item_done(run, item, false);
}

/* Since when it waits is since when it is there: one that comes back keeps its turn. */
static struct weir_batch_request request_of(const struct sim_stage_run *stage, uint32_t index)
{
    const struct sim_item *item = &stage->pipeline->items.items[index];
    const struct sim_item_class *class = class_of(stage, item);
    const bool has_priority = class->priority <= 100;
    return (struct weir_batch_request){ .size = sizeof(struct weir_batch_request),
                                        .items = class->items,
                                        .id = index,
                                        .shape = class->shape,
                                        .queued_ns = item->admitted_ns,
                                        .timeout_ns = class->timeout_ns,
                                        .priority = has_priority ? (int32_t) class->priority : -1 };
}

static weir_status take_in(struct sim_stage_run *stage)
{
    struct sim_item_slab *slab = &stage->pipeline->items;
    while (stage->queue.count > 0) {
        const uint32_t item = sim_queue_pop(&stage->queue, slab);
        const struct weir_batch_request request = request_of(stage, item);
        const weir_status status =
            weir_batcher_add(stage->batching.batcher, &request, stage->pipeline->context->error);
        if (status == WEIR_EBUSY)
            turn_away(stage, item, SIM_TURNED_AWAY_FULL);
        else
            WEIR_TRY(status);
        if (status == WEIR_EBUSY)
            continue;
        stage->batching.count++;
        stage->batching.bytes += slab->items[item].bytes;
    }
    return WEIR_OK;
}

static void leaves(struct sim_stage_run *stage, uint32_t item)
{
    stage->batching.count--;
    stage->batching.bytes -= stage->pipeline->items.items[item].bytes;
    if (stage->batching.count == 0)
        stage->batching.bytes = 0; /* no rest of many roundings */
}

/* ---- batches ---- */

static weir_status start(struct sim_stage_run *stage, const struct weir_batch *batch)
{
    struct sim_pipeline_run *run = stage->pipeline;
    struct sim_hand *hand = sim_stage_pick_idle(stage);
    struct sim_queue task = SIM_QUEUE_EMPTY;
    const int64_t now_ns = now_of(stage);
    int64_t oldest_ns = now_ns;
    for (uint32_t i = 0; i < batch->count; i++) {
        const uint32_t item = (uint32_t)batch->ids[i];
        const struct sim_item *request = &run->items.items[item];
        leaves(stage, item);
        if (request->admitted_ns < oldest_ns)
            oldest_ns = request->admitted_ns;
        sim_meter_wait(run->context->meter, now_ns, stage->index, now_ns - request->queued_ns);
        sim_queue_push(&task, &run->items, item);
    }
    sim_meter_batch(run->context->meter, now_ns, stage->index, batch->items, now_ns - oldest_ns);
    sim_stage_hold(stage, hand, &task);
    return sim_stage_work(stage, hand);
}

/* When to look again, if nothing else happens before. */
static void plan(struct sim_stage_run *stage, int64_t wake_ns)
{
    struct sim_pipeline_run *run = stage->pipeline;
    if (stage->batching.due != SIM_NO_HANDLE && stage->batching.due_ns == wake_ns)
        return;
    if (stage->batching.due != SIM_NO_HANDLE)
        (void)sim_engine_cancel(run->context->engine, stage->batching.due);
    stage->batching.due = SIM_NO_HANDLE;
    if (wake_ns >= SIM_TIME_MAX)
        return;
    const struct sim_event event = { .time_ns = wake_ns,
                                     .target = stage->position,
                                     .kind = sim_driver_kind(run->config.index, SIM_PIPELINE_BATCH),
                                     .phase = SIM_PHASE_FLOW };
    stage->batching.due_ns = wake_ns;
    stage->batching.due = sim_engine_schedule(run->context->engine, &event);
}

/* One question to the batcher: whose time is over goes, and a batch may. */
static weir_status step(struct sim_stage_run *stage, struct weir_batch *batch)
{
    const struct sim_pipeline_run *run = stage->pipeline;
    const struct weir_batch_query query = { .size = sizeof query,
                                            .has_instance =
                                                stage->idle.count > 0 && stage->stalled == 0,
                                            .is_last = run->source_left == 0,
                                            .now_ns = now_of(stage) };
    WEIR_TRY(weir_batcher_next(stage->batching.batcher, &query, batch, run->context->error));
    for (uint32_t i = 0; i < batch->expired_count; i++) {
        leaves(stage, (uint32_t)batch->expired[i]);
        turn_away(stage, (uint32_t)batch->expired[i], SIM_TURNED_AWAY_EXPIRED);
    }
    return batch->count == 0 ? WEIR_OK : start(stage, batch);
}

weir_status sim_batching_settle(struct sim_stage_run *stage, bool *has_started)
{
    struct weir_batch batch;
    WEIR_TRY(take_in(stage));
    do {
        WEIR_TRY(step(stage, &batch));
        *has_started = *has_started || batch.count > 0;
    } while (batch.count > 0);
    plan(stage, batch.wake_ns);
    sim_stage_note_queue(stage);
    return WEIR_OK;
}
