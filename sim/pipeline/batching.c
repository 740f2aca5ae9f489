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
    stage->batching.tokens = sim_token_bucket_open(&stage->pipeline->spec->input.rate_limit);
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

uint64_t sim_batching_waiting_items(const struct sim_stage_run *stage)
{
    const uint32_t count = sim_batching_is_coming(stage) ? 0 : (uint32_t)stage->queue.count;
    return stage->batching.items + sim_batching_items(stage, stage->queue.head, count);
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

/* When a request begins to wait. */
static int64_t enters_ns(const struct sim_stage_run *stage, const struct sim_item *item)
{
    return item->admitted_ns + stage->pipeline->spec->input.overhead_ns;
}

static bool is_authorised(const struct sim_stage_run *stage, const struct sim_item *item)
{
    const double unauthorised = stage->pipeline->spec->input.unauthorised;
    if (class_of(stage, item)->is_denied)
        return false;
    if (!(unauthorised > 0))
        return true;
    struct sim_stream stream;
    sim_stream_open(&stream, &stage->pipeline->random, SIM_DRAW_AUTHORISATION,
                    (struct sim_stream_key){ .item = item->id });
    return !(sim_stream_uniform(&stream) < unauthorised);
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
                                        .queued_ns = enters_ns(stage, item),
                                        .timeout_ns = class->timeout_ns,
                                        .priority = has_priority ? (int32_t) class->priority : -1,
                                        .is_back = item->is_let_in };
}

/* Whether it comes in, or why not. What was let in and comes back, as its replica went or failed,
 * is the same request: it passes the limits once. */
static bool passes(struct sim_stage_run *stage, const struct sim_item *item,
                   enum sim_turned_away *why)
{
    *why = SIM_TURNED_AWAY_UNREACHABLE;
    if (stage->batching.unreachable > 0)
        return false;
    if (item->is_let_in)
        return true;
    *why = SIM_TURNED_AWAY_UNAUTHORISED;
    if (!is_authorised(stage, item))
        return false;
    *why = SIM_TURNED_AWAY_LIMITED;
    return sim_token_bucket_take(&stage->batching.tokens, now_of(stage));
}

static weir_status take_one(struct sim_stage_run *stage, uint32_t index)
{
    struct sim_item *item = &stage->pipeline->items.items[index];
    const struct weir_batch_request request = request_of(stage, index);
    enum sim_turned_away why = SIM_TURNED_AWAY_FULL;
    if (!passes(stage, item, &why)) {
        turn_away(stage, index, why);
        return WEIR_OK;
    }
    const weir_status status =
        weir_batcher_add(stage->batching.batcher, &request, stage->pipeline->context->error);
    if (status == WEIR_EBUSY) {
        turn_away(stage, index, SIM_TURNED_AWAY_FULL);
        return WEIR_OK;
    }
    if (status == WEIR_OK) {
        item->is_let_in = true;
        stage->batching.count++;
        stage->batching.items += request.items;
        stage->batching.bytes += item->bytes;
    }
    return status;
}

/* Those that are on their way stand in the queue, the first of them in front; *next_ns is when it
 * is there. */
static weir_status take_in(struct sim_stage_run *stage, int64_t *next_ns)
{
    struct sim_item_slab *slab = &stage->pipeline->items;
    *next_ns = SIM_TIME_MAX;
    while (stage->queue.count > 0) {
        const int64_t at_ns = enters_ns(stage, &slab->items[stage->queue.head]);
        if (at_ns > now_of(stage)) {
            *next_ns = at_ns;
            break;
        }
        WEIR_TRY(take_one(stage, sim_queue_pop(&stage->queue, slab)));
    }
    return WEIR_OK;
}

static void leaves(struct sim_stage_run *stage, uint32_t index)
{
    const struct sim_item *item = &stage->pipeline->items.items[index];
    stage->batching.count--;
    stage->batching.items -= class_of(stage, item)->items;
    stage->batching.bytes -= item->bytes;
    if (stage->batching.count == 0)
        stage->batching.bytes = 0; /* no rest of many roundings */
}

