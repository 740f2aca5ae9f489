/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Windows as they pass; see the header. What they give is in meter_windows_results.c. */
#include "sim/record/meter/meter_windows.h"

#include "sim/record/meter/meter_windows_state.h"

#include "sim/engine/time.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- making ---- */

static weir_status open_window(const struct sim_meter *meter,
                               const struct sim_meter_window_info *info,
                               struct meter_window *window)
{
    window->from_ns = info->from_ns;
    window->to_ns = info->to_ns;
    window->name = strdup(info->name);
    window->begin.stages = calloc(meter->stage_count + 1, sizeof *window->begin.stages);
    window->end.stages = calloc(meter->stage_count + 1, sizeof *window->end.stages);
    window->queue_max = calloc(meter->stage_count + 1, sizeof *window->queue_max);
    window->back_ns = -1;
    if (!window->name || !window->begin.stages || !window->end.stages || !window->queue_max)
        return WEIR_ENOMEM;
    window->latency = sim_percentiles_open(STORED_VALUES);
    window->job_wait = sim_percentiles_open(STORED_VALUES);
    window->job_time = sim_percentiles_open(STORED_VALUES);
    window->slowdown = sim_percentiles_open(STORED_VALUES);
    return WEIR_OK;
}

weir_status meter_windows_open(struct sim_meter *meter, const struct sim_meter_config *config)
{
    if (config->window_count == 0)
        return WEIR_OK;
    struct meter_windows *windows = calloc(1, sizeof *windows);
    if (!windows)
        return WEIR_ENOMEM;
    meter->windows = windows;
    windows->late_ns = config->late_ns;
    windows->list = calloc(config->window_count, sizeof *windows->list);
    windows->levels = calloc(1, sizeof *windows->levels);
    if (!windows->list || !windows->levels)
        return WEIR_ENOMEM;
    for (; windows->count < config->window_count; windows->count++)
        WEIR_TRY(
            open_window(meter, &config->windows[windows->count], &windows->list[windows->count]));
    return WEIR_OK;
}

void meter_windows_close(struct sim_meter *meter)
{
    struct meter_windows *windows = meter->windows;
    if (!windows)
        return;
    for (size_t i = 0; i < windows->count; i++) {
        struct meter_window *window = &windows->list[i];
        sim_percentiles_close(&window->latency);
        sim_percentiles_close(&window->job_wait);
        sim_percentiles_close(&window->job_time);
        sim_percentiles_close(&window->slowdown);
        sim_ages_clear(&window->jobs_waiting);
        sim_ages_clear(&window->jobs_left);
        free(window->begin.stages);
        free(window->end.stages);
        free(window->queue_max);
        free(window->name);
    }
    free(windows->list);
    free(windows->levels);
    free(windows);
}

/* ---- edges ---- */

void meter_window_edge(const struct sim_meter *meter, int64_t now_ns,
                       struct meter_window_edge *edge)
{
    struct stage_totals *stages = edge->stages;
    *edge = (struct meter_window_edge){ .stages = stages };
    edge->cluster = sim_meter_cluster_totals(meter, now_ns);
    for (size_t s = 0; s < meter->stage_count; s++)
        stages[s] = sim_meter_stage_totals(&meter->stages[s], now_ns);
    for (size_t n = 0; n < meter->node_count; n++) {
        const struct node_totals node = sim_meter_node_totals(&meter->nodes[n], now_ns);
        for (size_t r = 0; r < SIM_RESOURCE_COUNT; r++) {
            edge->nodes.assigned[r] += node.assigned[r];
            edge->nodes.active[r] += node.active[r];
        }
    }
    for (size_t p = 0; p < meter->pipeline_count; p++) {
        edge->arrived += (double)meter->pipelines[p].arrived;
        edge->done += (double)meter->pipelines[p].done;
    }
    for (size_t w = 0; w < meter->workload_count; w++)
        edge->jobs_done += (double)meter->jobs[meter->class_count + w].seen[SIM_JOBS_DONE];
    edge->backlog = sim_gauge_integral(&meter->windows->backlog, now_ns);
}

/* The level that the backlog kept to 95 % of the time so far. */
static double usual_level(const struct meter_windows *windows)
{
    const struct sim_histogram *levels = windows->levels;
    if (levels->count == 0)
        return (double)NAN;
    return (double)sim_histogram_rank(levels, (uint64_t)ceil(0.95 * (double)levels->count));
}

/* The time at the present level goes into the histogram, in microseconds. */
static void count_level(struct meter_windows *windows, int64_t now_ns)
{
    const uint64_t us = (uint64_t)(now_ns - windows->level_since_ns) / 1000;
    windows->levels->buckets[sim_histogram_bucket((int64_t)windows->backlog.value)] += us;
    windows->levels->count += us;
    windows->level_since_ns = now_ns;
}

/* Nothing of what was so far counts. */
static void forget_levels(struct meter_windows *windows, int64_t now_ns)
{
    memset(windows->levels, 0, sizeof *windows->levels);
    windows->level_since_ns = now_ns;
}

