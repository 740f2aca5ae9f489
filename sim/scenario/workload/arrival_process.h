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
 */
#ifndef SIM_SCENARIO_WORKLOAD_ARRIVAL_PROCESS_H
#define SIM_SCENARIO_WORKLOAD_ARRIVAL_PROCESS_H

#include "sim/engine/random.h"
#include "sim/scenario/scenario.h"

struct sim_arrival_process {
    const struct sim_arrivals *spec;
    struct sim_random random;
    double rate_per_s; /* of instants at which jobs arrive */
    double time_s;     /* of the latest */
    uint64_t count;
    uint64_t phase; /* modulated: bursts and lulls so far; odd ones are bursts */
    double phase_end_s;
};

void sim_arrival_process_open(struct sim_arrival_process *process, const struct sim_arrivals *spec,
                              const struct sim_random *random);
/* The time of the next arrival, in seconds; +inf when there are none any more. */
double sim_arrival_process_next(struct sim_arrival_process *process);
/* How many jobs the latest arrival brings. */
uint64_t sim_arrival_process_batch(const struct sim_arrival_process *process);

#endif
