/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is measured of jobs; see the header. */
#include "sim/record/meter/meter_jobs.h"

#include "sim/record/meter/meter_windows.h"

#include <math.h>
#include <stdlib.h>

/* ---- making ---- */

static void open_row(struct sim_job_meter *row, uint32_t workload)
{
    row->workload = workload;
    row->band = WEIR_NO_INDEX;
    row->wait = sim_percentiles_open(STORED_VALUES);
    row->time = sim_percentiles_open(STORED_VALUES);
    row->restart = sim_percentiles_open(STORED_VALUES);
    row->slowdown = sim_percentiles_open(STORED_VALUES);
}

/* Of classes and workloads, and of all jobs where there are several; then the bands. */
static size_t first_band(const struct sim_meter *meter)
{
    return meter->class_count + meter->workload_count + (meter->workload_count > 1);
}

weir_status meter_jobs_open(struct sim_meter *meter, const struct sim_meter_config *config)
{
    for (size_t w = 0; w < config->workload_count; w++)
        meter->class_count += config->workload_classes[w];
    meter->workload_count = config->workload_count;
    meter->band_count = config->band_count;
    meter->jobs = calloc(meter->class_count + meter->workload_count + meter->band_count + 1,
                         sizeof *meter->jobs);
    if (!meter->jobs)
        return WEIR_ENOMEM;
    size_t class = 0;
    for (uint32_t w = 0; w < meter->workload_count; w++) {
        for (uint32_t i = 0; i < config->workload_classes[w]; i++)
            open_row(&meter->jobs[class ++], w);
        open_row(sim_meter_workload(meter, w), w);
    }
    if (meter->workload_count > 1)
        open_row(sim_meter_all_jobs(meter), WEIR_NO_INDEX);
    for (uint32_t b = 0; b < meter->band_count; b++)
        open_row(sim_meter_band(meter, b), WEIR_NO_INDEX);
    for (size_t c = 0; c < meter->class_count && meter->band_count > 0; c++)
        meter->jobs[c].band = config->class_bands[c];
    return WEIR_OK;
}

static size_t row_count(const struct sim_meter *meter)
{
    return first_band(meter) + meter->band_count;
}

void meter_jobs_close(struct sim_meter *meter)
{
    for (size_t i = 0; meter->jobs && i < row_count(meter); i++) {
        sim_ages_clear(&meter->jobs[i].waiting);
        sim_ages_clear(&meter->jobs[i].left);
        sim_percentiles_close(&meter->jobs[i].wait);
        sim_percentiles_close(&meter->jobs[i].time);
        sim_percentiles_close(&meter->jobs[i].restart);
        sim_percentiles_close(&meter->jobs[i].slowdown);
    }
    free(meter->jobs);
}

struct sim_job_meter *sim_meter_class(struct sim_meter *meter, uint32_t job_class)
{
    return &meter->jobs[job_class];
}

struct sim_job_meter *sim_meter_workload(struct sim_meter *meter, uint32_t workload)
{
    return &meter->jobs[meter->class_count + workload];
}

struct sim_job_meter *sim_meter_all_jobs(struct sim_meter *meter)
{
    const size_t count = meter->workload_count;
    return sim_meter_workload(meter, count == 1 ? 0 : (uint32_t)count);
}

struct sim_job_meter *sim_meter_band(struct sim_meter *meter, uint32_t band)
{
    return &meter->jobs[first_band(meter) + band];
}

/* ---- what happens: to a class, to its workload, to all jobs, and to its band ---- */

struct rows {
    struct sim_job_meter *rows[4];
    size_t count;
};

static struct rows rows_of(struct sim_meter *meter, uint32_t job_class)
{
    struct sim_job_meter *row = sim_meter_class(meter, job_class);
    struct rows of = { { row, sim_meter_workload(meter, row->workload) }, 2 };
    if (meter->workload_count > 1)
        of.rows[of.count++] = sim_meter_all_jobs(meter);
    if (row->band != WEIR_NO_INDEX)
        of.rows[of.count++] = sim_meter_band(meter, row->band);
    return of;
}

void sim_meter_job(struct sim_meter *meter, uint32_t job_class, enum sim_job_count what,
                   bool is_counted)
{
    const struct rows of = rows_of(meter, job_class);
    for (size_t i = 0; i < of.count; i++) {
        of.rows[i]->seen[what]++;
        of.rows[i]->counts[what] += is_counted ? 1 : 0;
    }
}

void sim_meter_job_asked(struct sim_meter *meter, uint32_t job_class, double gpu_s)
{
    const struct rows of = rows_of(meter, job_class);
    for (size_t i = 0; i < of.count; i++)
        of.rows[i]->gpu_s_asked += gpu_s;
}

