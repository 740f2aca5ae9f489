/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Results of a run: the metrics of docs/metrics.md from the totals after warm-up.
 *
 * A metric whose denominator is 0 (no NVENC in the cluster, no finished item) has no row.
 */
#include "sim/record/meter/meter_windows.h"

#include "sim/engine/time.h"
#include "sim/record/meter/meter_tenants.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What all metrics are computed from. */
struct view {
    struct sim_meter *meter;
    const struct sim_meter_end *end;
    struct sim_results *out;
    int64_t from_ns;
    double span_ns;
};

static void put_row(struct sim_results *out, const struct sim_result_row *row)
{
    if (!isnan(row->value))
        sim_results_add(out, row);
}

static void put(struct sim_results *out, const char *metric, const char *label, const char *unit,
                double value)
{
    const bool is_noise = value < 1e-12 && value > -1e-12;
    put_row(out,
            &(struct sim_result_row){
                .metric = metric, .label = label, .unit = unit, .value = is_noise ? 0.0 : value });
}

static double ratio(double part, double whole)
{
    return whole > 0.0 ? part / whole : (double)NAN;
}

static double seconds(double ns)
{
    return ns / 1e9;
}

/* ---- resources ---- */

static struct node_totals node_sums(const struct view *view)
{
    struct node_totals sum = { .up = 0.0 };
    for (size_t n = 0; n < view->meter->node_count; n++) {
        const struct node_meter *node = &view->meter->nodes[n];
        const struct node_totals now = sim_meter_node_totals(node, view->end->end_ns);
        for (size_t r = 0; r < SIM_RESOURCE_COUNT; r++) {
            sum.assigned[r] += now.assigned[r] - node->base.assigned[r];
            sum.active[r] += now.active[r] - node->base.active[r];
        }
    }
    return sum;
}

static void put_use(const struct view *view, const struct cluster_totals *now)
{
    static const struct {
        const char *active, *assigned;
    } names[SIM_RESOURCE_COUNT] = {
        [SIM_RESOURCE_CPU] = { "util.cpu.active", "util.cpu.assigned" },
        [SIM_RESOURCE_GPU] = { "util.gpu.active", "util.gpu.assigned" },
        [SIM_RESOURCE_NVDEC] = { "util.nvdec.active", "util.nvdec.assigned" },
        [SIM_RESOURCE_NVENC] = { "util.nvenc.active", "util.nvenc.assigned" },
        [SIM_RESOURCE_RAM] = { "util.mem.active", "util.mem.assigned" },
        [SIM_RESOURCE_GPU_MEM] = { "util.gpumem.active", "util.gpumem.assigned" },
    };
    struct sim_meter *meter = view->meter;
    const struct node_totals sum = node_sums(view);
    for (size_t r = 0; r < SIM_RESOURCE_COUNT; r++) {
        const double capacity = now->capacity[r] - meter->base.capacity[r];
        put(view->out, names[r].active, "", "ratio", ratio(sum.active[r], capacity));
        put(view->out, names[r].assigned, "", "ratio", ratio(sum.assigned[r], capacity));
    }
    double gpus = 0.0;
    for (size_t n = 0; n < meter->node_count; n++)
        gpus += meter->capacity[n].amount[SIM_RESOURCE_GPU];
    const double active = sum.active[SIM_RESOURCE_GPU];
    const double assigned = sum.assigned[SIM_RESOURCE_GPU];
    put(view->out, "util.gpu.seed", "", "ratio", ratio(active, gpus * view->span_ns));
    if (active <= assigned * (1 + 1e-9)) /* who takes turns may be given more than he holds */
        put(view->out, "waste.alloc_unused", "", "ratio", ratio(assigned - active, assigned));
}

