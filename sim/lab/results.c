/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Metrics of a static experiment: rows of `result` and `arrival_sample`. */
#include "sim/cluster/sharing.h"
#include "sim/lab/result_rows.h"
#include "sim/record/meter/fragmentation.h"
#include "sim/record/record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Buckets of F and power: one list for end values and curves. `scale` makes GPUs or kilowatts. */
static const struct part {
    const char *metric, *unit;
    uint32_t index;
} parts[] = {
    { "frag.gpu.q1", "GPUs", SIM_BUCKET_Q1 },     { "frag.gpu.q2", "GPUs", SIM_BUCKET_Q2 },
    { "frag.gpu.q3", "GPUs", SIM_BUCKET_Q3 },     { "frag.gpu.q4", "GPUs", SIM_BUCKET_Q4 },
    { "frag.gpu.xl", "GPUs", SIM_BUCKET_XL },     { "frag.gpu.xr", "GPUs", SIM_BUCKET_XR },
    { "frag.gpu.na", "GPUs", SIM_BUCKET_NA },     { "frag.gpu.memory", "GPUs", SIM_BUCKET_MEMORY },
    { "power.gpu_kw", "kW", SIM_PART_GPU_POWER }, { "power.cpu_kw", "kW", SIM_PART_CPU_POWER }
};
enum { PARTS = sizeof parts / sizeof parts[0] };

static void put_jobs(struct sim_lab_rows *writer, const struct sim_lab *lab)
{
    const struct sim_lab_counts *counts = sim_lab_counts(lab);
    const struct sim_workload *workload = sim_lab_workload(lab);
    sim_lab_row(writer, "jobs.arrived", "", "1", (double)counts->arrived);
    sim_lab_row(writer, "jobs.placed", "", "1", (double)(counts->arrived - counts->failed));
    sim_lab_row(writer, "jobs.failed", "", "1", (double)counts->failed);
    sim_lab_row(writer, "jobs.infeasible", "", "1", (double)counts->infeasible);
    for (size_t l = 0; l < workload->labels_count; l++) {
        const char *label = workload->labels[l];
        if (counts->label_arrived[l] == 0)
            continue;
        sim_lab_row(writer, "jobs.arrived", label, "1", (double)counts->label_arrived[l]);
        sim_lab_row(writer, "jobs.failed", label, "1", (double)counts->label_failed[l]);
    }
}

static void put_allocation(struct sim_lab_rows *writer, const struct sim_lab *lab)
{
    const struct sim_lab_counts *counts = sim_lab_counts(lab);
    const struct sim_cluster *cluster = sim_lab_cluster(lab);
    const double gpu_milli = sim_lab_curve(lab)->gpus * 1000;
    double cpu_units = 0;
    double ram_bytes = 0;
    for (uint32_t n = 0; n < cluster->node_count; n++) {
        cpu_units += (double)cluster->nodes[n].cpu_total;
        ram_bytes += (double)cluster->nodes[n].ram_total_bytes;
    }
    sim_lab_row(writer, "demand.gpu_pct", "", "%", 100 * counts->arrived_milli / gpu_milli);
    sim_lab_row(writer, "alloc.gpu_pct", "", "%", 100 * counts->used_milli / gpu_milli);
    sim_lab_row(writer, "alloc.cpu_pct", "", "%",
                cpu_units > 0 ? 100 * (double)counts->cpu_units / cpu_units : (double)NAN);
    sim_lab_row(writer, "alloc.mem_pct", "", "%",
                ram_bytes > 0 ? 100 * (double)counts->ram_bytes / ram_bytes : (double)NAN);
}

/* The target without the jobs that ask for no GPU: their buckets go, the others count for more. */
static double jobs_with_gpus(const double milli[SIM_BUCKETS], double cpu_share)
{
    const double sum =
        milli[SIM_BUCKET_Q1] + milli[SIM_BUCKET_Q2] + milli[SIM_BUCKET_Q4] + milli[SIM_BUCKET_NA];
    return cpu_share < 1 ? sum / 1000 / (1 - cpu_share) : (double)NAN;
}

static void put_buckets(struct sim_lab_rows *writer, const struct sim_lab *lab)
{
    const struct sim_measures *measures = sim_lab_measures(lab);
    const double gpus = sim_lab_curve(lab)->gpus;
    double milli[SIM_BUCKETS];
    for (uint32_t b = 0; b < SIM_BUCKETS; b++)
        milli[b] = sim_measures_part(measures, b);
    for (int i = 0; i < PARTS; i++)
        sim_lab_row(writer, parts[i].metric, "", parts[i].unit,
                    sim_measures_part(measures, parts[i].index) / 1000);
    const double power = sim_measures_part(measures, SIM_PART_GPU_POWER) +
                         sim_measures_part(measures, SIM_PART_CPU_POWER);
    const double used = sim_lab_counts(lab)->used_milli / 1000;
    sim_lab_row(writer, "power.end_kw", "", "kW", power / 1000);
    sim_lab_row(writer, "power.per_gpu_w", "", "W", used > 0 ? power / used : (double)NAN);
    const double frag = jobs_with_gpus(milli, sim_target_cpu_share(sim_lab_target(lab)));
    sim_lab_row(writer, "frag.gpu.gpu_jobs", "", "GPUs", frag);
    sim_lab_row(writer, "frag.gpu_jobs_pct", "", "%", 100 * frag / gpus);
}

