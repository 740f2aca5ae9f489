/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Transitions of a run into gauges and counters.
 *
 * Each call advances the series it touches to `now`, changes values, and derives what hangs on
 * them; nothing here loops over stages or nodes but the rare calls (a worker appears or goes, a
 * speed changes, warm-up ends). Time never runs backwards.
 */
#include "sim/engine/apart.h"
#include "sim/record/meter/meter_windows.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- warm-up ---- */

static void start_measuring(struct sim_meter *meter, int64_t now_ns)
{
    meter->is_warm = true;
    sim_meter_steady_stop(meter, now_ns);
    meter->steady_from_ns = meter->steady_to_ns = now_ns;
    for (size_t s = 0; s < meter->stage_count; s++) {
        struct stage_meter *stage = &meter->stages[s];
        stage->base = sim_meter_stage_totals(stage, now_ns);
        stage->queue_max = stage->queue;
        stage->bytes_max = stage->bytes;
        stage->planned_base = sim_gauge_integral(&stage->planned, now_ns);
        stage->missing_base = sim_gauge_integral(&stage->missing, now_ns);
        sim_percentiles_reset(&stage->wait);
    }
    for (size_t n = 0; n < meter->node_count; n++)
        meter->nodes[n].base = sim_meter_node_totals(&meter->nodes[n], now_ns);
    for (size_t p = 0; p < meter->pipeline_count; p++) {
        struct pipeline_meter *pipeline = &meter->pipelines[p];
        pipeline->base = sim_meter_pipeline_totals(pipeline, now_ns);
        pipeline->steady_from = pipeline->steady_to = pipeline->base;
        sim_percentiles_reset(&pipeline->latency);
    }
    meter_jobs_warm(meter, now_ns);
    meter_services_warm(meter);
    meter_tenants_warm(meter, now_ns);
    meter_belief_warm(meter, now_ns);
    meter_physics_warm(meter, now_ns);
    meter->base = sim_meter_cluster_totals(meter, now_ns);
    meter->bytes_max = meter->bytes;
    meter->between_bytes_max = meter->between_bytes;
    sim_percentiles_reset(&meter->latency);
    sim_percentiles_reset(&meter->decision);
    sim_meter_steady_start(meter, now_ns);
}

void sim_meter_wake(struct sim_meter *meter, int64_t now_ns)
{
    if (!meter->is_warm && now_ns >= meter->warmup_ns)
        start_measuring(meter, meter->warmup_ns);
    const int64_t edge_ns = meter_windows_wake(meter, now_ns);
    if (now_ns >= meter->sample_ns && meter->sample_ns > 0 && !meter->is_due)
        meter_sample_due(meter);
    meter->next_ns = sim_meter_growth_mark(meter, now_ns);
    if (edge_ns < meter->next_ns)
        meter->next_ns = edge_ns;
    if (!meter->is_warm && meter->warmup_ns < meter->next_ns)
        meter->next_ns = meter->warmup_ns;
    if (!meter->is_due && meter->sample_ns > 0 && meter->sample_ns < meter->next_ns)
        meter->next_ns = meter->sample_ns;
}

/* ---- workers and queues ---- */

/* The values that follow from counts, queue and back-pressure. The signal is that of the xenna
 * simulator: 1 = full, -1 = no input, else 2 * (share of ready workers that hold work) - 1. */
static inline void stage_derive(struct stage_meter *stage)
{
    const double idle = (double)stage->count[SIM_METER_IDLE];
    const double busy = (double)stage->count[SIM_METER_BUSY];
    const double blocked = (double)stage->count[SIM_METER_BLOCKED];
    const bool is_empty = stage->queue == 0;
    const double held_back = stage->is_pressed && !is_empty ? idle : 0.0;
    const double starved = is_empty ? idle : 0.0;
    const double ready = idle + busy + blocked;
    stage->value[SERIES_IDLE] = idle - held_back;
    stage->value[SERIES_BUSY] = busy;
    stage->value[SERIES_BLOCKED] = blocked + held_back;
    stage->value[SERIES_STARVED] = starved;
    stage->value[SERIES_BLOCKED_TIME] = stage->is_pressed || blocked > 0.0 ? 1.0 : 0.0;
    stage->value[SERIES_STARVED_TIME] = starved > 0.0 ? 1.0 : 0.0;
    double signal = 0.0;
    if (stage->is_pressed)
        signal = 1.0;
    else if (is_empty)
        signal = -1.0;
    else if (ready > 0.0)
        signal = 2.0 * (busy + blocked) / ready - 1.0;
    stage->value[SERIES_SIGNAL] = ready > 0.0 ? signal : 0.0;
}

