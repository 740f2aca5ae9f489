/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Samples: means of the interval since the last sample, exact, in the column order of schema.sql.
 *
 * A sample is the difference of two totals, so the means of all samples of a run, weighted with
 * their length, are the mean of the run whatever the sampling interval.
 */
#include "sim/record/meter/meter_state.h"

#include "sim/engine/time.h"

/* Column order after t_s, dt_s. */
enum cluster_column {
    CLUSTER_RESOURCES = 0, /* capacity, assigned, active of CPU, GPU, NVDEC, NVENC */
    CLUSTER_RAM_CAPACITY = 12,
    CLUSTER_RAM_ASSIGNED,
    CLUSTER_FRAG, /* as enum sim_frag_part up to SIM_FRAG_WHOLE */
    CLUSTER_ARRIVED = CLUSTER_FRAG + SIM_FRAG_WHOLE + 1,
    CLUSTER_DONE,
    CLUSTER_LEFT,
    CLUSTER_COLUMNS
};

/* Differences of sums of many terms: what is left of zero is shown as zero. */
double meter_mean(const struct sample_interval *interval, double to, double from)
{
    const double value = (to - from) / (double)(interval->to_ns - interval->from_ns);
    return value < 1e-9 && value > -1e-9 ? 0.0 : value;
}

weir_status meter_write_row(const struct sample_interval *interval, enum sim_sample_kind kind,
                            uint32_t index, const double *values, struct weir_error *error)
{
    static const size_t columns[] = { [SIM_SAMPLE_CLUSTER] = CLUSTER_COLUMNS,
                                      [SIM_SAMPLE_NODE] = 8,
                                      [SIM_SAMPLE_STAGE] = 11,
                                      [SIM_SAMPLE_JOBS] = 8,
                                      [SIM_SAMPLE_LINK] = 2,
                                      [SIM_SAMPLE_MEMORY] = 3,
                                      [SIM_SAMPLE_POWER] = 5 };
    return sim_recorder_sample(interval->recorder, kind, index, sim_time_s(interval->from_ns),
                               sim_time_s(interval->to_ns - interval->from_ns), values,
                               columns[kind], error);
}

/* Adds the node's part of a sample of the cluster. */
static void sum_node(struct sim_meter *meter, const struct sample_interval *interval, size_t n,
                     struct node_totals *sum)
{
    struct node_meter *node = &meter->nodes[n];
    const struct node_totals now = sim_meter_node_totals(node, interval->to_ns);
    for (size_t r = 0; r < SIM_RESOURCE_COUNT; r++) {
        sum->active[r] += meter_mean(interval, now.active[r], node->last.active[r]);
        sum->assigned[r] += meter_mean(interval, now.assigned[r], node->last.assigned[r]);
    }
    node->last = now;
}

static weir_status write_node(struct sim_meter *meter, const struct sample_interval *interval,
                              size_t n, struct weir_error *error)
{
    struct node_meter *node = &meter->nodes[n];
    const struct node_totals now = node->last;
    const struct node_totals last = node->written;
    node->written = now;
    const double values[] = {
        meter_mean(interval, now.up, last.up),
        meter_mean(interval, now.assigned[SIM_RESOURCE_CPU], last.assigned[SIM_RESOURCE_CPU]),
        meter_mean(interval, now.active[SIM_RESOURCE_CPU], last.active[SIM_RESOURCE_CPU]),
        meter_mean(interval, now.assigned[SIM_RESOURCE_GPU], last.assigned[SIM_RESOURCE_GPU]),
        meter_mean(interval, now.active[SIM_RESOURCE_GPU], last.active[SIM_RESOURCE_GPU]),
        meter_mean(interval, now.active[SIM_RESOURCE_NVDEC], last.active[SIM_RESOURCE_NVDEC]),
        meter_mean(interval, now.active[SIM_RESOURCE_NVENC], last.active[SIM_RESOURCE_NVENC]),
        meter_mean(interval, now.energy, last.energy)
    };
    return meter_write_row(interval, SIM_SAMPLE_NODE, (uint32_t)n, values, error);
}

weir_status sim_meter_sample_rest(struct sim_meter *meter, struct sim_recorder *recorder,
                                  struct weir_error *error)
{
    const struct sample_interval interval = { recorder, meter->nodes_ns, meter->sampled_ns };
    if (interval.to_ns <= interval.from_ns || !sim_recorder_keeps(recorder, SIM_KEEP_SERIES))
        return WEIR_OK;
    meter->nodes_ns = interval.to_ns;
    for (size_t n = 0; n < meter->node_count; n++)
        WEIR_TRY(write_node(meter, &interval, n, error));
    return WEIR_OK;
}

void sim_meter_sample_at(struct sim_meter *meter, int64_t at_ns)
{
    meter->sample_ns = at_ns;
    meter->is_due = false;
    meter->next_ns = at_ns > 0 && at_ns < meter->next_ns ? at_ns : meter->next_ns;
}

void meter_sample_due(struct sim_meter *meter)
{
    meter->is_due = true;
    for (size_t p = 0; p < meter->pipeline_count; p++) {
        meter->pipelines[p].due_arrived = meter->pipelines[p].arrived;
        meter->pipelines[p].due_done = meter->pipelines[p].done;
        meter->pipelines[p].due_dropped = meter->pipelines[p].dropped;
    }
    for (size_t s = 0; s < meter->stage_count; s++)
        meter->stages[s].due_tasks = meter->stages[s].tasks;
}

