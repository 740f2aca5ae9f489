/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether a run was saturated: the number in the system over the quarters of the run.
 *
 * The end of a run is not known beforehand, so the integral of the number in the system is kept at
 * at most GROWTH_MARKS regular instants whose distance doubles when they run out; between two marks
 * it is taken as linear, which is good to 1/128 of the run.
 */
#include "sim/record/meter/meter_state.h"

static int64_t next_mark_ns(const struct growth *growth)
{
    return (int64_t)growth->count * growth->step_ns;
}

static void widen(struct growth *growth)
{
    for (size_t i = 0; i < GROWTH_MARKS / 2; i++)
        growth->mark[i] = growth->mark[2 * i];
    growth->count = GROWTH_MARKS / 2;
    growth->step_ns *= 2;
}

int64_t sim_meter_growth_mark(struct sim_meter *meter, int64_t now_ns)
{
    struct growth *growth = &meter->growth;
    while (next_mark_ns(growth) <= now_ns) {
        /* The instant that is due stays due: count * step is the same before and after. */
        if (growth->count == GROWTH_MARKS)
            widen(growth);
        const double integral = sim_gauge_integral(&meter->in_system, next_mark_ns(growth));
        growth->mark[growth->count++] = integral;
    }
    return next_mark_ns(growth);
}

/* The integral up to `time_ns`, between two marks or the last mark and the end. */
static double integral_at(const struct sim_meter *meter, int64_t time_ns, int64_t end_ns)
{
    const struct growth *growth = &meter->growth;
    const double end = sim_gauge_integral(&meter->in_system, end_ns);
    const size_t i = (size_t)(time_ns / growth->step_ns);
    if (i >= growth->count)
        return end;
    const int64_t from_ns = (int64_t)i * growth->step_ns;
    const bool is_last = i + 1 == growth->count;
    const int64_t to_ns = is_last ? end_ns : from_ns + growth->step_ns;
    const double to = is_last ? end : growth->mark[i + 1];
    if (to_ns <= from_ns)
        return to;
    const double share = (double)(time_ns - from_ns) / (double)(to_ns - from_ns);
    return growth->mark[i] + share * (to - growth->mark[i]);
}

bool sim_meter_grows(const struct sim_meter *meter, int64_t from_ns, int64_t end_ns)
{
    const int64_t quarter_ns = (end_ns - from_ns) / 4;
    if (quarter_ns <= 0)
        return false;
    const double second = integral_at(meter, from_ns + 2 * quarter_ns, end_ns) -
                          integral_at(meter, from_ns + quarter_ns, end_ns);
    const double last =
        integral_at(meter, end_ns, end_ns) - integral_at(meter, end_ns - quarter_ns, end_ns);
    return last > 10.0 * (double)quarter_ns && last > 1.5 * second;
}
