/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Metrics of a static experiment: rows of `result` and `arrival_sample`, values of the summary. */
#include "sim/jobs/static_run.h"
#include "sim/record/fragmentation.h"
#include "sim/record/record.h"
#include "sim/run.h"

#include <math.h>
#include <stdio.h>

struct writer {
    struct sim_recorder *recorder;
    struct sim_run_summary *summary;
    struct weir_error *error;
    uint64_t arrived;
    weir_status status;
};

static void put(struct writer *writer, const char *metric, const char *label, const char *unit,
                double value)
{
    struct sim_run_summary *summary = writer->summary;
    const struct sim_result_row row = {
        .metric = metric, .label = label, .unit = unit, .value = value, .n = writer->arrived
    };
    if (writer->status == WEIR_OK)
        writer->status = sim_recorder_result(writer->recorder, &row, writer->error);
    if (summary->value_count == SIM_RUN_RESULTS)
        return;
    struct sim_run_value *kept = &summary->values[summary->value_count++];
    (void)snprintf(kept->metric, sizeof(kept->metric), "%s", metric);
    (void)snprintf(kept->label, sizeof(kept->label), "%s", label);
    kept->value = value;
}

static void put_jobs(struct writer *writer, const struct sim_static_run *run)
{
    const struct sim_static_counts *counts = sim_static_counts(run);
    const struct sim_workload *workload = sim_static_workload(run);
    put(writer, "jobs.arrived", "", "1", (double)counts->arrived);
    put(writer, "jobs.placed", "", "1", (double)(counts->arrived - counts->failed));
    put(writer, "jobs.failed", "", "1", (double)counts->failed);
    put(writer, "jobs.infeasible", "", "1", (double)counts->infeasible);
    for (size_t l = 0; l < workload->labels_count; l++) {
        const char *label = workload->labels[l];
        if (counts->label_arrived[l] == 0)
            continue;
        put(writer, "jobs.arrived", label, "1", (double)counts->label_arrived[l]);
        put(writer, "jobs.failed", label, "1", (double)counts->label_failed[l]);
    }
}

static void put_allocation(struct writer *writer, const struct sim_static_run *run)
{
    const struct sim_static_counts *counts = sim_static_counts(run);
    const struct sim_cluster *cluster = sim_static_cluster(run);
    const double gpu_milli = sim_static_curve(run)->gpus * 1000;
    double cpu_units = 0;
    double ram_bytes = 0;
    for (uint32_t n = 0; n < cluster->node_count; n++) {
        cpu_units += (double)cluster->nodes[n].cpu_total;
        ram_bytes += (double)cluster->nodes[n].ram_total_bytes;
    }
    put(writer, "demand.gpu_pct", "", "%", 100 * (double)counts->arrived_milli / gpu_milli);
    put(writer, "alloc.gpu_pct", "", "%", 100 * (double)counts->used_milli / gpu_milli);
    put(writer, "alloc.cpu_pct", "", "%",
        cpu_units > 0 ? 100 * (double)counts->cpu_units / cpu_units : (double)NAN);
    put(writer, "alloc.mem_pct", "", "%",
        ram_bytes > 0 ? 100 * (double)counts->ram_bytes / ram_bytes : (double)NAN);
}

static void put_fragmentation(struct writer *writer, const struct sim_static_run *run)
{
    const double gpus = sim_static_curve(run)->gpus;
    const double frag = sim_static_frag_milli(run) / 1000;
    const double idle = gpus - (double)sim_static_counts(run)->used_milli / 1000;
    put(writer, "frag.gpu.fgd", "", "GPUs", frag);
    put(writer, "frag.gpu_pct", "", "%", 100 * frag / gpus);
    put(writer, "frag.idle_pct", "", "%", idle > 0 ? 100 * frag / idle : 0);
    put(writer, "target.kinds", "", "1", sim_static_target(run)->count);
    put(writer, "target.distinct", "", "1", sim_static_target(run)->distinct);
}

/* What lies idle, and how full the GPUs were when the first job was refused. */
static void put_spare(struct writer *writer, const struct sim_static_run *run)
{
    const struct sim_static_counts *counts = sim_static_counts(run);
    struct sim_frag spare;
    if (writer->status == WEIR_OK)
        writer->status = sim_static_spare(run, &spare);
    if (writer->status != WEIR_OK)
        return;
    const double whole = floor(spare.part[SIM_FRAG_FREE] + 1e-9);
    put(writer, "frag.whole_free", "", "ratio", whole > 0 ? spare.part[SIM_FRAG_WHOLE] / whole : 1);
    put(writer, "frag.crumbs", "", "GPUs", spare.part[SIM_FRAG_CRUMBS]);
    put(writer, "stranded.gpus", "", "GPUs", spare.part[SIM_FRAG_STRANDED]);
    if (counts->density_milli >= 0)
        put(writer, "pack.density", "", "ratio",
            (double)counts->density_milli / sim_static_curve(run)->gpus / 1000);
}

/* The curve, and its values at round percents as results. */
static void put_curve(struct writer *writer, const struct sim_arrival_curve *curve)
{
    for (size_t x = 0; x < curve->count; x++) {
        const struct sim_arrival_values values = sim_arrival_curve_at(curve, x);
        const struct sim_arrival_row row = { .arrived_pct = (uint32_t)x,
                                             .events = values.events,
                                             .failed = values.failed,
                                             .alloc_gpu_pct = values.alloc_pct,
                                             .frag_gpu_pct = values.frag_pct,
                                             .frag_idle_pct = values.frag_idle_pct };
        if (writer->status == WEIR_OK)
            writer->status = sim_recorder_arrival(writer->recorder, &row, writer->error);
    }
    for (size_t x = 50; x < curve->count; x += x < 100 ? 25 : 10) {
        const struct sim_arrival_values values = sim_arrival_curve_at(curve, x);
        char label[32];
        (void)snprintf(label, sizeof(label), "%zu %% arrived", x);
        put(writer, "alloc.gpu_pct", label, "%", values.alloc_pct);
        put(writer, "frag.gpu_pct", label, "%", values.frag_pct);
    }
}

weir_status sim_static_results(const struct sim_static_run *run, struct sim_recorder *recorder,
                               struct sim_run_summary *summary, struct weir_error *error)
{
    struct writer writer = { .recorder = recorder,
                             .summary = summary,
                             .error = error,
                             .arrived = sim_static_counts(run)->arrived };
    put_allocation(&writer, run);
    put_fragmentation(&writer, run);
    put_spare(&writer, run);
    put_jobs(&writer, run);
    put_curve(&writer, sim_static_curve(run));
    return writer.status;
}