static void begin(struct sim_meter *meter, struct meter_window *window)
{
    struct meter_windows *windows = meter->windows;
    count_level(windows, window->from_ns);
    window->usual = usual_level(windows);
    if (window == windows->list)
        forget_levels(windows, window->from_ns);
    window->most = windows->backlog.value;
    window->most_ns = window->from_ns;
    for (size_t s = 0; s < meter->stage_count; s++)
        window->queue_max[s] = meter->stages[s].queue;
    meter_window_edge(meter, window->from_ns, &window->begin);
    windows->open = window;
}

static void end(struct sim_meter *meter, struct meter_window *window)
{
    meter_window_edge(meter, window->to_ns, &window->end);
    window->is_over = true;
    if (meter->windows->backlog.value <= window->usual)
        window->back_ns = window->to_ns;
    else if (!isnan(window->usual))
        meter->windows->waiting_back++;
    meter->windows->open = NULL;
}

int64_t meter_windows_wake(struct sim_meter *meter, int64_t now_ns)
{
    struct meter_windows *windows = meter->windows;
    if (!windows)
        return SIM_TIME_MAX;
    if (meter->is_warm && !windows->is_warm) {
        windows->is_warm = true;
        forget_levels(windows, meter->warmup_ns);
    }
    for (; windows->next < 2 * windows->count; windows->next++) {
        struct meter_window *window = &windows->list[windows->next / 2];
        const bool is_begin = windows->next % 2 == 0;
        const int64_t at_ns = is_begin ? window->from_ns : window->to_ns;
        if (at_ns > now_ns || at_ns == SIM_TIME_MAX)
            return at_ns;
        if (is_begin)
            begin(meter, window);
        else
            end(meter, window);
    }
    return SIM_TIME_MAX;
}

/* ---- what happens ---- */

/* The one in which something came; NULL = none. */
static struct meter_window *window_of(const struct sim_meter *meter, int64_t at_ns)
{
    for (size_t i = 0; i < meter->windows->count; i++) {
        struct meter_window *window = &meter->windows->list[i];
        if (at_ns >= window->from_ns && at_ns < window->to_ns)
            return window;
    }
    return NULL;
}

void meter_windows_backlog(struct sim_meter *meter, int64_t now_ns, double change)
{
    struct meter_windows *windows = meter->windows;
    count_level(windows, now_ns);
    sim_gauge_add(&windows->backlog, now_ns, change);
    const double level = windows->backlog.value;
    if (windows->open && level > windows->open->most) {
        windows->open->most = level;
        windows->open->most_ns = now_ns;
    }
    for (size_t i = 0; windows->waiting_back > 0 && change < 0 && i < windows->count; i++) {
        struct meter_window *window = &windows->list[i];
        if (!window->is_over || window->back_ns >= 0 || !(level <= window->usual))
            continue;
        window->back_ns = now_ns;
        windows->waiting_back--;
    }
}

void meter_windows_queue(struct sim_meter *meter, uint32_t stage, uint64_t items)
{
    struct meter_window *open = meter->windows->open;
    if (open && items > open->queue_max[stage])
        open->queue_max[stage] = items;
}

void meter_windows_item_done(struct sim_meter *meter, int64_t now_ns, int64_t latency_ns)
{
    struct meter_window *window = window_of(meter, now_ns - latency_ns);
    if (!window)
        return;
    sim_percentiles_add(&window->latency, latency_ns);
    window->late += meter->windows->late_ns > 0 && latency_ns > meter->windows->late_ns;
}

void meter_windows_job_wait(struct sim_meter *meter, int64_t now_ns, int64_t wait_ns)
{
    struct meter_window *window = window_of(meter, now_ns - wait_ns);
    if (window)
        sim_percentiles_add(&window->job_wait, wait_ns);
}

void meter_windows_job_done(struct sim_meter *meter, int64_t now_ns, int64_t time_ns,
                            int64_t slowdown)
{
    struct meter_window *window = window_of(meter, now_ns - time_ns);
    if (!window)
        return;
    sim_percentiles_add(&window->job_time, time_ns);
    sim_percentiles_add(&window->slowdown, slowdown);
}

weir_status meter_windows_job_left(struct sim_meter *meter, int64_t now_ns, int64_t age_ns,
                                   bool is_waiting)
{
    struct meter_window *window = window_of(meter, now_ns - age_ns);
    if (!window)
        return WEIR_OK;
    if (is_waiting)
        WEIR_TRY(sim_ages_add(&window->jobs_waiting, age_ns));
    return sim_ages_add(&window->jobs_left, age_ns);
}

void meter_windows_lost(struct sim_meter *meter, int64_t lost_ns, const char *cause)
{
    struct meter_window *open = meter->windows->open;
    size_t i = 0;
    if (!open)
        return;
    while (i < open->cause_count && strcmp(open->causes[i].name, cause) != 0)
        i++;
    if (i == METER_CAUSES)
        i--; /* the last one takes what is left over */
    else if (i == open->cause_count)
        open->causes[open->cause_count++].name = cause;
    open->causes[i].lost_ns += (double)lost_ns;
}
