/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The slowest of the ranks of a step.
 *
 * A rank takes slow x X for a step, X lognormal with mean 1 and the standard deviation `spread` of
 * its logarithm, independent of the other ranks and of other steps. A step takes as long as the
 * slowest of them, Z = max slow_i X_i, whose distribution function is the product of those of the
 * ranks; of n equal ranks Z = F^-1(U^(1/n)) with U uniform (David and Nagaraja, Order
 * Statistics, 2.1).
 */
#ifndef SIM_JOBS_SLOWEST_H
#define SIM_JOBS_SLOWEST_H

#include "sim/engine/random.h"

#include <stdint.h>

/* Ranks that are equally fast. */
struct sim_equal_ranks {
    uint32_t count;
    double slow; /* > 0, finite */
};

/* The mean of Z, to about 1e-6; with spread 0 the largest `slow`. At least one rank in each. */
double sim_slowest_mean(const struct sim_equal_ranks *groups, uint32_t count, double spread);

/* Z of `ranks` with slow = 1, drawn. */
double sim_slowest_draw(struct sim_stream *stream, uint32_t ranks, double spread);

/* The average Z of so many steps over its mean (that of sim_slowest_mean), drawn. The mean of it is
 * 1 and its variance that of Z over the square of the mean and the steps; of more than 64 steps the
 * shape of its distribution is that of 64. */
double sim_slowest_luck(struct sim_stream *stream, uint32_t ranks, double spread, double mean,
                        double steps);

#endif