static inline void amounts_change(struct amounts_series *series, int64_t now_ns,
                                  const struct sim_meter_amounts *change, double sign)
{
    series_advance(series->integral, series->value, SIM_RESOURCE_COUNT,
                   (double)(now_ns - series->since_ns));
    series->since_ns = now_ns;
#pragma GCC unroll 6
    for (size_t r = 0; r < SIM_RESOURCE_COUNT; r++)
        series->value[r] += sign * change->amount[r];
}

/* What a worker, or a member of a group, holds of its node, and a rank for its job. */
static void count_held(struct sim_meter *meter, int64_t now_ns,
                       const struct sim_meter_worker *worker, bool begins)
{
    const double sign = begins ? 1.0 : -1.0;
    amounts_change(&meter->nodes[worker->node].assigned, now_ns, worker->holds, sign);
    if (meter->cost)
        meter_cost_life(meter, now_ns, worker, begins);
    if (worker->stage == WEIR_NO_INDEX)
        sim_meter_jobs(meter, now_ns, worker->job_class, SIM_JOBS_GPUS,
                       sign * worker->holds->amount[SIM_RESOURCE_GPU]);
    if (meter->tenants)
        meter_tenants_held(meter, now_ns, worker->tenant, worker->holds, sign);
}

static inline void count_state(struct sim_meter *meter, int64_t now_ns, struct stage_meter *stage,
                               enum sim_meter_state from, enum sim_meter_state to)
{
    stage_advance(stage, now_ns);
    meter->illegal += from != SIM_METER_GONE && stage->count[from] == 0;
    stage->count[from]--;
    stage->count[to]++;
    stage_derive(stage);
}

static bool is_counted(const struct sim_meter_worker *worker)
{
    return !worker->is_member && worker->stage != WEIR_NO_INDEX;
}

/* It appears, becomes ready or goes: capacity follows. */
SIM_APART static void count_life(struct sim_meter *meter, int64_t now_ns,
                                 const struct sim_meter_worker *worker, enum sim_meter_state from,
                                 enum sim_meter_state to)
{
    if (from == SIM_METER_GONE || to == SIM_METER_GONE)
        count_held(meter, now_ns, worker, from == SIM_METER_GONE);
    if (!is_counted(worker))
        return;
    struct stage_meter *stage = &meter->stages[worker->stage];
    sim_meter_steady_stop(meter, now_ns);
    count_state(meter, now_ns, stage, from, to);
    stage->value[SERIES_SETUP] = (double)stage->count[SIM_METER_SETUP];
    meter->in_setup += (to == SIM_METER_SETUP) - (from == SIM_METER_SETUP);
    if (from == SIM_METER_GONE) {
        stage->created++;
        stage->first_fill += stage->deleted == 0;
        meter->workers++;
    }
    if (to == SIM_METER_GONE) {
        stage->deleted++;
        meter->workers--;
    }
    meter_belief_workers(stage, now_ns);
    sim_meter_rebalance(meter, now_ns, worker->stage);
    sim_meter_steady_start(meter, now_ns);
}

void sim_meter_worker_state(struct sim_meter *meter, int64_t now_ns,
                            const struct sim_meter_worker *worker, enum sim_meter_state from,
                            enum sim_meter_state to)
{
    assert(worker->node < meter->node_count);
    assert(worker->stage < meter->stage_count || worker->stage == WEIR_NO_INDEX);
    meter_tick(meter, now_ns);
    if (from == to)
        return;
    if (from == SIM_METER_BUSY || to == SIM_METER_BUSY)
        amounts_change(&meter->nodes[worker->node].active, now_ns, worker->uses,
                       to == SIM_METER_BUSY ? 1.0 : -1.0);
    if (from <= SIM_METER_SETUP || to <= SIM_METER_SETUP)
        count_life(meter, now_ns, worker, from, to);
    else if (is_counted(worker)) /* else with its first place, or with its job */
        count_state(meter, now_ns, &meter->stages[worker->stage], from, to);
}

