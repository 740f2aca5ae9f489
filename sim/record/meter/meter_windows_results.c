/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Results of windows: metrics as those of the whole run, called ID@WINDOW (docs/windows.md).
 *
 * A metric whose denominator is 0 has no row: what nobody did cannot be measured.
 */
#include "sim/record/meter/meter_windows.h"

#include "sim/record/meter/meter_windows_state.h"

#include "sim/engine/time.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { NAME = 160 };

struct view {
    const struct sim_meter *meter;
    const struct sim_meter_end *end;
    struct sim_results *out;
    struct meter_window *window;
    double span_ns;
};

static void put_row(const struct view *view, const char *metric, const struct sim_result_row *row)
{
    char name[NAME];
    struct sim_result_row named = *row;
    if (isnan(row->value))
        return;
    (void)snprintf(name, sizeof name, "%s@%s", metric, view->window->name);
    named.metric = name;
    if (named.label == NULL)
        named.label = "";
    sim_results_add(view->out, &named);
}

static void put(const struct view *view, const char *metric, const char *label, const char *unit,
                double value)
{
    const bool is_noise = value < 1e-12 && value > -1e-12;
    put_row(
        view, metric,
        &(struct sim_result_row){ .label = label, .unit = unit, .value = is_noise ? 0.0 : value });
}

static double ratio(double part, double whole)
{
    return whole > 0.0 ? part / whole : (double)NAN;
}

/* ---- by time ---- */

static void put_use(const struct view *view)
{
    static const struct {
        const char *active, *assigned;
    } names[] = { [SIM_RESOURCE_CPU] = { "util.cpu.active", "util.cpu.assigned" },
                  [SIM_RESOURCE_GPU] = { "util.gpu.active", "util.gpu.assigned" },
                  [SIM_RESOURCE_NVDEC] = { "util.nvdec.active", "util.nvdec.assigned" },
                  [SIM_RESOURCE_NVENC] = { "util.nvenc.active", "util.nvenc.assigned" } };
    const struct meter_window_edge *from = &view->window->begin;
    const struct meter_window_edge *to = &view->window->end;
    for (size_t r = 0; r < sizeof names / sizeof names[0]; r++) {
        const double capacity = to->cluster.capacity[r] - from->cluster.capacity[r];
        put(view, names[r].active, "", "ratio",
            ratio(to->nodes.active[r] - from->nodes.active[r], capacity));
        put(view, names[r].assigned, "", "ratio",
            ratio(to->nodes.assigned[r] - from->nodes.assigned[r], capacity));
    }
}

static void put_stage(const struct view *view, size_t s)
{
    const struct stage_totals *from = &view->window->begin.stages[s];
    const struct stage_totals *to = &view->window->end.stages[s];
    const char *label = view->meter->stages[s].label;
    double part[STAGE_SERIES];
    for (size_t i = 0; i < STAGE_SERIES; i++)
        part[i] = to->integral[i] - from->integral[i];
    const double workers =
        part[SERIES_SETUP] + part[SERIES_IDLE] + part[SERIES_BUSY] + part[SERIES_BLOCKED];
    put(view, "workers.mean", label, "workers", workers / view->span_ns);
    put(view, "workers.busy", label, "ratio", ratio(part[SERIES_BUSY], workers));
    put(view, "queue.len.mean", label, "items", part[SERIES_QUEUE] / view->span_ns);
    put(view, "queue.len.max", label, "items", (double)view->window->queue_max[s]);
    put(view, "bp.starved_frac", label, "ratio", part[SERIES_STARVED_TIME] / view->span_ns);
    put(view, "bp.blocked_frac", label, "ratio", part[SERIES_BLOCKED_TIME] / view->span_ns);
    put(view, "bottleneck.share", label, "ratio", part[SERIES_BOTTLENECK] / view->span_ns);
    put(view, "thr.stage", label, "1/s", (to->tasks - from->tasks) * 1e9 / view->span_ns);
}

static void put_rates(const struct view *view)
{
    const struct meter_window_edge *from = &view->window->begin;
    const struct meter_window_edge *to = &view->window->end;
    const double span_s = view->span_ns / 1e9;
    if (view->meter->stage_count > 0) {
        put(view, "thr.pipeline", "", "1/s", (to->done - from->done) / span_s);
        put(view, "thr.arrived", "", "1/s", (to->arrived - from->arrived) / span_s);
    }
    if (view->meter->workload_count > 0)
        put(view, "thr.jobs_h", "", "1/h", (to->jobs_done - from->jobs_done) * 3600 / span_s);
    put(view, "sched.refused", "", "count", to->cluster.refused - from->cluster.refused);
    put(view, "work.lost_s", "", "s", (to->cluster.lost_ns - from->cluster.lost_ns) / 1e9);
    for (size_t i = 0; i < view->window->cause_count; i++)
        put(view, "work.lost_s", view->window->causes[i].name, "s",
            view->window->causes[i].lost_ns / 1e9);
}

/* ---- backlog ---- */

/* What a backlog is of. */
static const char *things(const struct view *view)
{
    if (view->meter->workload_count == 0)
        return "items";
    return view->meter->stage_count == 0 ? "jobs" : ""; /* both */
}

