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
#include <stdlib.h>

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

static struct extremes one_of(double capacity, uint32_t stage)
{
    if (isnan(capacity))
        return (struct extremes){ .unknown = 1 };
    return (struct extremes){ capacity, capacity, 1, 0, stage };
}

/* Those of `left` come first. */
static struct extremes extremes_join(const struct extremes *left, const struct extremes *right)
{
    if (left->count == 0 || right->count == 0) {
        struct extremes one = left->count == 0 ? *right : *left;
        one.unknown = left->unknown + right->unknown;
        return one;
    }
    const struct extremes *least = right->least < left->least ? right : left;
    return (struct extremes){ least->least, right->most > left->most ? right->most : left->most,
                              left->count + right->count, left->unknown + right->unknown,
                              least->least_stage };
}

/* Tells the pipeline of a stage what that has now. */
static void refresh(struct sim_meter *meter, uint32_t index)
{
    const struct stage_meter *stage = &meter->stages[index];
    const struct sim_meter_stage_info *info = &meter->info[index];
    const struct pipeline_meter *pipeline = &meter->pipelines[info->pipeline];
    size_t at = pipeline->leaves + (index - pipeline->stage_first);
    struct extremes all = { 0 };
    struct extremes gpu = { 0 };
    if (takes_part(stage))
        all = one_of(capacity_of(stage, info), index);
    if (takes_part(stage) && info->shape.gpu_units > 0 && ready_workers(stage) >= 2)
        gpu = all;
    pipeline->capacities[at][BALANCE_ALL] = all;
    pipeline->capacities[at][BALANCE_GPU] = gpu;
    for (at /= 2; at > 0; at /= 2)
        for (size_t b = 0; b < BALANCES; b++)
            pipeline->capacities[at][b] = extremes_join(&pipeline->capacities[2 * at][b],
                                                        &pipeline->capacities[2 * at + 1][b]);
}

weir_status sim_meter_capacity_open(struct sim_meter *meter)
{
    uint32_t s = 0;
    meter->stale = calloc(meter->stage_count + 1, sizeof *meter->stale);
    if (!meter->stale)
        return WEIR_ENOMEM;
    for (size_t p = 0; p < meter->pipeline_count; p++) {
        struct pipeline_meter *pipeline = &meter->pipelines[p];
        pipeline->stage_first = s;
        for (; s < meter->stage_count && meter->info[s].pipeline == p; s++)
            sim_meter_capacity_stale(meter, s);
        pipeline->leaves = 1;
        while (pipeline->leaves < s - pipeline->stage_first)
            pipeline->leaves *= 2;
        pipeline->capacities = calloc(2 * (size_t)pipeline->leaves, sizeof *pipeline->capacities);
        if (!pipeline->capacities)
            return WEIR_ENOMEM;
    }
    return s == meter->stage_count ? WEIR_OK : WEIR_EINVAL;
}

void sim_meter_capacity_stale(struct sim_meter *meter, uint32_t stage)
{
    if (meter->stages[stage].is_stale)
        return;
    meter->stages[stage].is_stale = true;
    meter->stale[meter->stale_count++] = stage;
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

void sim_meter_rebalance(struct sim_meter *meter, int64_t now_ns, uint32_t stage)
{
    sim_meter_capacity_stale(meter, stage);
    for (size_t i = 0; i < meter->stale_count; i++) {
        refresh(meter, meter->stale[i]);
        meter->stages[meter->stale[i]].is_stale = false;
    }
    meter->stale_count = 0;
    struct pipeline_meter *line = &meter->pipelines[meter->info[stage].pipeline];
    const struct extremes *all = &line->capacities[1][BALANCE_ALL];
    for (enum sim_balance b = BALANCE_ALL; b < BALANCES; b++)
        set_balance(line, now_ns, b, &line->capacities[1][b]);
    /* While nobody can work anywhere there is no bottleneck to name. */
    const bool has_bottleneck = all->count > 0 && (all->most > 0.0 || all->unknown > 0);
    set_bottleneck(meter, now_ns, line, has_bottleneck ? all->least_stage : WEIR_NO_INDEX);
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
