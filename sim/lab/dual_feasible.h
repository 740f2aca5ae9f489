/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Dual feasible functions: they stretch sizes so that what fits still fits.
 *
 * A function f from [0, 1] to [0, 1] is dual feasible when the sum of f over any sizes that add up
 * to at most 1 is itself at most 1. So for bins of size 1 the constraint "sum of f(size) <= bins"
 * holds for every real packing, and it says more than "sum of sizes <= bins" where items do not
 * divide: six tenths three times need three bins, not 1.8. Two families of Fekete and Schepers
 * (Math. Programming 91, 2001): steps u(k) and thresholds U(e).
 *
 * Sizes are integers, so that 1/3 of 9 is exactly 1/3.
 */
#ifndef SIM_LAB_DUAL_FEASIBLE_H
#define SIM_LAB_DUAL_FEASIBLE_H

#include <stdint.h>

struct sim_stretch {
    int64_t steps;     /* k >= 1: x when (k + 1) x is whole, else floor((k + 1) x) / k; 0 = not */
    int64_t threshold; /* e in (0, whole/2]: 1 above whole - e, 0 below e, else x; 0 = not */
};

/* f(size / whole), 0 <= size <= whole; with neither member set, size / whole itself. */
double sim_stretched(struct sim_stretch stretch, int64_t size, int64_t whole);

#endif