/* ---- batches ---- */

/* Whether a batch that begins with this request costs it a replica. */
static bool is_miscounted(const struct sim_stage_run *stage, const struct weir_batch *batch)
{
    struct sim_stream stream;
    if (!(stage->spec->miscount > 0) || batch->count < 2)
        return false;
    const struct sim_item *first = &stage->pipeline->items.items[batch->ids[0]];
    sim_stream_open(&stream, &stage->pipeline->random, SIM_DRAW_MISCOUNT,
                    (struct sim_stream_key){ .item = first->id });
    return sim_stream_uniform(&stream) < stage->spec->miscount;
}

static weir_status start(struct sim_stage_run *stage, const struct weir_batch *batch)
{
    struct sim_pipeline_run *run = stage->pipeline;
    struct sim_hand *hand = sim_stage_pick_idle(stage);
    struct sim_queue task = SIM_QUEUE_EMPTY;
    const int64_t now_ns = now_of(stage);
    int64_t oldest_ns = now_ns;
    stage->batching.missing += is_miscounted(stage, batch);
    for (uint32_t i = 0; i < batch->count; i++) {
        const uint32_t item = (uint32_t)batch->ids[i];
        const struct sim_item *request = &run->items.items[item];
        const int64_t came_ns = enters_ns(stage, request);
        const int64_t since_ns = request->queued_ns > came_ns ? request->queued_ns : came_ns;
        leaves(stage, item);
        if (came_ns < oldest_ns)
            oldest_ns = came_ns;
        sim_meter_wait(run->context->meter, now_ns, stage->index, now_ns - since_ns);
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
    const struct weir_batch_query query = {
        .size = sizeof query,
        .has_instance = stage->idle.count > stage->batching.missing && stage->stalled == 0,
        .is_last = sim_source_is_dry(run) && stage->queue.count == 0,
        .now_ns = now_of(stage)
    };
    WEIR_TRY(weir_batcher_next(stage->batching.batcher, &query, batch, run->context->error));
    for (uint32_t i = 0; i < batch->expired_count; i++) {
        leaves(stage, (uint32_t)batch->expired[i]);
        turn_away(stage, (uint32_t)batch->expired[i], SIM_TURNED_AWAY_EXPIRED);
    }
    return batch->count == 0 ? WEIR_OK : start(stage, batch);
}

static weir_status turn_all_away(struct sim_stage_run *stage)
{
    const uint64_t count = stage->batching.count;
    uint64_t *const items = calloc(count + 1, sizeof *items);
    if (items == NULL)
        return WEIR_ENOMEM;
    sim_batching_list(stage, items);
    for (uint64_t i = 0; i < count; i++) {
        (void)weir_batcher_remove(stage->batching.batcher, items[i]);
        leaves(stage, (uint32_t)items[i]);
        turn_away(stage, (uint32_t)items[i], SIM_TURNED_AWAY_UNREACHABLE);
    }
    free(items);
    return WEIR_OK;
}

weir_status sim_batching_reach(struct sim_stage_run *stage, bool is_lost)
{
    stage->batching.unreachable += is_lost ? 1 : UINT32_MAX;
    if (!is_lost)
        return sim_pipeline_unstall(stage);
    WEIR_TRY(turn_all_away(stage));
    sim_stage_note_queue(stage);
    return sim_pipeline_stall(stage);
}

weir_status sim_batching_settle(struct sim_stage_run *stage, bool *has_started)
{
    struct weir_batch batch;
    int64_t next_ns = SIM_TIME_MAX;
    WEIR_TRY(take_in(stage, &next_ns));
    do {
        WEIR_TRY(step(stage, &batch));
        *has_started = *has_started || batch.count > 0;
    } while (batch.count > 0);
    plan(stage, batch.wake_ns < next_ns ? batch.wake_ns : next_ns);
    sim_stage_note_queue(stage);
    return WEIR_OK;
}