static void put_frag(const struct view *view, const struct cluster_totals *now)
{
    struct sim_meter *meter = view->meter;
    double means[FRAG_SERIES];
    for (size_t i = 0; i < FRAG_SERIES; i++)
        means[i] = (now->frag[i] - meter->base.frag[i]) / view->span_ns;
    put(view->out, "frag.gpu.fgd", "", "GPUs", means[SIM_FRAG_GPU]);
    put(view->out, "frag.gpu_pct", "", "%",
        100 * ratio(means[SIM_FRAG_GPU],
                    (now->capacity[SIM_RESOURCE_GPU] - meter->base.capacity[SIM_RESOURCE_GPU]) /
                        view->span_ns));
    put(view->out, "frag.gpu.fgd_ratio", "", "ratio",
        ratio(means[SIM_FRAG_GPU], means[SIM_FRAG_FREE]));
    put(view->out, "frag.codec", "", "engines", means[SIM_FRAG_CODEC]);
    put(view->out, "frag.whole_free", "", "ratio", means[FRAG_RATIO]);
    put(view->out, "frag.crumbs", "", "GPUs", means[SIM_FRAG_CRUMBS]);
    put(view->out, "stranded.gpus", "", "GPUs", means[SIM_FRAG_STRANDED]);
    if (meter->has_cuts)
        put(view->out, "mig.dead_slices", "", "slices", means[SIM_FRAG_DEAD]);
}

static void put_power(const struct view *view, const struct cluster_totals *now)
{
    const struct sim_meter *meter = view->meter;
    const double watt_ns = now->energy - meter->base.energy;
    put(view->out, "power.mean_kw", "", "kW", watt_ns / view->span_ns / 1e3);
    put(view->out, "energy.kwh", "", "kWh", seconds(watt_ns) / 3.6e6);
    put(view->out, "energy.gpu_kwh", "", "kWh",
        seconds(now->gpu_energy - meter->base.gpu_energy) / 3.6e6);
}

/* ---- stages ---- */

static void put_percentile(struct sim_results *out, struct sim_percentiles *values,
                           const struct sim_censored *censored, double share,
                           struct sim_result_row row)
{
    const int64_t value = sim_percentiles_at(values, share, censored, &row.is_lower_bound);
    row.value = value < 0 ? (double)NAN : seconds((double)value);
    row.unit = "s";
    row.n = values->count;
    row.censored = censored->count;
    put_row(out, &row);
}

static void put_mean(struct sim_results *out, const struct sim_percentiles *values,
                     const char *metric, const char *label)
{
    put_row(out, &(struct sim_result_row){
                     .metric = metric,
                     .label = label,
                     .unit = "s",
                     .value = ratio(seconds(values->sum_ns), (double)values->count),
                     .n = values->count });
}

static void put_stage(const struct view *view, size_t s)
{
    struct sim_meter *meter = view->meter;
    struct stage_meter *stage = &meter->stages[s];
    const struct stage_totals now = sim_meter_stage_totals(stage, view->end->end_ns);
    double means[STAGE_SERIES];
    for (size_t i = 0; i < STAGE_SERIES; i++)
        means[i] = (now.integral[i] - stage->base.integral[i]) / view->span_ns;
    const double full = (now.tasks - stage->base.tasks) * (double)meter->info[s].batch;
    const double items = meter_services_items(meter, s, full);
    const char *label = stage->label;
    put(view->out, "thr.stage", label, "1/s", items / seconds(view->span_ns));
    put(view->out, "queue.len.mean", label, "items", means[SERIES_QUEUE]);
    put(view->out, "queue.len.max", label, "items", (double)stage->queue_max);
    put(view->out, "queue.bytes.max", label, "B", stage->bytes_max);
    put(view->out, "bp.blocked_frac", label, "ratio", means[SERIES_BLOCKED_TIME]);
    put(view->out, "bp.starved_frac", label, "ratio", means[SERIES_STARVED_TIME]);
    put(view->out, "bp.signal", label, "", means[SERIES_SIGNAL]);
    put(view->out, "bottleneck.share", label, "ratio", means[SERIES_BOTTLENECK]);
    put(view->out, "plan.met_frac", label, "ratio",
        1.0 - ratio(sim_gauge_integral(&stage->missing, view->end->end_ns) - stage->missing_base,
                    sim_gauge_integral(&stage->planned, view->end->end_ns) - stage->planned_base));
    put_mean(view->out, &stage->wait, "wait.stage.mean", label);
    put_percentile(view->out, &stage->wait, &(struct sim_censored){ 0 }, 0.95,
                   (struct sim_result_row){ .metric = "wait.stage.p95", .label = label });
}

