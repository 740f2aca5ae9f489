/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arrival processes; see the header. */
#include "sim/scenario/workload/arrival_process.h"

#include "sim/engine/law.h"

#include <math.h>

/* What a draw of the process is for: the third part of its stream's name. */
enum { DRAW_GAP, DRAW_BATCH, DRAW_PHASE };

static void open_stream(const struct sim_arrival_process *process, uint64_t item, uint32_t what,
                        struct sim_stream *stream)
{
    sim_stream_open(stream, &process->random, SIM_DRAW_JOB_ARRIVAL,
                    (struct sim_stream_key){ .item = item, .stage = what });
}

/* ---- gaps ---- */

static double poisson(struct sim_arrival_process *process, struct sim_stream *stream)
{
    return sim_stream_exponential(stream) / process->rate_per_s;
}

static double renewal(struct sim_arrival_process *process, struct sim_stream *stream)
{
    return sim_law_draw(process->spec->gap, stream) / process->spec->scale;
}

/* Balanced means: both branches carry the same share of the time. */
static double hyperexponential(struct sim_arrival_process *process, struct sim_stream *stream)
{
    const double square = process->spec->cv * process->spec->cv;
    const double first = 0.5 * (1 + sqrt((square - 1) / (square + 1)));
    const double chance = sim_stream_uniform(stream) < first ? first : 1 - first;
    return sim_stream_exponential(stream) / (2 * chance * process->rate_per_s);
}

/* ---- rates that change ---- */

static double phase_length(const struct sim_arrival_process *process)
{
    const struct sim_arrivals *spec = process->spec;
    const double burst_s = 1e-9 * (double)spec->dwell_ns;
    const double mean_s =
        process->phase % 2 == 1 ? burst_s : burst_s * (1 - spec->burst_share) / spec->burst_share;
    struct sim_stream stream;
    open_stream(process, process->phase, DRAW_PHASE, &stream);
    return mean_s * sim_stream_exponential(&stream);
}

static double phase_rate(const struct sim_arrival_process *process)
{
    const struct sim_arrivals *spec = process->spec;
    if (process->phase % 2 == 1)
        return process->rate_per_s * spec->burst;
    return process->rate_per_s * (1 - spec->burst * spec->burst_share) / (1 - spec->burst_share);
}

/* Spends one unit of exponential work over bursts and lulls. */
static double modulated(struct sim_arrival_process *process, struct sim_stream *stream)
{
    double work = sim_stream_exponential(stream);
    double now_s = process->time_s;
    for (;;) {
        const double rate = fmax(phase_rate(process), 0);
        const double done = (process->phase_end_s - now_s) * rate;
        if (work <= done)
            return now_s + work / rate - process->time_s;
        work -= done;
        now_s = process->phase_end_s;
        process->phase++;
        process->phase_end_s += phase_length(process);
    }
}

/* Integral of the rate over the mean rate, from 0 to `time_s`. */
static double diurnal_integral(const struct sim_arrivals *spec, double time_s)
{
    const double turn = 2 * M_PI / (1e-9 * (double)spec->period_ns);
    const double peak_s = 1e-9 * (double)spec->peak_ns;
    const double swing = spec->amplitude / turn;
    return time_s + swing * (sin(turn * (time_s - peak_s)) + sin(turn * peak_s));
}

/* The integral grows, and differs from the straight line by less than `slack`: bisection. */
static double diurnal(struct sim_arrival_process *process, struct sim_stream *stream)
{
    const struct sim_arrivals *spec = process->spec;
    const double work = sim_stream_exponential(stream) / process->rate_per_s;
    const double wanted = diurnal_integral(spec, process->time_s) + work;
    const double slack = spec->amplitude * 1e-9 * (double)spec->period_ns / M_PI;
    double low = process->time_s;
    double high = process->time_s + work + slack + 1e-9;
    for (int i = 0; i < 100 && high - low > 1e-10; i++) {
        const double middle = (low + high) / 2;
        if (diurnal_integral(spec, middle) < wanted)
            low = middle;
        else
            high = middle;
    }
    return high - process->time_s;
}

/* ---- the registry ---- */

static double (*const gaps[])(struct sim_arrival_process *, struct sim_stream *) = {
    [SIM_ARRIVALS_TRACE] = NULL,          [SIM_ARRIVALS_POISSON] = poisson,
    [SIM_ARRIVALS_RENEWAL] = renewal,     [SIM_ARRIVALS_HYPEREXPONENTIAL] = hyperexponential,
    [SIM_ARRIVALS_MODULATED] = modulated, [SIM_ARRIVALS_DIURNAL] = diurnal,
};

/* In the long run a share `burst_share` of the time is burst: the start is drawn from that. */
static void begin_phases(struct sim_arrival_process *process)
{
    struct sim_stream stream;
    open_stream(process, UINT64_MAX, DRAW_PHASE, &stream);
    process->phase = sim_stream_uniform(&stream) < process->spec->burst_share ? 1 : 0;
    process->phase_end_s = phase_length(process);
}

void sim_arrival_process_open(struct sim_arrival_process *process, const struct sim_arrivals *spec,
                              const struct sim_random *random)
{
    *process = (struct sim_arrival_process){ .spec = spec,
                                             .random = *random,
                                             .rate_per_s = spec->rate_per_s / spec->batch_mean };
    if (spec->kind == SIM_ARRIVALS_MODULATED)
        begin_phases(process);
}

double sim_arrival_process_next(struct sim_arrival_process *process)
{
    struct sim_stream stream;
    if (gaps[process->spec->kind] == NULL)
        return HUGE_VAL;
    open_stream(process, process->count++, DRAW_GAP, &stream);
    process->time_s += gaps[process->spec->kind](process, &stream);
    return process->time_s;
}

uint64_t sim_arrival_process_batch(const struct sim_arrival_process *process)
{
    struct sim_stream stream;
    open_stream(process, process->count, DRAW_BATCH, &stream);
    const double size = round(sim_law_draw(process->spec->batch, &stream));
    return size < 1 ? 1 : (uint64_t)size;
}
