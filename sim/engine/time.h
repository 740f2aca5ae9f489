/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Simulated time: int64_t nanoseconds since the start of the run (292 years).
 *
 * Integers make ties exact and the same on every machine; a double second is converted once, at
 * the border, and rounded to the nearest nanosecond.
 */
#ifndef SIM_ENGINE_TIME_H
#define SIM_ENGINE_TIME_H

#include <stdint.h>

#define SIM_NS_PER_S INT64_C(1000000000)
#define SIM_TIME_MAX INT64_MAX

/* Seconds to nanoseconds, nearest, halves away from 0; SIM_TIME_MAX for what does not fit (and for
 * NaN). As llround, which is a call: what is cut off is exact. */
static inline int64_t sim_time_from_s(double seconds)
{
    const double ns = seconds * 1e9;
    if (!(seconds > -9.2e9 && seconds < 9.2e9))
        return seconds < 0 ? -SIM_TIME_MAX : SIM_TIME_MAX;
    const int64_t whole = (int64_t)ns;
    const double rest = ns - (double)whole;
    return whole + (rest >= 0.5) - (rest <= -0.5);
}

/* A division: 1e-9 is no double, a product with it would make 469961 s 469961.00000000006 s. */
static inline double sim_time_s(int64_t time_ns)
{
    return (double)time_ns / 1e9;
}

#endif