/* The stage that was the bottleneck of its pipeline for the longest time; the earlier one of two.
 * `pipeline` SIZE_MAX = of all. NAN when no stage ever was. */
static double longest_bottleneck(const struct view *view, size_t pipeline)
{
    double longest = 0.0;
    double stage = (double)NAN;
    for (size_t s = 0; s < view->meter->stage_count; s++) {
        const struct stage_meter *one = &view->meter->stages[s];
        const double time =
            sim_meter_stage_totals(one, view->end->end_ns).integral[SERIES_BOTTLENECK] -
            one->base.integral[SERIES_BOTTLENECK];
        if ((pipeline != SIZE_MAX && view->meter->info[s].pipeline != pipeline) || time <= longest)
            continue;
        longest = time;
        stage = (double)s;
    }
    return stage;
}

/* ---- pipelines ---- */

void meter_latency_results(struct sim_percentiles *values, const char *label,
                           const struct sim_censored *censored, struct sim_results *out)
{
    static const struct {
        const char *metric;
        double share;
    } rows[] = {
        { "lat.e2e.p50", 0.5 },
        { "lat.e2e.p95", 0.95 },
        { "lat.e2e.p99", 0.99 },
    };
    put_mean(out, values, "lat.e2e.mean", label);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        put_percentile(out, values, censored, rows[i].share,
                       (struct sim_result_row){ .metric = rows[i].metric, .label = label });
    int64_t greatest = values->count > 0 ? values->max_ns : -1;
    for (uint64_t i = 0; censored->ages_ns && i < censored->count; i++)
        greatest = censored->ages_ns[i] > greatest ? censored->ages_ns[i] : greatest;
    put_row(out, &(struct sim_result_row){ .metric = "lat.e2e.max",
                                           .label = label,
                                           .unit = "s",
                                           .value = greatest < 0 ? (double)NAN
                                                                 : seconds((double)greatest),
                                           .n = values->count,
                                           .censored = censored->count,
                                           .is_lower_bound = censored->count > 0 });
}

struct flow {
    double done, wait_ns;
    double steady_done;
    double balance[BALANCES], steady_balance[BALANCES];
};

static struct flow pipeline_flow(const struct view *view, const struct pipeline_meter *pipeline)
{
    const struct pipeline_totals now = sim_meter_pipeline_totals(pipeline, view->end->end_ns);
    const struct pipeline_totals *base = &pipeline->base;
    const struct pipeline_totals *from = &pipeline->steady_from;
    const struct pipeline_totals *to = &pipeline->steady_to;
    struct flow flow = { .done = now.done - base->done,
                         .wait_ns = now.wait_ns - base->wait_ns,
                         .steady_done = to->done - from->done };
    for (size_t b = 0; b < BALANCES; b++) {
        flow.balance[b] =
            ratio(now.balance[b] - base->balance[b], now.balance_known[b] - base->balance_known[b]);
        flow.steady_balance[b] =
            ratio(to->balance[b] - from->balance[b], to->balance_known[b] - from->balance_known[b]);
    }
    return flow;
}

static void put_flow(const struct view *view, const struct flow *flow, const char *label)
{
    struct sim_meter *meter = view->meter;
    const double steady_s = sim_time_s(meter->steady_to_ns - meter->steady_from_ns);
    const struct sim_result_row rate = { .label = label, .unit = "1/s", .n = (uint64_t)flow->done };
    struct sim_result_row row = rate;
    row.metric = "thr.pipeline";
    row.value = flow->done / seconds(view->span_ns);
    put_row(view->out, &row);
    row.metric = "thr.pipeline.steady";
    row.value = ratio(flow->steady_done, steady_s);
    row.n = (uint64_t)flow->steady_done;
    put_row(view->out, &row);
    row = (struct sim_result_row){ .metric = "wait.mean", .label = label, .unit = "s" };
    row.value = ratio(seconds(flow->wait_ns), flow->done);
    row.n = (uint64_t)flow->done;
    put_row(view->out, &row);
    put(view->out, "balance.stage", label, "ratio", flow->balance[BALANCE_ALL]);
    put(view->out, "balance.stage.gpu", label, "ratio", flow->balance[BALANCE_GPU]);
    put(view->out, "balance.stage.steady", label, "ratio", flow->steady_balance[BALANCE_ALL]);
    put(view->out, "balance.stage.gpu.steady", label, "ratio", flow->steady_balance[BALANCE_GPU]);
}