static void put_dead_slices(struct sim_lab_rows *writer, const struct sim_lab *lab)
{
    const struct sim_cluster *cluster = sim_lab_cluster(lab);
    const struct weir_mix mix = sim_target_mix(sim_lab_target(lab));
    double dead = 0;
    for (uint32_t n = 0; n < cluster->node_count; n++)
        dead += sim_cluster_dead_slices(cluster, n, &mix);
    if (sim_cluster_is_cut(cluster))
        sim_lab_row(writer, "mig.dead_slices", "", "slices", dead);
}

static void put_fragmentation(struct sim_lab_rows *writer, const struct sim_lab *lab)
{
    const double gpus = sim_lab_curve(lab)->gpus;
    const double frag = sim_lab_frag_milli(lab) / 1000;
    const double idle = gpus - sim_lab_counts(lab)->used_milli / 1000;
    sim_lab_row(writer, "frag.gpu.fgd", "", "GPUs", frag);
    sim_lab_row(writer, "frag.gpu_pct", "", "%", 100 * frag / gpus);
    sim_lab_row(writer, "frag.idle_pct", "", "%", idle > 0 ? 100 * frag / idle : 0);
    put_buckets(writer, lab);
    put_dead_slices(writer, lab);
    sim_lab_row(writer, "target.kinds", "", "1", sim_lab_target(lab)->count);
    sim_lab_row(writer, "target.distinct", "", "1", sim_lab_target(lab)->distinct);
}

/* What lies idle, and how full the GPUs were when the first job was refused. */
static void put_spare(struct sim_lab_rows *writer, const struct sim_lab *lab)
{
    const struct sim_lab_counts *counts = sim_lab_counts(lab);
    struct sim_frag spare;
    if (writer->out.status == WEIR_OK)
        writer->out.status = sim_lab_spare(lab, &spare);
    if (writer->out.status != WEIR_OK)
        return;
    const double whole = floor(spare.part[SIM_FRAG_FREE] + 1e-9);
    sim_lab_row(writer, "frag.whole_free", "", "ratio",
                whole > 0 ? spare.part[SIM_FRAG_WHOLE] / whole : 1);
    sim_lab_row(writer, "frag.crumbs", "", "GPUs", spare.part[SIM_FRAG_CRUMBS]);
    sim_lab_row(writer, "stranded.gpus", "", "GPUs", spare.part[SIM_FRAG_STRANDED]);
    if (counts->density_milli >= 0)
        sim_lab_row(writer, "pack.density", "", "ratio",
                    counts->density_milli / sim_lab_curve(lab)->gpus / 1000);
}

/* Parts at one percent: values of 0 have no row. */
static void put_parts(struct sim_lab_rows *writer, const struct sim_lab *lab, size_t x,
                      const struct sim_arrival_values *values)
{
    const double cpu_share = sim_target_cpu_share(sim_lab_target(lab));
    const double frag = jobs_with_gpus(values->parts, cpu_share);
    for (int i = 0; i < PARTS && writer->out.status == WEIR_OK; i++)
        if (fabs(values->parts[parts[i].index]) > 0)
            writer->out.status =
                sim_recorder_arrival_part(writer->out.recorder, (uint32_t)x, parts[i].metric,
                                          values->parts[parts[i].index] / 1000, writer->out.error);
    if (writer->out.status == WEIR_OK && !isnan(frag))
        writer->out.status = sim_recorder_arrival_part(
            writer->out.recorder, (uint32_t)x, "frag.gpu.gpu_jobs", frag, writer->out.error);
}

/* ---- bound and causes, at the end and when all GPUs were asked for ---- */

#define CAUSE_METRIC(name, metric) metric,
static const char *const cause_metrics[] = { SIM_UNALLOCATED_CAUSES(CAUSE_METRIC) };
#undef CAUSE_METRIC

static void put_causes(struct sim_lab_rows *writer, const char *label, double gpus,
                       const struct sim_unallocated *unallocated)
{
    double all = 0;
    for (int c = 0; c < SIM_CAUSES; c++) {
        sim_lab_row(writer, cause_metrics[c], label, "%", 100 * unallocated->gpus[c] / gpus);
        all += unallocated->gpus[c];
    }
    sim_lab_row(writer, "unalloc.gpu_pct", label, "%", 100 * all / gpus);
    for (uint32_t i = 0; i < unallocated->change_count && writer->out.status == WEIR_OK; i++) {
        const struct sim_change *change = &unallocated->changes[i];
        const struct sim_placement_change_row row = { .label = label,
                                                      .change = change->text,
                                                      .rank = i,
                                                      .nodes = change->nodes,
                                                      .gpus_freed = change->gpus_freed };
        writer->out.status =
            sim_recorder_placement_change(writer->out.recorder, &row, writer->out.error);
    }
}

