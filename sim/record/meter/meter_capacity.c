/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bottleneck, balance and steady intervals: what changes only when a worker appears, becomes ready
 * or goes, or when a measured speed changes.
 *
 * Normalised capacity of a stage = ready workers * batches per s * batch * source items that one of
 * its items stands for: source items per second. So behind a stage that makes ten of one it is a
 * tenth. A stage that has done its work and kept no worker and no input is out of
 * the comparison; one whose speed is not known yet is passed over unless it has no ready worker,
 * which is capacity 0 at any speed. Ties go to the earlier stage.
 */
#include "sim/record/meter/meter_state.h"

#include <math.h>

static int64_t ready_workers(const struct stage_meter *stage)
{
    return stage->count[SIM_METER_IDLE] + stage->count[SIM_METER_BUSY] +
           stage->count[SIM_METER_BLOCKED];
}

static bool takes_part(const struct stage_meter *stage)
{
    return ready_workers(stage) + stage->count[SIM_METER_SETUP] > 0 || stage->queue > 0 ||
           stage->tasks == 0;
}

static double capacity_of(const struct stage_meter *stage, const struct sim_meter_stage_info *info)
{
    const int64_t ready = ready_workers(stage);
    if (ready == 0)
        return 0.0;
    const double of_source = info->samples_per_source > 0.0 ? info->samples_per_source : 1.0;
    return (double)ready * stage->batches_per_s * (double)info->batch * of_source;
}

struct extremes {
    double least, most;
    uint32_t count, unknown, least_stage;
};

static void extremes_add(struct extremes *extremes, double capacity, uint32_t stage)
{
    if (isnan(capacity)) {
        extremes->unknown++;
        return;
    }
    if (extremes->count == 0 || capacity < extremes->least) {
        extremes->least = capacity;
        extremes->least_stage = stage;
    }
    if (extremes->count == 0 || capacity > extremes->most)
        extremes->most = capacity;
    extremes->count++;
}

/* Balance counts while every stage of the comparison has a ready worker and a known speed. */
static void set_balance(struct pipeline_meter *pipeline, int64_t now_ns, enum sim_balance which,
                        const struct extremes *extremes)
{
    const bool is_known = extremes->count > 0 && extremes->unknown == 0 && extremes->least > 0.0;
    sim_gauge_set(&pipeline->balance_known[which], now_ns, is_known ? 1.0 : 0.0);
    sim_gauge_set(&pipeline->balance[which], now_ns,
                  is_known ? extremes->least / extremes->most : 0.0);
}

static void set_bottleneck(struct sim_meter *meter, int64_t now_ns, struct pipeline_meter *pipeline,
                           uint32_t stage)
{
    if (pipeline->bottleneck == stage)
        return;
    if (pipeline->bottleneck != WEIR_NO_INDEX) {
        stage_advance(&meter->stages[pipeline->bottleneck], now_ns);
        meter->stages[pipeline->bottleneck].value[SERIES_BOTTLENECK] = 0.0;
    }
    if (stage != WEIR_NO_INDEX) {
        stage_advance(&meter->stages[stage], now_ns);
        meter->stages[stage].value[SERIES_BOTTLENECK] = 1.0;
    }
    pipeline->bottleneck = stage;
}

void sim_meter_rebalance(struct sim_meter *meter, int64_t now_ns, uint32_t pipeline)
{
    struct extremes all = { 0 };
    struct extremes gpu = { 0 };
    for (size_t s = 0; s < meter->stage_count; s++) {
        const struct stage_meter *stage = &meter->stages[s];
        const struct sim_meter_stage_info *info = &meter->info[s];
        if (info->pipeline != pipeline || !takes_part(stage))
            continue;
        const double capacity = capacity_of(stage, info);
        extremes_add(&all, capacity, (uint32_t)s);
        if (info->shape.gpu_units > 0 && ready_workers(stage) >= 2)
            extremes_add(&gpu, capacity, (uint32_t)s);
    }
    struct pipeline_meter *line = &meter->pipelines[pipeline];
    set_balance(line, now_ns, BALANCE_ALL, &all);
    set_balance(line, now_ns, BALANCE_GPU, &gpu);
    /* While nobody can work anywhere there is no bottleneck to name. */
    const bool has_bottleneck = all.count > 0 && (all.most > 0.0 || all.unknown > 0);
    set_bottleneck(meter, now_ns, line, has_bottleneck ? all.least_stage : WEIR_NO_INDEX);
}

/* ---- the longest interval with constant workers and no set-up ---- */

void sim_meter_steady_stop(struct sim_meter *meter, int64_t now_ns)
{
    const bool is_candidate = meter->workers > 0 && meter->in_setup == 0;
    const int64_t length = now_ns - meter->steady_since_ns;
    if (!is_candidate || length <= meter->steady_to_ns - meter->steady_from_ns)
        return;
    meter->steady_from_ns = meter->steady_since_ns;
    meter->steady_to_ns = now_ns;
    for (size_t p = 0; p < meter->pipeline_count; p++) {
        struct pipeline_meter *pipeline = &meter->pipelines[p];
        pipeline->steady_from = pipeline->steady_start;
        pipeline->steady_to = sim_meter_pipeline_totals(pipeline, now_ns);
    }
}

void sim_meter_steady_start(struct sim_meter *meter, int64_t now_ns)
{
    meter->steady_since_ns = now_ns;
    if (meter->in_setup > 0)
        return; /* the interval cannot count; whoever ends the set-up starts a new one */
    for (size_t p = 0; p < meter->pipeline_count; p++)
        meter->pipelines[p].steady_start = sim_meter_pipeline_totals(&meter->pipelines[p], now_ns);
}