/* Several pipelines together: sums, and the worst balance. */
static void flow_join(struct flow *all, const struct flow *one)
{
    all->done += one->done;
    all->wait_ns += one->wait_ns;
    all->steady_done += one->steady_done;
    for (size_t b = 0; b < BALANCES; b++) {
        all->balance[b] = fmin(all->balance[b], one->balance[b]);
        all->steady_balance[b] = fmin(all->steady_balance[b], one->steady_balance[b]);
    }
}

/* Beside what plans give at most. */
static void put_bounds(const struct view *view, double done)
{
    const struct sim_meter_end *end = view->end;
    if (!(end->bound_per_s > 0))
        return;
    put(view->out, "thr.bound", "", "1/s", end->bound_per_s);
    put(view->out, "thr.plan_bound", "", "1/s", end->plan_bound_per_s);
    put(view->out, "thr.of_bound", "", "ratio", done / seconds(view->span_ns) / end->bound_per_s);
}

/* Jobs have none, and are no items. */
static bool has_stages(const struct sim_meter *meter, size_t pipeline)
{
    const uint32_t first = meter->pipelines[pipeline].stage_first;
    return first < meter->stage_count && meter->info[first].pipeline == pipeline;
}

static void put_pipelines(const struct view *view)
{
    struct sim_meter *meter = view->meter;
    struct flow all = { .balance = { (double)NAN, (double)NAN },
                        .steady_balance = { (double)NAN, (double)NAN } };
    if (meter->stage_count == 0)
        return;
    for (size_t p = 0; p < meter->pipeline_count; p++) {
        struct pipeline_meter *pipeline = &meter->pipelines[p];
        if (!has_stages(meter, p))
            continue;
        const struct flow flow = pipeline_flow(view, pipeline);
        flow_join(&all, &flow);
        if (meter->pipeline_count == 1)
            continue;
        /* Ages are known for all pipelines together: here the censored ones are only counted. */
        const struct sim_censored censored = { .count = (uint64_t)pipeline->in_system.value };
        put_flow(view, &flow, pipeline->label);
        meter_latency_results(&pipeline->latency, pipeline->label, &censored, view->out);
        put(view->out, "bottleneck.stage", pipeline->label, "index", longest_bottleneck(view, p));
    }
    put_flow(view, &all, "");
    put_bounds(view, all.done);
    meter_latency_results(&meter->latency, "",
                          &(struct sim_censored){ view->end->items_in_system, view->end->age_ns },
                          view->out);
    put(view->out, "bottleneck.stage", "", "index", longest_bottleneck(view, SIZE_MAX));
}

/* Of the whole run and all work. */
static void put_makespan(const struct view *view)
{
    struct sim_meter *meter = view->meter;
    for (size_t p = 0; p < meter->pipeline_count; p++)
        if (meter->pipelines[p].last_done_ns >= 0)
            sim_meter_span(meter, meter->pipelines[p].first_arrival_ns,
                           meter->pipelines[p].last_done_ns);
    if (view->end->is_complete && meter->last_ns >= 0) /* else it is the horizon */
        put(view->out, "makespan", "", "s", sim_time_s(meter->last_ns - meter->first_ns));
}

/* ---- the whole run ---- */

