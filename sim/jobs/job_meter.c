/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is measured of jobs in time; see the header. */
#include "sim/jobs/job_meter.h"

#include "sim/engine/time.h"
#include "sim/record/record.h"

#include <math.h>
#include <stdlib.h>

enum { VALUES_KEPT = 1000000 };

/* ---- making ---- */

static weir_status open_row(struct sim_job_meter_row *row)
{
    WEIR_TRY(sim_percentiles_open(&row->wait, VALUES_KEPT));
    WEIR_TRY(sim_percentiles_open(&row->time, VALUES_KEPT));
    WEIR_TRY(sim_percentiles_open(&row->restart, VALUES_KEPT));
    return sim_percentiles_open(&row->slowdown, VALUES_KEPT);
}

weir_status sim_job_meter_open(struct sim_job_meter *meter, size_t labels, int64_t warmup_ns)
{
    *meter = (struct sim_job_meter){ .labels = labels, .warmup_ns = warmup_ns };
    meter->rows = calloc(labels + 1, sizeof(*meter->rows));
    if (meter->rows == NULL)
        return WEIR_ENOMEM;
    for (size_t i = 0; i <= labels; i++)
        WEIR_TRY(open_row(&meter->rows[i]));
    return WEIR_OK;
}

void sim_job_meter_close(struct sim_job_meter *meter)
{
    for (size_t i = 0; i <= meter->labels && meter->rows != NULL; i++) {
        sim_percentiles_close(&meter->rows[i].wait);
        sim_percentiles_close(&meter->rows[i].time);
        sim_percentiles_close(&meter->rows[i].restart);
        sim_percentiles_close(&meter->rows[i].slowdown);
    }
    free(meter->rows);
    meter->rows = NULL;
}

/* ---- what happens ---- */

void sim_job_meter_count(struct sim_job_meter *meter, uint32_t label, enum sim_job_count what,
                         bool is_counted)
{
    struct sim_job_meter_row *const rows[] = { &meter->rows[label], &meter->rows[meter->labels] };
    for (size_t i = 0; i < 2; i++) {
        rows[i]->seen[what]++;
        rows[i]->counts[what] += is_counted ? 1 : 0;
    }
}

void sim_job_meter_change(struct sim_job_meter *meter, int64_t now_ns, uint32_t label,
                          enum sim_job_gauge what, double change)
{
    struct sim_job_meter_row *const rows[] = { &meter->rows[label], &meter->rows[meter->labels] };
    for (size_t i = 0; i < 2; i++) {
        sim_gauge_add(&rows[i]->gauges[what], now_ns, change);
        if (what == SIM_JOBS_WAITING && rows[i]->gauges[what].value > rows[i]->waiting_max)
            rows[i]->waiting_max = rows[i]->gauges[what].value;
    }
}

void sim_job_meter_wait(struct sim_job_meter *meter, uint32_t label, int64_t wait_ns)
{
    sim_percentiles_add(&meter->rows[label].wait, wait_ns);
    sim_percentiles_add(&meter->rows[meter->labels].wait, wait_ns);
}

void sim_job_meter_restart(struct sim_job_meter *meter, uint32_t label, int64_t after_ns)
{
    sim_percentiles_add(&meter->rows[label].restart, after_ns);
    sim_percentiles_add(&meter->rows[meter->labels].restart, after_ns);
}

/* Bounded slowdown: time in the system over run time, both at least 10 s (Feitelson). */
static int64_t slowdown(int64_t time_ns, int64_t run_ns)
{
    const double bound = fmax((double)run_ns, 10e9);
    return llround(1e9 * fmax(1, (double)time_ns / bound));
}

void sim_job_meter_done(struct sim_job_meter *meter, uint32_t label, int64_t time_ns,
                        int64_t run_ns)
{
    struct sim_job_meter_row *const rows[] = { &meter->rows[label], &meter->rows[meter->labels] };
    for (size_t i = 0; i < 2; i++) {
        sim_percentiles_add(&rows[i]->time, time_ns);
        sim_percentiles_add(&rows[i]->slowdown, slowdown(time_ns, run_ns));
    }
}

/* ---- intervals ---- */

void sim_job_meter_warm(struct sim_job_meter *meter, int64_t now_ns)
{
    for (size_t i = 0; i <= meter->labels; i++) {
        struct sim_job_meter_row *row = &meter->rows[i];
        for (size_t g = 0; g < SIM_JOBS_GAUGES; g++)
            row->warm[g] = sim_gauge_integral(&row->gauges[g], now_ns);
        row->waiting_max = row->gauges[SIM_JOBS_WAITING].value;
        row->done_since = 0;
    }
}

/* Mean since the latest sample, which moves to now. */
static double mean_since(const struct sim_gauge *gauge, int64_t now_ns, double span_ns,
                         double *last)
{
    const double now = sim_gauge_integral(gauge, now_ns);
    const double mean = (now - *last) / span_ns;
    *last = now;
    return mean;
}

struct interval {
    struct sim_recorder *recorder;
    int64_t from_ns, to_ns;
};

static weir_status sample_row(struct sim_job_meter *meter, const struct interval *interval,
                              size_t index, uint32_t label_first, struct weir_error *error)
{
    static const enum sim_job_count counts[] = { SIM_JOBS_ARRIVED, SIM_JOBS_STARTED, SIM_JOBS_DONE,
                                                 SIM_JOBS_REFUSED, SIM_JOBS_LEFT };
    enum { COUNTS = sizeof counts / sizeof counts[0] };
    struct sim_job_meter_row *row = &meter->rows[index];
    const double span_ns = (double)(interval->to_ns - interval->from_ns);
    double means[SIM_JOBS_GAUGES];
    double values[3 + COUNTS];
    for (size_t g = 0; g < SIM_JOBS_GAUGES; g++)
        means[g] = mean_since(&row->gauges[g], interval->to_ns, span_ns, &row->last[g]);
    values[0] = means[SIM_JOBS_WAITING];
    values[1] = means[SIM_JOBS_RUNNING];
    values[2] = means[SIM_JOBS_GPUS];
    for (size_t c = 0; c < COUNTS; c++) {
        values[3 + c] = (double)(row->seen[counts[c]] - row->sampled[counts[c]]);
        row->sampled[counts[c]] = row->seen[counts[c]];
    }
    return sim_recorder_sample(interval->recorder, SIM_SAMPLE_JOBS, label_first + (uint32_t)index,
                               sim_time_s(interval->from_ns), span_ns / 1e9, values,
                               sizeof values / sizeof values[0], error);
}

weir_status sim_job_meter_sample(struct sim_job_meter *meter, int64_t now_ns, uint32_t label_first,
                                 struct sim_recorder *recorder, struct weir_error *error)
{
    const struct interval interval = { recorder, meter->sampled_ns, now_ns };
    if (now_ns <= meter->sampled_ns)
        return WEIR_OK;
    meter->sampled_ns = now_ns;
    for (size_t i = 0; i < meter->labels; i++)
        WEIR_TRY(sample_row(meter, &interval, i, label_first, error));
    return WEIR_OK;
}