void sim_meter_node_used(struct sim_meter *meter, int64_t now_ns, uint32_t node,
                         const struct sim_meter_amounts *before,
                         const struct sim_meter_amounts *after)
{
    meter_tick(meter, now_ns);
    amounts_change(&meter->nodes[node].active, now_ns, before, -1.0);
    amounts_change(&meter->nodes[node].active, now_ns, after, 1.0);
}

void sim_meter_queue(struct sim_meter *meter, int64_t now_ns, uint32_t stage_index, uint64_t items,
                     double bytes)
{
    meter_tick(meter, now_ns);
    struct stage_meter *stage = &meter->stages[stage_index];
    if (items == stage->queue && !(bytes < stage->bytes) && !(bytes > stage->bytes))
        return;
    stage_advance(stage, now_ns);
    const bool was_empty = stage->queue == 0;
    stage->queue = items;
    stage->value[SERIES_QUEUE] = (double)items;
    stage->value[SERIES_BYTES] = bytes;
    meter->bytes += bytes - stage->bytes;
    if (!meter->info[stage_index].is_first)
        meter->between_bytes += bytes - stage->bytes;
    stage->bytes = bytes;
    if (items > stage->queue_max)
        stage->queue_max = items;
    if (meter->windows)
        meter_windows_queue(meter, stage_index, items);
    if (bytes > stage->bytes_max)
        stage->bytes_max = bytes;
    if (meter->bytes > meter->bytes_max)
        meter->bytes_max = meter->bytes;
    if (meter->between_bytes > meter->between_bytes_max)
        meter->between_bytes_max = meter->between_bytes;
    if (was_empty != (items == 0)) {
        stage_derive(stage);
        sim_meter_capacity_stale(meter, stage_index);
    }
}

void sim_meter_backpressure(struct sim_meter *meter, int64_t now_ns, uint32_t stage_index,
                            bool is_on)
{
    struct stage_meter *stage = &meter->stages[stage_index];
    if (stage->is_pressed == is_on)
        return;
    meter_tick(meter, now_ns);
    stage_advance(stage, now_ns);
    stage->is_pressed = is_on;
    stage->value[SERIES_PRESSED] = is_on ? 1.0 : 0.0;
    stage_derive(stage);
}

/* An unknown speed is NAN, and stays the same while it is unknown. */
static bool is_same_speed(double old_per_s, double new_per_s)
{
    if (isnan(old_per_s) || isnan(new_per_s))
        return isnan(old_per_s) && isnan(new_per_s);
    return !islessgreater(old_per_s, new_per_s);
}

void sim_meter_speed(struct sim_meter *meter, int64_t now_ns, uint32_t stage, double batches_per_s)
{
    if (is_same_speed(meter->stages[stage].batches_per_s, batches_per_s))
        return;
    meter_tick(meter, now_ns);
    meter->stages[stage].batches_per_s = batches_per_s;
    sim_meter_rebalance(meter, now_ns, stage);
}

/* ---- nodes ---- */

static double whole_free_ratio(const struct sim_meter *meter)
{
    /* 1e-9: the sum of free parts may miss a whole number by rounding. */
    const double whole = (double)(int64_t)(meter->frag_value[SIM_FRAG_FREE] + 1e-9);
    return whole > 0.0 ? meter->frag_value[SIM_FRAG_WHOLE] / whole : 1.0;
}

/* `before` is taken off first, so that sums come out the same however often that is done. */
static void frag_change(struct sim_meter *meter, int64_t now_ns, const struct sim_frag *before,
                        const struct sim_frag *after)
{
    series_advance(meter->frag_integral, meter->frag_value, FRAG_SERIES,
                   (double)(now_ns - meter->frag_since_ns));
    meter->frag_since_ns = now_ns;
#pragma GCC unroll 11
    for (size_t i = 0; i < SIM_FRAG_COUNT; i++)
        meter->frag_value[i] = meter->frag_value[i] - before->part[i] + after->part[i];
    meter->frag_value[FRAG_RATIO] = whole_free_ratio(meter);
}

static void set_frag(struct sim_meter *meter, int64_t now_ns, struct node_meter *node,
                     const struct sim_frag *frag)
{
    meter_tick(meter, now_ns);
    if (node->is_up)
        frag_change(meter, now_ns, &node->frag, frag);
    node->frag = *frag;
}

