/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A gauge: a step function of time with its exact integral.
 *
 * Updates cost one multiply-add and no event; means over any interval are differences of two
 * integrals. Values are amounts (workers, items, GPUs), time is nanoseconds.
 */
#ifndef SIM_RECORD_GAUGE_H
#define SIM_RECORD_GAUGE_H

#include <stdint.h>

struct sim_gauge {
    double value;
    double integral; /* value * ns since the start */
    int64_t since_ns;
};

static inline void sim_gauge_add(struct sim_gauge *gauge, int64_t now_ns, double change)
{
    gauge->integral += gauge->value * (double)(now_ns - gauge->since_ns);
    gauge->since_ns = now_ns;
    gauge->value += change;
}

static inline void sim_gauge_set(struct sim_gauge *gauge, int64_t now_ns, double value)
{
    sim_gauge_add(gauge, now_ns, value - gauge->value);
}

/* The integral up to `now_ns`, in value * ns. */
static inline double sim_gauge_integral(const struct sim_gauge *gauge, int64_t now_ns)
{
    return gauge->integral + gauge->value * (double)(now_ns - gauge->since_ns);
}

#endif
