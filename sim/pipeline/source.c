/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The source of a pipeline: a backlog that is all there at the start, or arrivals in time.
 *
 * A backlog creates its items only when the first stage takes them (latency counts from there).
 * Arrivals follow a process (sim/scenario/workload/arrival_process.h), whose draws are keyed by the
 * item that arrives, or the times of a recorded file. The timeline scales the rate: what is left of
 * the time to a pending arrival is scaled with it. Whatever brings it, item n is the same: its
 * draws are keyed by n, and of a file it is row n. What comes on top of a file (a burst, a queue
 * that is there at the start) is its rows once more, from the first.
 */
#include "sim/engine/time.h"
#include "sim/pipeline/flow.h"
#include "sim/pipeline/pipeline.h"
#include "sim/pipeline/transfer.h"

#include <math.h>

static uint32_t draw_class(const struct sim_pipeline_run *run, uint64_t id)
{
    const struct sim_input *input = &run->spec->input;
    if (input->classes_count < 2)
        return 0;
    struct sim_stream stream;
    sim_stream_open(&stream, &run->random, SIM_DRAW_ITEM_CLASS,
                    (struct sim_stream_key){ .item = id });
    double u = sim_stream_uniform(&stream);
    uint32_t pick = 0;
    while (pick + 1 < input->classes_count && u >= input->classes[pick].weight)
        u -= input->classes[pick++].weight;
    return pick;
}

/* Size, class and bytes, as drawn or as the file says. */
static void describe(const struct sim_pipeline_run *run, struct sim_item *made)
{
    const struct sim_input *input = &run->spec->input;
    const struct sim_recorded *recorded = &input->recorded;
    static const struct sim_item_row nothing = { 0 };
    const struct sim_item_row *row =
        recorded->count == 0 ? &nothing : &recorded->rows[made->id % input->items];
    made->item_class = recorded->has_classes ? row->item_class : draw_class(run, made->id);
    made->size = recorded->has_sizes ? row->size : 1.0;
    made->bytes = recorded->has_bytes ? row->bytes : 0.0;
    const struct sim_law *size =
        input->classes_count == 0 ? NULL : input->classes[made->item_class].size;
    const struct sim_stream_key key = { .item = made->id };
    if (size != NULL && !recorded->has_sizes)
        made->size = sim_law_draw_of(size, &run->random, SIM_DRAW_ITEM_SIZE, key);
    if (input->bytes != NULL && !recorded->has_bytes)
        made->bytes = sim_law_draw_of(input->bytes, &run->random, SIM_DRAW_BYTES, key);
    if (input->store != WEIR_NO_INDEX)
        made->place = SIM_PLACE_INPUT;
}

static weir_status admit(struct sim_pipeline_run *run, uint64_t id, uint32_t *item)
{
    uint32_t index = SIM_NO_ITEM;
    WEIR_TRY(sim_item_new(&run->items, &index));
    struct sim_item *made = &run->items.items[index];
    made->id = id;
    made->admitted_ns = sim_engine_now(run->context->engine);
    made->queued_ns = made->admitted_ns;
    describe(run, made);
    if (run->source_left != UINT64_MAX)
        run->source_left--;
    sim_meter_item_arrived(run->context->meter, made->admitted_ns, run->index);
    *item = index;
    return WEIR_OK;
}

weir_status sim_source_admit(struct sim_pipeline_run *run, uint32_t *item)
{
    return admit(run, run->source_next++, item);
}

weir_status sim_stage_next_item(struct sim_stage_run *stage, uint32_t *item)
{
    if (stage->queue.count == 0)
        return sim_source_admit(stage->pipeline, item);
    *item = sim_queue_pop(&stage->queue, &stage->pipeline->items);
    return WEIR_OK;
}

weir_status sim_source_add(struct sim_pipeline_run *run, uint32_t *item)
{
    const struct sim_input *input = &run->spec->input;
    if (run->source_left != UINT64_MAX)
        run->source_left++;
    return admit(
        run, input->recorded.count > 0 ? input->items + run->source_repeated++ : run->source_next++,
        item);
}

/* ---- arrivals ---- */

/* `due_ns` of the process from now on, at the rate that holds now. */
static void schedule_arrival(struct sim_pipeline_run *run, double due_ns)
{
    const int64_t now_ns = sim_engine_now(run->context->engine);
    run->arrival_rest_ns = -1;
    if (!(run->arrival_factor > 0)) {
        run->arrival_rest_ns = llround(due_ns);
        return;
    }
    const double wait_ns =
        sim_arrival_process_lasts_ns(&run->arrivals, due_ns, run->arrival_factor);
    const bool is_never = !(wait_ns < (double)(SIM_TIME_MAX - now_ns));
    run->arrival_due_ns = is_never ? SIM_TIME_MAX : now_ns + llround(wait_ns);
    run->arrival =
        sim_pipeline_schedule(run, run->arrival_due_ns, SIM_PIPELINE_ARRIVAL, SIM_PHASE_ARRIVAL);
}

