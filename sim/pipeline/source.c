/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The source of a pipeline: a backlog that is all there at the start, or arrivals in time.
 *
 * A backlog creates its items only when the first stage takes them (latency counts from there).
 * Inter-arrival times are keyed by the item that arrives; the timeline scales the rate, and what is
 * left of a pending gap is scaled with it.
 */
#include "sim/pipeline/flow.h"
#include "sim/pipeline/pipeline.h"
#include "sim/pipeline/transfer.h"

#include <math.h>

static struct sim_stream item_stream(const struct sim_pipeline_run *run, enum sim_purpose purpose,
                                     uint64_t item)
{
    struct sim_stream stream;
    const struct sim_stream_key key = { item, 0, 0 };
    sim_stream_open(&stream, &run->random, purpose, key);
    return stream;
}

static uint32_t draw_class(const struct sim_pipeline_run *run, uint64_t id)
{
    const struct sim_input *input = &run->spec->input;
    if (input->classes_count < 2)
        return 0;
    struct sim_stream stream = item_stream(run, SIM_DRAW_ITEM_CLASS, id);
    double u = sim_stream_uniform(&stream);
    uint32_t pick = 0;
    while (pick + 1 < input->classes_count && u >= input->classes[pick].weight)
        u -= input->classes[pick++].weight;
    return pick;
}

weir_status sim_source_admit(struct sim_pipeline_run *run, uint32_t *item)
{
    const struct sim_input *input = &run->spec->input;
    uint32_t index = SIM_NO_ITEM;
    WEIR_TRY(sim_item_new(&run->items, &index));
    struct sim_item *made = &run->items.items[index];
    made->id = run->source_next++;
    made->admitted_ns = sim_engine_now(run->context->engine);
    made->queued_ns = made->admitted_ns;
    made->item_class = draw_class(run, made->id);
    made->size = 1.0;
    const struct sim_law *size =
        input->classes_count == 0 ? NULL : input->classes[made->item_class].size;
    if (size != NULL) {
        struct sim_stream stream = item_stream(run, SIM_DRAW_ITEM_SIZE, made->id);
        made->size = sim_law_draw(size, &stream);
    }
    if (input->bytes != NULL) {
        struct sim_stream stream = item_stream(run, SIM_DRAW_BYTES, made->id);
        made->bytes = sim_law_draw(input->bytes, &stream);
    }
    if (input->store != WEIR_NO_INDEX)
        made->place = SIM_PLACE_INPUT;
    if (run->source_left != UINT64_MAX)
        run->source_left--;
    sim_meter_item_arrived(run->context->meter, made->admitted_ns, run->index);
    *item = index;
    return WEIR_OK;
}

static weir_status schedule_arrival(struct sim_pipeline_run *run, int64_t at_ns)
{
    run->arrival_due_ns = at_ns;
    run->arrival = sim_pipeline_schedule(run, at_ns, SIM_PIPELINE_ARRIVAL, SIM_PHASE_ARRIVAL);
    return WEIR_OK;
}

static weir_status plan_next(struct sim_pipeline_run *run)
{
    run->arrival = SIM_NO_HANDLE;
    if (run->source_left == 0)
        return WEIR_OK;
    struct sim_stream stream = item_stream(run, SIM_DRAW_ARRIVAL, run->source_next);
    const double gap_s = sim_law_draw(run->spec->input.arrivals, &stream);
    if (!(run->arrival_factor > 0)) {
        run->arrival_rest_ns = sim_time_from_s(gap_s);
        return WEIR_OK;
    }
    return schedule_arrival(run, sim_engine_now(run->context->engine) +
                                     sim_time_from_s(gap_s / run->arrival_factor));
}

static weir_status enqueue_new(struct sim_pipeline_run *run)
{
    struct sim_stage_run *first = &run->stages[0];
    uint32_t item = SIM_NO_ITEM;
    WEIR_TRY(sim_source_admit(run, &item));
    sim_queue_push(&first->queue, &run->items, item);
    sim_stage_note_queue(first);
    return WEIR_OK;
}

weir_status sim_source_begin(struct sim_pipeline_run *run)
{
    if (run->spec->input.arrivals != NULL)
        return plan_next(run);
    sim_meter_submitted(run->context->meter, sim_engine_now(run->context->engine), run->index);
    return WEIR_OK;
}

weir_status sim_source_arrive(struct sim_pipeline_run *run)
{
    WEIR_TRY(enqueue_new(run));
    WEIR_TRY(plan_next(run));
    return run->flow->changed(run, 0);
}

weir_status sim_source_burst(struct sim_pipeline_run *run, uint64_t items)
{
    for (uint64_t i = 0; i < items; i++) {
        if (run->source_left != UINT64_MAX)
            run->source_left++; /* a burst adds to the input, it does not eat it */
        WEIR_TRY(enqueue_new(run));
    }
    return run->flow->changed(run, 0);
}

weir_status sim_source_set_factor(struct sim_pipeline_run *run, double factor)
{
    const int64_t now_ns = sim_engine_now(run->context->engine);
    const double old = run->arrival_factor;
    run->arrival_factor = factor;
    if (run->spec->input.arrivals == NULL)
        return WEIR_OK;
    if (run->arrival != SIM_NO_HANDLE) {
        run->arrival_rest_ns = (int64_t)llround((double)(run->arrival_due_ns - now_ns) * old);
        (void)sim_engine_cancel(run->context->engine, run->arrival);
        run->arrival = SIM_NO_HANDLE;
    }
    if (run->arrival_rest_ns < 0 || !(factor > 0))
        return WEIR_OK;
    const double rest_ns = (double)run->arrival_rest_ns / factor;
    run->arrival_rest_ns = -1;
    return schedule_arrival(run, now_ns + (int64_t)llround(rest_ns));
}
