/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arrival processes; see the header. */
#include "sim/scenario/workload/arrival_process.h"

#include "sim/engine/law.h"
#include "sim/engine/time.h"

#include <math.h>

/* What a draw of the process is for: the third part of its stream's name. */
enum { DRAW_GAP, DRAW_BATCH, DRAW_PHASE };

static void open_stream(const struct sim_arrival_process *process, uint64_t item, uint32_t what,
                        struct sim_stream *stream)
{
    sim_stream_open(stream, &process->random, process->purpose,
                    (struct sim_stream_key){ .item = item, .stage = what });
}

/* ---- due times, in seconds ---- */

static double poisson(const struct sim_arrival_process *process, struct sim_stream *stream)
{
    return sim_stream_exponential(stream) / process->rate_per_s;
}

static double renewal(const struct sim_arrival_process *process, struct sim_stream *stream)
{
    return sim_law_draw(process->spec->gap, stream) / process->spec->scale;
}

/* Balanced means: both branches carry the same share of the time. */
static double hyperexponential(const struct sim_arrival_process *process, struct sim_stream *stream)
{
    const double square = process->spec->cv * process->spec->cv;
    const double first = 0.5 * (1 + sqrt((square - 1) / (square + 1)));
    const double chance = sim_stream_uniform(stream) < first ? first : 1 - first;
    return sim_stream_exponential(stream) / (2 * chance * process->rate_per_s);
}

/* ---- rates that do not change ---- */

static double steady_lasts(const struct sim_arrival_process *process, double due, double factor)
{
    (void)process;
    return due / factor;
}

static double steady_takes(const struct sim_arrival_process *process, double span)
{
    (void)process;
    return span;
}

/* ---- bursts and lulls ---- */

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
    return fmax(
        process->rate_per_s * (1 - spec->burst * spec->burst_share) / (1 - spec->burst_share), 0);
}

static void next_phase(struct sim_arrival_process *process)
{
    process->time_s = process->phase_end_s;
    process->phase++;
    process->phase_end_s += phase_length(process);
}

/* Spends one unit of exponential work over bursts and lulls. */
static double phases_last(const struct sim_arrival_process *process, double due_s, double factor)
{
    struct sim_arrival_process ahead = *process;
    double work = due_s * process->rate_per_s;
    for (;;) {
        const double rate = phase_rate(&ahead) * factor;
        const double done = (ahead.phase_end_s - ahead.time_s) * rate;
        if (work <= done)
            return ahead.time_s + work / rate - process->time_s;
        work -= done;
        next_phase(&ahead);
    }
}

static double phases_take(const struct sim_arrival_process *process, double span_s)
{
    struct sim_arrival_process ahead = *process;
    const double end_s = process->time_s + span_s;
    double work = 0;
    for (; ahead.phase_end_s < end_s; next_phase(&ahead))
        work += (ahead.phase_end_s - ahead.time_s) * phase_rate(&ahead);
    return (work + (end_s - ahead.time_s) * phase_rate(&ahead)) / process->rate_per_s;
}

/* ---- days ---- */

/* Integral of the rate over the mean rate, from 0 to `time_s`. */
static double diurnal_integral(const struct sim_arrivals *spec, double time_s)
{
    const double turn = 2 * M_PI / (1e-9 * (double)spec->period_ns);
    const double peak_s = 1e-9 * (double)spec->peak_ns;
    const double swing = spec->amplitude / turn;
    return time_s + swing * (sin(turn * (time_s - peak_s)) + sin(turn * peak_s));
}

