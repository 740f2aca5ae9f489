/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Arrival processes: when the n-th arrival comes, given when the one before it came.
 *
 * Renewal processes draw a gap. Those whose rate changes with time, rate * shape(t), turn one
 * exponential draw into time by inverting the integral of the rate, so each arrival costs one draw
 * and thinning is not needed. Draws belong to the arrival: the n-th gap is the same under every
 * policy.
 *
 *   hyperexponential  two exponential branches with balanced means and the variation asked for
 *   modulated         two-state Markov-modulated Poisson; a burst lasts exp(dwell) on average, a
 *                     lull dwell * (1 - share) / share; the rate of a lull keeps the mean
 *   diurnal           rate * (1 + amplitude * cos(2 pi (t - peak) / period))
 *
 * A draw is *due time*: time at the mean rate. Where others change the rate while it runs out (the
 * timeline), they ask how long the due time lasts from where the process stands, and how much of it
 * a span takes; bursts and days stay where they are on the clock.
 */
#ifndef SIM_SCENARIO_WORKLOAD_ARRIVAL_PROCESS_H
#define SIM_SCENARIO_WORKLOAD_ARRIVAL_PROCESS_H

#include "sim/engine/random.h"
#include "sim/scenario/scenario.h"

struct sim_arrival_process {
    const struct sim_arrivals *spec;
    struct sim_random random;
    enum sim_purpose purpose; /* of its draws */
    double rate_per_s;        /* of instants at which something arrives */
    double mean_factor;       /* gaps x this, in this replication */
    double time_s;            /* where it stands: at the latest arrival, or moved on from there */
    uint64_t count;           /* names the draws of the next arrival */
    uint64_t phase;           /* modulated: bursts and lulls so far; odd ones are bursts */
    double phase_end_s;
};

void sim_arrival_process_open(struct sim_arrival_process *process, const struct sim_arrivals *spec,
                              const struct sim_random *random, enum sim_purpose purpose);
/* The time of the next arrival, in seconds, to which it moves; +inf when there are none any more:
 * of a trace, whose times others know. */
double sim_arrival_process_next(struct sim_arrival_process *process);
/* How many come with the latest arrival. */
uint64_t sim_arrival_process_batch(const struct sim_arrival_process *process);

/* ---- where the rate is changed from outside ---- */

/* Draws the due time until the next arrival, in seconds. */
double sim_arrival_process_draw(struct sim_arrival_process *process);
/* Moves on to a later time. */
void sim_arrival_process_move(struct sim_arrival_process *process, double time_s);
/* How long `due_ns` last from where it stands when its rate is `factor` (> 0) times its own. */
double sim_arrival_process_lasts_ns(const struct sim_arrival_process *process, double due_ns,
                                    double factor);
/* How much due time a span from where it stands takes, at its own rate. */
double sim_arrival_process_takes_ns(const struct sim_arrival_process *process, double span_ns);
/* Both in seconds. */
double sim_arrival_process_lasts(const struct sim_arrival_process *process, double due_s,
                                 double factor);
double sim_arrival_process_takes(const struct sim_arrival_process *process, double span_s);

#endif