static void put_workers(const struct view *view)
{
    struct stage_totals sum = { .tasks = 0.0 };
    for (size_t s = 0; s < view->meter->stage_count; s++) {
        const struct stage_meter *stage = &view->meter->stages[s];
        const struct stage_totals now = sim_meter_stage_totals(stage, view->end->end_ns);
        sum.created += now.created - stage->base.created;
        sum.deleted += now.deleted - stage->base.deleted;
        sum.first_fill += now.first_fill - stage->base.first_fill;
        sum.integral[SERIES_SETUP] +=
            now.integral[SERIES_SETUP] - stage->base.integral[SERIES_SETUP];
    }
    if (sum.integral[SERIES_SETUP] > 0)
        put(view->out, "waste.setup_frac", "", "ratio",
            view->meter->setup_wasted_ns / sum.integral[SERIES_SETUP]);
    const double changes = sum.created + sum.deleted - sum.first_fill;
    put(view->out, "worker.created", "", "count", sum.created);
    put(view->out, "worker.deleted", "", "count", sum.deleted);
    put(view->out, "worker.churn", "", "1/h", changes * 3600.0 / seconds(view->span_ns));
}

/* Of runs in which bytes take time. */
static void put_moved(const struct view *view, const struct cluster_totals *now)
{
    static const char *const names[SIM_MOVED_KINDS] = { [SIM_MOVED_BETWEEN] = "net.bytes",
                                                        [SIM_MOVED_READ] = "store.read_bytes",
                                                        [SIM_MOVED_WRITTEN] = "store.write_bytes" };
    const struct cluster_totals *base = &view->meter->base;
    double all = 0;
    for (size_t k = 0; k < SIM_MOVED_KINDS; k++)
        all += now->moved_bytes[k];
    if (!(all > 0))
        return;
    for (size_t k = 0; k < SIM_MOVED_KINDS; k++)
        put(view->out, names[k], "", "B", now->moved_bytes[k] - base->moved_bytes[k]);
    put(view->out, "net.wait_s", "", "s", seconds(now->moving_ns - base->moving_ns));
}

static void put_counters(const struct view *view, const struct cluster_totals *now)
{
    struct sim_meter *meter = view->meter;
    const struct cluster_totals *base = &meter->base;
    put(view->out, "mem.peak_bytes", "", "B", meter->bytes_max);
    put(view->out, "materialised.bytes", "", "B", meter->between_bytes_max);
    put(view->out, "store.spill_bytes", "", "B", now->spilled_bytes - base->spilled_bytes);
    put(view->out, "oom.host.count", "", "count", now->ooms - base->ooms);
    put(view->out, "oom.gpu.count", "", "count", now->gpu_ooms - base->gpu_ooms);
    if (meter->has_addresses)
        put(view->out, "oom.gpu.scattered", "", "count",
            now->scattered_ooms - base->scattered_ooms);
    put(view->out, "waste.setup_s", "", "s", seconds(meter->setup_wasted_ns));
    put(view->out, "work.lost_s", "", "s", seconds(now->lost_ns - base->lost_ns));
    put(view->out, "retry.count", "", "count", now->retries - base->retries);
    put(view->out, "retry.exhausted", "", "count", now->exhausted - base->exhausted);
    put(view->out, "sched.decisions", "", "count", now->decisions - base->decisions);
    put(view->out, "sched.refused", "", "count", now->refused - base->refused);
    put(view->out, "samples.count", "", "count", now->samples);
    put(view->out, "invariant.violations", "", "count", (double)meter->violations);
}

static void put_wall(const struct view *view)
{
    struct sim_percentiles *decision = &view->meter->decision;
    if (decision->count == 0)
        return;
    struct sim_result_row row = {
        .label = "", .unit = "ms", .n = decision->count, .is_wall = true
    };
    row.metric = "sched.cpu_ms.mean";
    row.value = decision->sum_ns * 1e-6 / (double)decision->count;
    put_row(view->out, &row);
    bool is_lower_bound = false;
    row.metric = "sched.cpu_ms.p99";
    row.value = 1e-6 * (double)sim_percentiles_at(decision, 0.99, &(struct sim_censored){ 0 },
                                                  &is_lower_bound);
    put_row(view->out, &row);
    row.metric = "sched.wall_max";
    row.value = 1e-6 * (double)decision->max_ns;
    put_row(view->out, &row);
}

/* ---- the end ---- */

static uint64_t count_violations(const struct view *view)
{
    const struct sim_meter_end *end = view->end;
    uint64_t violations =
        sim_meter_check(view->meter, end->end_ns, end->items_in_system, NULL) != WEIR_OK;
    if (!end->age_ns)
        return violations;
    double inside_ns = 0.0;
    for (uint64_t i = 0; i < end->items_in_system; i++)
        inside_ns += (double)end->age_ns[i];
    return violations + !sim_meter_little_holds(view->meter, end->end_ns, inside_ns);
}