/* The integral grows, and differs from the straight line by less than `slack`: bisection. */
static double day_lasts(const struct sim_arrival_process *process, double due_s, double factor)
{
    const struct sim_arrivals *spec = process->spec;
    const double work = due_s / factor;
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

static double day_takes(const struct sim_arrival_process *process, double span_s)
{
    return diurnal_integral(process->spec, process->time_s + span_s) -
           diurnal_integral(process->spec, process->time_s);
}

/* ---- the registry ---- */

struct kind {
    double (*draw)(const struct sim_arrival_process *, struct sim_stream *); /* NULL = a trace */
    double (*lasts)(const struct sim_arrival_process *, double due, double factor);
    double (*takes)(const struct sim_arrival_process *, double span);
    double unit_ns; /* of due and span */
};

#define STEADY steady_lasts, steady_takes, 1

static const struct kind kinds[] = {
    [SIM_ARRIVALS_TRACE] = { NULL, STEADY },
    [SIM_ARRIVALS_POISSON] = { poisson, STEADY },
    [SIM_ARRIVALS_RENEWAL] = { renewal, STEADY },
    [SIM_ARRIVALS_HYPEREXPONENTIAL] = { hyperexponential, STEADY },
    [SIM_ARRIVALS_MODULATED] = { poisson, phases_last, phases_take, SIM_NS_PER_S },
    [SIM_ARRIVALS_DIURNAL] = { poisson, day_lasts, day_takes, SIM_NS_PER_S },
};

/* In the long run a share `burst_share` of the time is burst: the start is drawn from that. */
static void begin_phases(struct sim_arrival_process *process)
{
    struct sim_stream stream;
    open_stream(process, UINT64_MAX, DRAW_PHASE, &stream);
    process->phase = sim_stream_uniform(&stream) < process->spec->burst_share ? 1 : 0;
    process->phase_end_s = phase_length(process);
}

/* Of its gaps; of a Poisson process, whatever its rate does, 1. */
static double gap_cv(const struct sim_arrivals *spec)
{
    if (spec->kind == SIM_ARRIVALS_RENEWAL)
        return sim_law_cv(spec->gap);
    return spec->kind == SIM_ARRIVALS_HYPEREXPONENTIAL ? spec->cv : 1;
}

void sim_arrival_process_open(struct sim_arrival_process *process, const struct sim_arrivals *spec,
                              const struct sim_random *random, enum sim_purpose purpose)
{
    *process = (struct sim_arrival_process){ .spec = spec,
                                             .random = *random,
                                             .purpose = purpose,
                                             .rate_per_s = spec->rate_per_s / spec->batch_mean,
                                             .mean_factor = 1 };
    if (spec->measurements > 0)
        process->mean_factor = sim_mean_factor(gap_cv(spec), spec->measurements, random,
                                               (struct sim_stream_key){ .item = 0 });
    if (spec->kind == SIM_ARRIVALS_MODULATED)
        begin_phases(process);
}

double sim_arrival_process_draw(struct sim_arrival_process *process)
{
    struct sim_stream stream;
    open_stream(process, process->count++, DRAW_GAP, &stream);
    return kinds[process->spec->kind].draw(process, &stream) * process->mean_factor;
}

void sim_arrival_process_move(struct sim_arrival_process *process, double time_s)
{
    while (process->spec->kind == SIM_ARRIVALS_MODULATED && process->phase_end_s < time_s)
        next_phase(process);
    process->time_s = time_s;
}

double sim_arrival_process_lasts_ns(const struct sim_arrival_process *process, double due_ns,
                                    double factor)
{
    const struct kind *kind = &kinds[process->spec->kind];
    return kind->unit_ns * kind->lasts(process, due_ns / kind->unit_ns, factor);
}

double sim_arrival_process_takes_ns(const struct sim_arrival_process *process, double span_ns)
{
    const struct kind *kind = &kinds[process->spec->kind];
    return kind->unit_ns * kind->takes(process, span_ns / kind->unit_ns);
}

double sim_arrival_process_lasts(const struct sim_arrival_process *process, double due_s,
                                 double factor)
{
    return kinds[process->spec->kind].lasts(process, due_s, factor);
}

double sim_arrival_process_takes(const struct sim_arrival_process *process, double span_s)
{
    return kinds[process->spec->kind].takes(process, span_s);
}

double sim_arrival_process_next(struct sim_arrival_process *process)
{
    if (kinds[process->spec->kind].draw == NULL)
        return HUGE_VAL;
    const double due_s = sim_arrival_process_draw(process);
    sim_arrival_process_move(process,
                             process->time_s + sim_arrival_process_lasts(process, due_s, 1));
    return process->time_s;
}

uint64_t sim_arrival_process_batch(const struct sim_arrival_process *process)
{
    const double size = round(
        sim_law_draw_of(process->spec->batch, &process->random, process->purpose,
                        (struct sim_stream_key){ .item = process->count, .stage = DRAW_BATCH }));
    return size < 1 ? 1 : (uint64_t)size;
}