void sim_meter_job_denied(struct sim_meter *meter, uint32_t job_class, double gpu_s)
{
    const struct rows of = rows_of(meter, job_class);
    for (size_t i = 0; i < of.count; i++)
        of.rows[i]->gpu_s_refused += gpu_s;
}

void sim_meter_job_late(struct sim_meter *meter, uint32_t job_class, double money)
{
    const struct rows of = rows_of(meter, job_class);
    for (size_t i = 0; i < of.count; i++)
        of.rows[i]->late_cost += money;
}

void sim_meter_jobs(struct sim_meter *meter, int64_t now_ns, uint32_t job_class,
                    enum sim_job_gauge what, double change)
{
    meter_tick(meter, now_ns);
    const struct rows of = rows_of(meter, job_class);
    for (size_t i = 0; i < of.count; i++) {
        struct sim_job_meter *row = of.rows[i];
        sim_gauge_add(&row->gauges[what], now_ns, change);
        if (what == SIM_JOBS_WAITING && row->gauges[what].value > row->waiting_max)
            row->waiting_max = row->gauges[what].value;
    }
    if (meter->windows && what == SIM_JOBS_WAITING)
        meter_windows_backlog(meter, now_ns, change);
}

void sim_meter_jobs_reserved(struct sim_meter *meter, int64_t now_ns, uint32_t workload,
                             double gpus)
{
    meter_tick(meter, now_ns);
    sim_gauge_set(&sim_meter_workload(meter, workload)->gauges[SIM_JOBS_RESERVED], now_ns, gpus);
}

void sim_meter_job_wait(struct sim_meter *meter, int64_t now_ns, uint32_t job_class,
                        int64_t wait_ns)
{
    meter_tick(meter, now_ns);
    const struct rows of = rows_of(meter, job_class);
    if (meter->windows)
        meter_windows_job_wait(meter, now_ns, wait_ns);
    for (size_t i = 0; i < of.count; i++)
        sim_percentiles_add(&of.rows[i]->wait, wait_ns);
}

void sim_meter_job_restart(struct sim_meter *meter, uint32_t job_class, int64_t after_ns)
{
    const struct rows of = rows_of(meter, job_class);
    for (size_t i = 0; i < of.count; i++)
        sim_percentiles_add(&of.rows[i]->restart, after_ns);
}

/* Bounded slowdown: time in the system over run time, both at least 10 s (Feitelson). */
static int64_t slowdown(int64_t time_ns, int64_t run_ns)
{
    const double bound = fmax((double)run_ns, 10e9);
    return llround(1e9 * fmax(1, (double)time_ns / bound));
}

void sim_meter_job_done(struct sim_meter *meter, int64_t now_ns, uint32_t job_class,
                        bool is_counted, int64_t time_ns, int64_t run_ns)
{
    meter_tick(meter, now_ns);
    sim_meter_job(meter, job_class, SIM_JOBS_DONE, is_counted);
    const struct rows of = rows_of(meter, job_class);
    for (size_t i = 0; i < of.count; i++) {
        of.rows[i]->done_since++;
        if (!is_counted)
            continue;
        sim_percentiles_add(&of.rows[i]->time, time_ns);
        sim_percentiles_add(&of.rows[i]->slowdown, slowdown(time_ns, run_ns));
    }
    if (meter->windows && is_counted)
        meter_windows_job_done(meter, now_ns, time_ns, slowdown(time_ns, run_ns));
}

weir_status sim_meter_job_left(struct sim_meter *meter, int64_t now_ns, uint32_t job_class,
                               uint32_t tenant, int64_t age_ns, bool is_waiting)
{
    const struct rows of = rows_of(meter, job_class);
    for (size_t i = 0; i < of.count; i++) {
        WEIR_TRY(sim_ages_add(&of.rows[i]->left, age_ns));
        if (is_waiting)
            WEIR_TRY(sim_ages_add(&of.rows[i]->waiting, age_ns));
    }
    if (is_waiting)
        WEIR_TRY(meter_tenants_waiting(meter, tenant, age_ns));
    return meter->windows ? meter_windows_job_left(meter, now_ns, age_ns, is_waiting) : WEIR_OK;
}

void meter_jobs_warm(struct sim_meter *meter, int64_t now_ns)
{
    for (size_t i = 0; i < row_count(meter); i++) {
        struct sim_job_meter *row = &meter->jobs[i];
        for (size_t g = 0; g < SIM_JOBS_GAUGES; g++)
            row->warm[g] = sim_gauge_integral(&row->gauges[g], now_ns);
        row->waiting_max = row->gauges[SIM_JOBS_WAITING].value;
        row->done_since = 0;
    }
}