/* Not back when the run ended: at least so long, and no word where nothing came meanwhile. */
static void put_recovery(const struct view *view)
{
    const struct meter_window *window = view->window;
    const bool is_back = window->back_ns >= 0;
    const int64_t until_ns = is_back ? window->back_ns : view->end->end_ns;
    if (!window->is_over || isnan(window->usual))
        return;
    put(view, "backlog.usual", "", things(view), window->usual);
    put_row(view, "backlog.recover",
            &(struct sim_result_row){ .unit = "s",
                                      .value = sim_time_s(until_ns - window->to_ns),
                                      .n = is_back ? 1 : 0,
                                      .censored = is_back ? 0 : 1,
                                      .is_lower_bound = !is_back });
}

static void put_backlog(const struct view *view)
{
    const struct meter_window *window = view->window;
    put(view, "backlog.mean", "", things(view),
        (window->end.backlog - window->begin.backlog) / view->span_ns);
    put(view, "backlog.max", "", things(view), window->most);
    put(view, "backlog.max_at", "", "s", sim_time_s(window->most_ns));
    put_recovery(view);
}

/* ---- by arrival ---- */

static void put_percentile(const struct view *view, const char *metric,
                           struct sim_percentiles *values, const struct sim_censored *censored,
                           double share)
{
    bool is_lower_bound = false;
    const int64_t value = sim_percentiles_at(values, share, censored, &is_lower_bound);
    put_row(view, metric,
            &(struct sim_result_row){ .unit = "s",
                                      .value = value < 0 ? (double)NAN : sim_time_s(value),
                                      .n = values->count,
                                      .censored = censored->count,
                                      .is_lower_bound = is_lower_bound });
}

static void put_mean(const struct view *view, const char *metric, const char *unit,
                     const struct sim_percentiles *values, uint64_t censored)
{
    put_row(view, metric,
            &(struct sim_result_row){ .unit = unit,
                                      .value = ratio(values->sum_ns / 1e9, (double)values->count),
                                      .n = values->count,
                                      .censored = censored });
}

/* Ages at the end of those that came in the window and are still there. */
static struct sim_censored still_there(const struct view *view, int64_t *ages)
{
    const struct sim_meter_end *end = view->end;
    struct sim_censored censored = { .ages_ns = ages };
    for (uint64_t i = 0; end->age_ns && i < end->items_in_system; i++) {
        const int64_t came_ns = end->end_ns - end->age_ns[i];
        if (came_ns >= view->window->from_ns && came_ns < view->window->to_ns)
            ages[censored.count++] = end->age_ns[i];
    }
    return censored;
}

static void put_latency(const struct view *view)
{
    struct meter_window *window = view->window;
    const int64_t late_ns = view->meter->windows->late_ns;
    int64_t *ages = calloc(view->end->items_in_system + 1, sizeof *ages);
    if (!ages) {
        view->out->status = WEIR_ENOMEM;
        return;
    }
    const struct sim_censored censored = still_there(view, ages);
    uint64_t late = window->late;
    for (uint64_t i = 0; late_ns > 0 && i < censored.count; i++)
        late += ages[i] > late_ns;
    put_mean(view, "lat.e2e.mean", "s", &window->latency, censored.count);
    put_percentile(view, "lat.e2e.p50", &window->latency, &censored, 0.5);
    put_percentile(view, "lat.e2e.p95", &window->latency, &censored, 0.95);
    put_percentile(view, "lat.e2e.p99", &window->latency, &censored, 0.99);
    if (late_ns > 0 && window->latency.count + censored.count > 0)
        put(view, "items.late", "", "items", (double)late);
    free(ages);
}

/* Means are of jobs that began, or ended. */
static void put_jobs(const struct view *view)
{
    struct meter_window *window = view->window;
    const struct sim_censored waiting = sim_ages_censored(&window->jobs_waiting);
    const struct sim_censored left = sim_ages_censored(&window->jobs_left);
    if (view->meter->workload_count == 0)
        return;
    put_mean(view, "wait.job.mean", "s", &window->job_wait, waiting.count);
    put_percentile(view, "wait.job.p95", &window->job_wait, &waiting, 0.95);
    put_mean(view, "jct.mean", "s", &window->job_time, left.count);
    put_percentile(view, "jct.p95", &window->job_time, &left, 0.95);
    put_mean(view, "slowdown.mean", "1", &window->slowdown, left.count);
}

static void put_window(struct view *view)
{
    struct meter_window *window = view->window;
    const int64_t end_ns = view->end->end_ns;
    if (window->from_ns >= end_ns)
        return;
    if (!window->is_over)
        meter_window_edge(view->meter, end_ns, &window->end);
    view->span_ns = (double)((window->is_over ? window->to_ns : end_ns) - window->from_ns);
    put_rates(view);
    put_use(view);
    put_backlog(view);
    for (size_t s = 0; s < view->meter->stage_count; s++)
        put_stage(view, s);
    if (view->meter->stage_count > 0)
        put_latency(view);
    put_jobs(view);
}

void meter_windows_results(struct sim_meter *meter, const struct sim_meter_end *end,
                           struct sim_results *out)
{
    for (size_t i = 0; meter->windows && i < meter->windows->count; i++) {
        struct view view = {
            .meter = meter, .end = end, .out = out, .window = &meter->windows->list[i]
        };
        put_window(&view);
    }
}
