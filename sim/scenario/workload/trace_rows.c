/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of a trace as jobs that come; see the header. */
#include "sim/scenario/workload/trace_rows.h"

#include "sim/engine/law.h"
#include "sim/engine/time.h"

#include <math.h>
#include <stdlib.h>

static const int64_t day_ns = 86400 * SIM_NS_PER_S;
enum { WEEK = 7 };

struct making {
    const struct sim_workload *workload;
    const struct sim_random *random;
    struct sim_trace_row *rows;
    size_t count, capacity;
    size_t days;
    int64_t span_ns; /* one behind the last row */
};

int64_t sim_trace_row_ns(const struct sim_workload *workload, uint32_t spec)
{
    const int64_t at_ns = workload->jobs[spec].submit_ns - workload->from_ns;
    return at_ns > 0 ? at_ns : 0;
}

static bool is_row(const struct sim_job_spec *job)
{
    return job->submit_ns != WEIR_UNKNOWN_TIME && job->after == 0;
}

static int64_t span_of(const struct sim_workload *workload)
{
    int64_t last_ns = 0;
    for (size_t i = 0; i < workload->jobs_count; i++) {
        const int64_t at_ns = sim_trace_row_ns(workload, (uint32_t)i);
        if (is_row(&workload->jobs[i]) && at_ns > last_ns)
            last_ns = at_ns;
    }
    return last_ns + 1;
}

size_t sim_trace_days(const struct sim_workload *workload)
{
    return (size_t)((span_of(workload) - 1) / day_ns) + 1;
}

static double uniform(const struct making *making, uint64_t item, uint32_t copy)
{
    struct sim_stream numbers;
    sim_stream_open(&numbers, making->random, SIM_DRAW_TRACE,
                    (struct sim_stream_key){ .item = item, .attempt = copy });
    return sim_stream_uniform(&numbers);
}

static weir_status add(struct making *making, struct sim_trace_row row)
{
    if (making->count == making->capacity) {
        const size_t wanted = 2 * making->capacity + 1024;
        struct sim_trace_row *grown = reallocarray(making->rows, wanted, sizeof *grown);
        if (grown == NULL)
            return WEIR_ENOMEM;
        making->rows = grown;
        making->capacity = wanted;
    }
    making->rows[making->count++] = row;
    return WEIR_OK;
}

/* ---- days ---- */

/* The day of the trace that stands for a day of the run. */
static int64_t drawn_day(const struct making *making, size_t day)
{
    const double point = uniform(making, day, 0);
    if (making->days < (size_t)2 * WEEK)
        return (int64_t)(point * (double)making->days);
    const size_t first = day % WEEK;
    const size_t same = (making->days - first + WEEK - 1) / WEEK;
    return (int64_t)(first + WEEK * (size_t)(point * (double)same));
}

/* Rows of a drawn day are copies of their own: the same row may come on several days. */
static weir_status add_days(struct making *making)
{
    const struct sim_workload *workload = making->workload;
    for (size_t day = 0; day < making->days; day++) {
        const int64_t from_ns = drawn_day(making, day) * day_ns;
        for (size_t i = 0; i < workload->jobs_count; i++) {
            const int64_t at_ns = sim_trace_row_ns(workload, (uint32_t)i);
            if (!is_row(&workload->jobs[i]) || at_ns < from_ns || at_ns >= from_ns + day_ns)
                continue;
            WEIR_TRY(add(making, (struct sim_trace_row){ at_ns - from_ns + (int64_t)day * day_ns,
                                                         (uint32_t)i, (uint32_t)day + 1 }));
        }
    }
    return WEIR_OK;
}

static weir_status add_rows(struct making *making)
{
    for (size_t i = 0; i < making->workload->jobs_count; i++)
        if (is_row(&making->workload->jobs[i]))
            WEIR_TRY(
                add(making, (struct sim_trace_row){ sim_trace_row_ns(making->workload, (uint32_t)i),
                                                    (uint32_t)i, 0 }));
    return WEIR_OK;
}

/* ---- copies ---- */