static weir_status write_histogram(const struct sim_percentiles *values, const char *label,
                                   const struct sim_results *out)
{
    if (values->count == 0 || !out->recorder)
        return WEIR_OK;
    struct sim_histogram *histogram = calloc(1, sizeof *histogram);
    if (!histogram)
        return weir_fail(out->error, WEIR_ENOMEM, "out of memory for the histogram of lat.e2e");
    sim_percentiles_fill(values, histogram);
    weir_status status = WEIR_OK;
    for (size_t b = 0; b < SIM_HISTOGRAM_BUCKETS && status == WEIR_OK; b++)
        if (histogram->buckets[b] > 0)
            status = sim_recorder_histogram(out->recorder, "lat.e2e", label,
                                            sim_time_s(sim_histogram_low(b)), histogram->buckets[b],
                                            out->error);
    free(histogram);
    return status;
}

/* GPUs of each node that were held, of those it has: how even that is over the nodes. */
static void put_balance(const struct view *view)
{
    const struct sim_meter *meter = view->meter;
    double *loads = calloc(meter->node_count + 1, sizeof *loads);
    size_t count = 0;
    if (!loads) {
        view->out->status = WEIR_ENOMEM;
        return;
    }
    for (size_t n = 0; n < meter->node_count; n++) {
        const struct node_meter *node = &meter->nodes[n];
        const struct node_totals now = sim_meter_node_totals(node, view->end->end_ns);
        const double gpus = meter->capacity[n].amount[SIM_RESOURCE_GPU];
        if (gpus > 0)
            loads[count++] =
                (now.assigned[SIM_RESOURCE_GPU] - node->base.assigned[SIM_RESOURCE_GPU]) / gpus;
    }
    put(view->out, "lb.index", "", "ratio", sim_balance_index(loads, count));
    free(loads);
}

weir_status sim_meter_results(struct sim_meter *meter, const struct sim_meter_end *end,
                              struct sim_results *out)
{
    if (meter->warmup_ns > end->end_ns) /* it ends with the run: nothing is left to count */
        meter->warmup_ns = meter->next_ns = end->end_ns;
    meter_tick(meter, end->end_ns);
    sim_meter_steady_stop(meter, end->end_ns);
    const int64_t from_ns = meter->warmup_ns;
    const struct view view = { meter, end, out, from_ns, (double)(end->end_ns - from_ns) };
    meter->is_steady = end->is_complete || !sim_meter_grows(meter, from_ns, end->end_ns);
    meter->violations = count_violations(&view);
    const struct cluster_totals now = sim_meter_cluster_totals(meter, end->end_ns);
    if (view.span_ns > 0.0) {
        put_use(&view, &now);
        put_frag(&view, &now);
        put_power(&view, &now);
        meter_physics_results(meter, end->end_ns, view.span_ns, out);
        for (size_t s = 0; s < meter->stage_count; s++)
            put_stage(&view, s);
        put_pipelines(&view);
        meter_services_results(meter, out);
        put_workers(&view);
        meter_tenants_results(meter, end->end_ns, view.span_ns, out);
        meter_reserved_results(meter, end->end_ns, out);
        meter_belief_results(meter, end->end_ns, out);
        if (meter->workload_count > 0)
            put_balance(&view);
    }
    put_makespan(&view);
    put_moved(&view, &now);
    meter_cost_results(meter, end->end_ns, out);
    put_counters(&view, &now);
    meter_windows_results(meter, end, out);
    put_wall(&view);
    WEIR_TRY(out->status);
    WEIR_TRY(write_histogram(&meter->latency, "", out));
    for (size_t p = 0; meter->pipeline_count > 1 && p < meter->pipeline_count; p++)
        WEIR_TRY(write_histogram(&meter->pipelines[p].latency, meter->pipelines[p].label, out));
    return WEIR_OK;
}

bool sim_meter_is_steady(const struct sim_meter *meter)
{
    return meter->is_steady;
}