void sim_meter_node_free(struct sim_meter *meter, int64_t now_ns, uint32_t node_index,
                         const struct weir_node *host, const struct weir_gpu *gpus)
{
    const struct sim_frag frag = sim_frag_node(&meter->mix, host, gpus);
    for (uint32_t g = 0; g < host->gpu_count; g++)
        meter->has_cuts |= gpus[g].mig != NULL;
    set_frag(meter, now_ns, &meter->nodes[node_index], &frag);
}

bool sim_meter_node_recall(struct sim_meter *meter, int64_t now_ns, uint32_t node,
                           const struct sim_frag_key *key)
{
    const struct sim_frag *frag = sim_frag_memo_find(meter->memo, key);
    if (!frag)
        return false;
    set_frag(meter, now_ns, &meter->nodes[node], frag);
    return true;
}

void sim_meter_node_keep(struct sim_meter *meter, uint32_t node, const struct sim_frag_key *key)
{
    sim_frag_memo_keep(meter->memo, key, &meter->nodes[node].frag);
}

void sim_meter_foresee(const struct sim_meter *meter, uint32_t node)
{
    const char *metered = (const char *)&meter->nodes[node];
    for (size_t i = 0; i < offsetof(struct node_meter, base); i += SIM_LINE)
        __builtin_prefetch(metered + i, 1);
}

void sim_meter_node_power(struct sim_meter *meter, int64_t now_ns, uint32_t node, double gpu_w,
                          double cpu_w)
{
    struct node_meter *metered = &meter->nodes[node];
    meter_tick(meter, now_ns);
    sim_gauge_add(&meter->power, now_ns, gpu_w + cpu_w - metered->power.value);
    sim_gauge_add(&meter->gpu_power, now_ns, gpu_w - metered->gpu_w);
    sim_gauge_set(&metered->power, now_ns, gpu_w + cpu_w);
    metered->gpu_w = gpu_w;
}

void sim_meter_node_up(struct sim_meter *meter, int64_t now_ns, uint32_t node_index, bool is_up)
{
    struct node_meter *node = &meter->nodes[node_index];
    if (node->is_up == is_up)
        return;
    meter_tick(meter, now_ns);
    node->is_up = is_up;
    sim_gauge_set(&node->up, now_ns, is_up ? 1.0 : 0.0);
    if (meter->cost)
        meter_cost_node(meter, now_ns, node_index, is_up);
    amounts_change(&meter->up_capacity, now_ns, &meter->capacity[node_index], is_up ? 1.0 : -1.0);
    const struct sim_frag none = { { 0 } };
    frag_change(meter, now_ns, is_up ? &none : &node->frag, is_up ? &node->frag : &none);
    meter_belief_check(meter, now_ns, node_index);
}

/* ---- items and tasks ---- */

void sim_meter_task_done(struct sim_meter *meter, int64_t now_ns, uint32_t stage,
                         int64_t service_ns)
{
    meter_tick(meter, now_ns);
    if (meter->stages[stage].tasks++ == 0)
        sim_meter_capacity_stale(meter, stage);
    meter->stages[stage].service_ns += (double)service_ns;
}

void sim_meter_submitted(struct sim_meter *meter, int64_t now_ns, uint32_t pipeline)
{
    meter->pipelines[pipeline].first_arrival_ns = now_ns;
}

void sim_meter_span(struct sim_meter *meter, int64_t first_ns, int64_t last_ns)
{
    if (meter->first_ns < 0 || first_ns < meter->first_ns)
        meter->first_ns = first_ns;
    if (last_ns > meter->last_ns)
        meter->last_ns = last_ns;
}

void sim_meter_item_arrived(struct sim_meter *meter, int64_t now_ns, uint32_t pipeline_index)
{
    meter_tick(meter, now_ns);
    struct pipeline_meter *pipeline = &meter->pipelines[pipeline_index];
    pipeline->arrived++;
    if (pipeline->first_arrival_ns < 0)
        pipeline->first_arrival_ns = now_ns;
    sim_gauge_add(&pipeline->in_system, now_ns, 1.0);
    sim_gauge_add(&meter->in_system, now_ns, 1.0);
    if (meter->windows)
        meter_windows_backlog(meter, now_ns, 1.0);
}