/* How far the k-th copy is moved, and round what. */
static int64_t shift_of(const struct making *making, uint32_t k, int64_t *round_ns)
{
    const double point = uniform(making, UINT64_MAX, k);
    const bool has_weeks = making->days >= (size_t)2 * WEEK;
    const int64_t unit_ns = has_weeks ? WEEK * day_ns : day_ns;
    *round_ns = making->days < 2 ? making->span_ns : (int64_t)making->days * day_ns;
    if (making->days < 2)
        return (int64_t)(point * (double)making->span_ns);
    const double units = floor((double)*round_ns / (double)unit_ns);
    return unit_ns * (1 + (int64_t)(point * (units - 1)));
}

/* The rows so far become the thinned trace, copies follow them. */
static weir_status scale(struct making *making)
{
    const double wanted = making->workload->arrivals.scale;
    const size_t own = making->count;
    const uint32_t stride = (uint32_t)making->days + 1; /* copies that days make */
    size_t kept = 0;
    for (uint32_t k = 1; (double)k < wanted; k++) {
        int64_t round_ns = 0;
        const int64_t shift_ns = shift_of(making, k, &round_ns);
        for (size_t i = 0; i < own; i++) {
            struct sim_trace_row row = making->rows[i];
            if (uniform(making, row.spec, row.copy + k * stride) >= wanted - k)
                continue;
            row.at_ns = (row.at_ns + shift_ns) % round_ns;
            row.copy += k * stride;
            WEIR_TRY(add(making, row));
        }
    }
    for (size_t i = 0; i < making->count; i++) {
        const struct sim_trace_row row = making->rows[i];
        if (i >= own || wanted >= 1 || uniform(making, row.spec, row.copy) < wanted)
            making->rows[kept++] = row;
    }
    making->count = kept;
    return WEIR_OK;
}

/* ---- order ---- */

static int compare(double a, double b)
{
    return (a > b) - (a < b);
}

static int by_tie(const struct sim_job_spec *a, const struct sim_job_spec *b, uint32_t ties)
{
    const int by_run = (a->run_ns > b->run_ns) - (a->run_ns < b->run_ns);
    const int by_gpus = compare(sim_job_gpus(a), sim_job_gpus(b));
    if (ties == SIM_TIES_AS_GIVEN)
        return 0;
    if (ties == SIM_TIES_SHORTEST)
        return by_run != 0 ? by_run : by_gpus;
    return by_gpus != 0 ? by_gpus : by_run;
}

/* By time; within an instant as the rows stand, or as `ties` says. */
static int by_arrival(const void *left, const void *right, void *state)
{
    const struct sim_workload *workload = state;
    const struct sim_trace_row *a = left;
    const struct sim_trace_row *b = right;
    if (a->at_ns != b->at_ns)
        return a->at_ns < b->at_ns ? -1 : 1;
    const int tie = by_tie(&workload->jobs[a->spec], &workload->jobs[b->spec], workload->ties);
    if (tie != 0)
        return tie;
    if (a->copy != b->copy)
        return a->copy < b->copy ? -1 : 1;
    return a->spec < b->spec ? -1 : 1;
}

weir_status sim_trace_rows_make(const struct sim_workload *workload,
                                const struct sim_random *random, struct sim_trace_row **rows,
                                size_t *count)
{
    struct making making = { .workload = workload,
                             .random = random,
                             .days = sim_trace_days(workload),
                             .span_ns = span_of(workload) };
    const double wanted = workload->arrivals.scale;
    weir_status status =
        workload->arrivals.resample == SIM_RESAMPLE_DAYS ? add_days(&making) : add_rows(&making);
    if (status == WEIR_OK && (wanted < 1 || wanted > 1))
        status = scale(&making);
    if (status == WEIR_OK)
        status = add(&making, (struct sim_trace_row){ 0 }); /* there is an array in any case */
    if (status != WEIR_OK) {
        free(making.rows);
        return status;
    }
    union {
        const struct sim_workload *read;
        void *state;
    } const sorted = { .read = workload };
    qsort_r(making.rows, making.count - 1, sizeof *making.rows, by_arrival, sorted.state);
    *rows = making.rows;
    *count = making.count - 1;
    return WEIR_OK;
}