static weir_status compute_bound(const struct sim_lab *lab, const struct sim_lab_state *state,
                                 struct sim_alloc_bound *bound)
{
    const struct sim_job_kinds *kinds = &sim_lab_demand(lab)->kinds;
    double *jobs = calloc((size_t)kinds->count + 1, sizeof *jobs);
    const struct sim_alloc_question question = { .cluster = state->cluster,
                                                 .kinds = kinds,
                                                 .jobs = jobs,
                                                 .shelf = sim_lab_options(lab)->bounds };
    if (jobs == NULL)
        return WEIR_ENOMEM;
    for (uint32_t k = 0; k < kinds->count; k++)
        jobs[k] = (double)state->arrived[k];
    const weir_status status = sim_alloc_bound_compute(&question, bound);
    free(jobs);
    return status;
}

static weir_status put_bound(struct sim_lab_rows *writer, const char *label,
                             const struct sim_lab *lab, const struct sim_lab_state *state)
{
    const double gpus = sim_lab_curve(lab)->gpus;
    struct sim_alloc_bound bound;
    WEIR_TRY(compute_bound(lab, state, &bound));
    sim_lab_row(writer, "alloc.bound_pct", label, "%", 100 * bound.gpus / gpus);
    sim_lab_row(writer, "alloc.simple_bound_pct", label, "%", 100 * bound.simple_gpus / gpus);
    sim_lab_row(writer, "alloc.gap_pp", label, "pp",
                100 * (bound.gpus - state->used_milli / 1000) / gpus);
    return WEIR_OK;
}

/* Bound and causes of one state; `unallocated` is room for the answer. */
static weir_status put_state(struct sim_lab_rows *writer, const char *label,
                             const struct sim_lab *lab, const struct sim_lab_state *state,
                             struct sim_unallocated *unallocated)
{
    const struct sim_unallocated_question question = { .scenario = sim_lab_scenario(lab),
                                                       .cluster = state->cluster,
                                                       .kinds = &sim_lab_demand(lab)->kinds,
                                                       .refused = state->refused,
                                                       .arrived_gpus =
                                                           state->arrived_milli / 1000 };
    WEIR_TRY(put_bound(writer, label, lab, state));
    WEIR_TRY(sim_unallocated_compute(&question, unallocated));
    put_causes(writer, label, sim_lab_curve(lab)->gpus, unallocated);
    return WEIR_OK;
}

static void put_advice(struct sim_lab_rows *writer, const struct sim_unallocated *unallocated)
{
    if (unallocated->change_count > 0)
        sim_lab_row(writer, "unalloc.best_change_gpus", "", "GPUs",
                    unallocated->changes[0].gpus_freed);
}

static void put_states(struct sim_lab_rows *writer, const struct sim_lab *lab)
{
    const struct sim_lab_state now = sim_lab_now(lab);
    const struct sim_lab_state full = sim_lab_full(lab);
    struct sim_unallocated unallocated;
    weir_status status = put_state(writer, "", lab, &now, &unallocated);
    if (status == WEIR_OK)
        put_advice(writer, &unallocated);
    if (status == WEIR_OK && full.cluster != NULL)
        status = put_state(writer, "100 % arrived", lab, &full, &unallocated);
    if (writer->out.status == WEIR_OK)
        writer->out.status = status;
}

/* ---- the curve ---- */

/* The curve, and its values at round percents as results. */
static void put_curve(struct sim_lab_rows *writer, const struct sim_lab *lab)
{
    const struct sim_arrival_curve *curve = sim_lab_curve(lab);
    for (size_t x = 0; x < curve->count; x++) {
        const struct sim_arrival_values values = sim_arrival_curve_at(curve, x);
        const struct sim_arrival_row row = { .arrived_pct = (uint32_t)x,
                                             .events = values.events,
                                             .failed = values.failed,
                                             .alloc_gpu_pct = values.alloc_pct,
                                             .frag_gpu_pct = values.frag_pct,
                                             .frag_idle_pct = values.frag_idle_pct };
        if (writer->out.status == WEIR_OK)
            writer->out.status =
                sim_recorder_arrival(writer->out.recorder, &row, writer->out.error);
        put_parts(writer, lab, x, &values);
    }
    for (size_t x = 50; x < curve->count; x += x < 100 ? 25 : 10) {
        const struct sim_arrival_values values = sim_arrival_curve_at(curve, x);
        char label[32];
        (void)snprintf(label, sizeof(label), "%zu %% arrived", x);
        sim_lab_row(writer, "alloc.gpu_pct", label, "%", values.alloc_pct);
        sim_lab_row(writer, "frag.gpu_pct", label, "%", values.frag_pct);
    }
}

void sim_lab_results(const struct sim_lab *lab, struct sim_lab_rows *rows)
{
    put_allocation(rows, lab);
    put_fragmentation(rows, lab);
    put_spare(rows, lab);
    put_jobs(rows, lab);
    put_states(rows, lab);
    put_curve(rows, lab);
}