void sim_meter_item_split(struct sim_meter *meter, int64_t now_ns, uint32_t pipeline,
                          int64_t age_ns)
{
    sim_meter_item_arrived(meter, now_ns, pipeline);
    meter->pipelines[pipeline].latency_ns -= (double)age_ns; /* it was not in the system so long */
}

void sim_meter_item_done(struct sim_meter *meter, int64_t now_ns, uint32_t pipeline_index,
                         int64_t latency_ns, int64_t service_ns, bool is_dropped)
{
    meter_tick(meter, now_ns);
    struct pipeline_meter *pipeline = &meter->pipelines[pipeline_index];
    meter->illegal += pipeline->done + pipeline->dropped == pipeline->arrived;
    sim_gauge_add(&pipeline->in_system, now_ns, -1.0);
    sim_gauge_add(&meter->in_system, now_ns, -1.0);
    if (meter->windows)
        meter_windows_backlog(meter, now_ns, -1.0);
    pipeline->latency_ns += (double)latency_ns;
    pipeline->last_done_ns = now_ns;
    if (is_dropped) {
        pipeline->dropped++;
        return;
    }
    pipeline->done++;
    pipeline->wait_ns += (double)(latency_ns - service_ns);
    sim_percentiles_add(&meter->latency, latency_ns);
    if (meter->windows)
        meter_windows_item_done(meter, now_ns, latency_ns);
    if (meter->pipeline_count > 1)
        sim_percentiles_add(&pipeline->latency, latency_ns);
}

void sim_meter_wait(struct sim_meter *meter, int64_t now_ns, uint32_t stage, int64_t wait_ns)
{
    meter_tick(meter, now_ns);
    sim_percentiles_add(&meter->stages[stage].wait, wait_ns);
}

void sim_meter_setup_wasted(struct sim_meter *meter, int64_t now_ns, int64_t from_ns, int64_t to_ns)
{
    meter_tick(meter, now_ns);
    const int64_t since_ns = from_ns > meter->warmup_ns ? from_ns : meter->warmup_ns;
    if (to_ns > since_ns)
        meter->setup_wasted_ns += (double)(to_ns - since_ns);
}

void sim_meter_oom(struct sim_meter *meter, int64_t now_ns)
{
    meter_tick(meter, now_ns);
    meter->ooms++;
}

void sim_meter_gpu_oom(struct sim_meter *meter, int64_t now_ns, bool is_scattered)
{
    meter_tick(meter, now_ns);
    meter->gpu_ooms++;
    meter->scattered_ooms += is_scattered ? 1 : 0;
}

void sim_meter_spilled(struct sim_meter *meter, int64_t now_ns, double bytes)
{
    meter_tick(meter, now_ns);
    meter->spilled_bytes += bytes;
}

void sim_meter_moved(struct sim_meter *meter, int64_t now_ns, enum sim_moved kind, double bytes,
                     int64_t took_ns)
{
    meter_tick(meter, now_ns);
    meter->moved_bytes[kind] += bytes;
    meter->moving_ns += (double)took_ns;
}

void sim_meter_work_lost(struct sim_meter *meter, int64_t now_ns, uint32_t stage, int64_t lost_ns,
                         const char *cause)
{
    meter_tick(meter, now_ns);
    if (meter->windows)
        meter_windows_lost(meter, lost_ns, cause);
    if (stage == WEIR_NO_INDEX)
        meter->jobs_lost_ns += (double)lost_ns;
    else
        meter->stages[stage].lost_ns += (double)lost_ns;
}

void sim_meter_retry(struct sim_meter *meter, int64_t now_ns, bool is_exhausted)
{
    meter_tick(meter, now_ns);
    meter->retries += !is_exhausted;
    meter->exhausted += is_exhausted;
}

void sim_meter_decision(struct sim_meter *meter, int64_t now_ns, uint32_t refused, int64_t wall_ns)
{
    meter_tick(meter, now_ns);
    meter->decisions++;
    meter->refused += refused;
    if (wall_ns >= 0)
        sim_percentiles_add(&meter->decision, wall_ns);
}

uint64_t sim_meter_items_done(const struct sim_meter *meter)
{
    uint64_t done = 0;
    for (size_t p = 0; p < meter->pipeline_count; p++)
        done += meter->pipelines[p].done;
    return done;
}