static weir_status sample_stage(struct sim_meter *meter, const struct sample_interval *interval,
                                size_t s, struct weir_error *error)
{
    struct stage_meter *stage = &meter->stages[s];
    struct stage_totals now = sim_meter_stage_totals(stage, interval->to_ns);
    const struct stage_totals last = stage->last;
    if (meter->is_due)
        now.tasks = (double)stage->due_tasks;
    stage->last = now;
    double means[STAGE_SERIES];
    for (size_t i = 0; i < STAGE_SERIES; i++)
        means[i] = meter_mean(interval, now.integral[i], last.integral[i]);
    const double workers =
        means[SERIES_SETUP] + means[SERIES_IDLE] + means[SERIES_BUSY] + means[SERIES_BLOCKED];
    const double values[] = {
        means[SERIES_QUEUE],      means[SERIES_BYTES],   workers,
        means[SERIES_SETUP],      means[SERIES_IDLE],    means[SERIES_BUSY],
        means[SERIES_BLOCKED],    means[SERIES_STARVED], means[SERIES_PRESSED],
        means[SERIES_BOTTLENECK], now.tasks - last.tasks
    };
    return meter_write_row(interval, SIM_SAMPLE_STAGE, (uint32_t)s, values, error);
}

static void count_items(struct sim_meter *meter, const struct sample_interval *interval,
                        double *values)
{
    for (size_t p = 0; p < meter->pipeline_count; p++) {
        struct pipeline_meter *pipeline = &meter->pipelines[p];
        struct pipeline_totals now = sim_meter_pipeline_totals(pipeline, interval->to_ns);
        if (meter->is_due) {
            now.arrived = (double)pipeline->due_arrived;
            now.done = (double)pipeline->due_done;
            now.dropped = (double)pipeline->due_dropped;
        }
        values[CLUSTER_ARRIVED] += now.arrived - pipeline->last.arrived;
        values[CLUSTER_DONE] += now.done - pipeline->last.done;
        values[CLUSTER_LEFT] += now.dropped - pipeline->last.dropped;
        pipeline->last = now;
    }
}

static weir_status sample_cluster(struct sim_meter *meter, const struct sample_interval *interval,
                                  const struct node_totals *sum, struct weir_error *error)
{
    const struct cluster_totals now = sim_meter_cluster_totals(meter, interval->to_ns);
    const struct cluster_totals last = meter->last;
    meter->last = now;
    double values[CLUSTER_COLUMNS] = { 0 };
    double *value = values + CLUSTER_RESOURCES;
    for (size_t r = SIM_RESOURCE_CPU; r <= SIM_RESOURCE_NVENC; r++) {
        *value++ = meter_mean(interval, now.capacity[r], last.capacity[r]);
        *value++ = sum->assigned[r];
        *value++ = sum->active[r];
    }
    values[CLUSTER_RAM_CAPACITY] =
        meter_mean(interval, now.capacity[SIM_RESOURCE_RAM], last.capacity[SIM_RESOURCE_RAM]);
    values[CLUSTER_RAM_ASSIGNED] = sum->assigned[SIM_RESOURCE_RAM];
    for (size_t i = 0; i <= SIM_FRAG_WHOLE; i++)
        values[CLUSTER_FRAG + i] = meter_mean(interval, now.frag[i], last.frag[i]);
    count_items(meter, interval, values);
    return meter_write_row(interval, SIM_SAMPLE_CLUSTER, 0, values, error);
}

static weir_status sample_class(struct sim_meter *meter, const struct sample_interval *interval,
                                uint32_t index, struct weir_error *error)
{
    static const enum sim_job_count counts[] = { SIM_JOBS_ARRIVED, SIM_JOBS_STARTED, SIM_JOBS_DONE,
                                                 SIM_JOBS_REFUSED, SIM_JOBS_LEFT };
    enum { GAUGES = SIM_JOBS_GPUS + 1, COUNTS = sizeof counts / sizeof counts[0] };
    struct sim_job_meter *row = sim_meter_class(meter, index);
    double values[GAUGES + COUNTS];
    for (size_t g = 0; g < GAUGES; g++) {
        const double now = sim_gauge_integral(&row->gauges[g], interval->to_ns);
        values[g] = meter_mean(interval, now, row->last[g]);
        row->last[g] = now;
    }
    for (size_t c = 0; c < COUNTS; c++) {
        values[GAUGES + c] = (double)(row->seen[counts[c]] - row->sampled[counts[c]]);
        row->sampled[counts[c]] = row->seen[counts[c]];
    }
    return meter_write_row(interval, SIM_SAMPLE_JOBS, index, values, error);
}

weir_status sim_meter_sample(struct sim_meter *meter, int64_t now_ns, struct sim_recorder *recorder,
                             struct weir_error *error)
{
    meter_tick(meter, now_ns);
    if (now_ns <= meter->sampled_ns)
        return WEIR_OK;
    const struct sample_interval interval = { recorder, meter->sampled_ns, now_ns };
    meter->sampled_ns = now_ns;
    meter->samples++;
    if (!sim_recorder_keeps(recorder, SIM_KEEP_SERIES))
        return WEIR_OK; /* what a sample remembers is for the next one alone */
    struct node_totals sum = { .up = 0.0 };
    for (size_t n = 0; n < meter->node_count; n++)
        sum_node(meter, &interval, n, &sum);
    if (meter->node_every <= 1 || meter->samples % meter->node_every == 0)
        WEIR_TRY(sim_meter_sample_rest(meter, recorder, error));
    for (size_t s = 0; s < meter->stage_count; s++)
        WEIR_TRY(sample_stage(meter, &interval, s, error));
    for (uint32_t c = 0; c < meter->class_count; c++)
        WEIR_TRY(sample_class(meter, &interval, c, error));
    WEIR_TRY(meter_physics_sample(meter, &interval, error));
    return sample_cluster(meter, &interval, &sum, error);
}