static int64_t row_time(const struct sim_pipeline_run *run, uint64_t row)
{
    const struct sim_input *input = &run->spec->input;
    const long double at_ns = (long double)input->recorded.rows[row].at_ns; /* holds every ns */
    return (int64_t)llroundl(at_ns / (long double)input->arrivals->scale);
}

/* Due time from the arrival before to the next. */
static double next_due_ns(struct sim_pipeline_run *run)
{
    const uint64_t next = run->source_next;
    if (run->spec->input.arrivals->kind == SIM_ARRIVALS_TRACE)
        return (double)(row_time(run, next) - (next == 0 ? 0 : row_time(run, next - 1)));
    run->arrivals.count = next;
    return 1e9 * sim_arrival_process_draw(&run->arrivals);
}

static void plan_next(struct sim_pipeline_run *run)
{
    run->arrival = SIM_NO_HANDLE;
    if (run->source_left == 0)
        return;
    sim_arrival_process_move(&run->arrivals, sim_time_s(sim_engine_now(run->context->engine)));
    schedule_arrival(run, next_due_ns(run));
}

static void enqueue(struct sim_pipeline_run *run, uint32_t item)
{
    struct sim_stage_run *first = &run->stages[0];
    sim_queue_push(&first->queue, &run->items, item);
    sim_stage_note_queue(first);
}

weir_status sim_source_begin(struct sim_pipeline_run *run)
{
    const struct sim_arrivals *arrivals = run->spec->input.arrivals;
    if (arrivals != NULL) {
        sim_arrival_process_open(&run->arrivals, arrivals, &run->random, SIM_DRAW_ARRIVAL);
        plan_next(run);
        return WEIR_OK;
    }
    sim_meter_submitted(run->context->meter, sim_engine_now(run->context->engine), run->index);
    return WEIR_OK;
}

/* How many come at this instant. */
static uint64_t batch_of(const struct sim_pipeline_run *run)
{
    const struct sim_arrivals *arrivals = run->spec->input.arrivals;
    uint64_t count = 1;
    if (arrivals->kind != SIM_ARRIVALS_TRACE)
        count = sim_arrival_process_batch(&run->arrivals);
    else
        while (count < run->source_left &&
               row_time(run, run->source_next + count) == row_time(run, run->source_next))
            count++;
    return count < run->source_left ? count : run->source_left;
}

weir_status sim_source_arrive(struct sim_pipeline_run *run)
{
    const uint64_t count = batch_of(run);
    for (uint64_t i = 0; i < count; i++) {
        uint32_t item = SIM_NO_ITEM;
        WEIR_TRY(sim_source_admit(run, &item));
        enqueue(run, item);
    }
    plan_next(run);
    return run->flow->changed(run, 0);
}

weir_status sim_source_burst(struct sim_pipeline_run *run, uint64_t items)
{
    for (uint64_t i = 0; i < items; i++) {
        uint32_t item = SIM_NO_ITEM;
        WEIR_TRY(sim_source_add(run, &item));
        enqueue(run, item);
    }
    return run->flow->changed(run, 0);
}

bool sim_source_is_awaited(const struct sim_pipeline_run *run)
{
    return run->config.services->brings(run->config.world, run->config.index);
}

bool sim_source_is_dry(const struct sim_pipeline_run *run)
{
    return run->source_left == 0 && !sim_source_is_awaited(run);
}

weir_status sim_source_set_factor(struct sim_pipeline_run *run, double factor)
{
    const int64_t now_ns = sim_engine_now(run->context->engine);
    const double old = run->arrival_factor;
    run->arrival_factor = factor;
    if (run->spec->input.arrivals == NULL)
        return WEIR_OK;
    sim_arrival_process_move(&run->arrivals, sim_time_s(now_ns));
    if (run->arrival != SIM_NO_HANDLE) {
        const double span_ns = (double)(run->arrival_due_ns - now_ns);
        run->arrival_rest_ns = llround(sim_arrival_process_takes_ns(&run->arrivals, span_ns) * old);
        (void)sim_engine_cancel(run->context->engine, run->arrival);
        run->arrival = SIM_NO_HANDLE;
    }
    if (run->arrival_rest_ns >= 0)
        schedule_arrival(run, (double)run->arrival_rest_ns);
    return WEIR_OK;
}
