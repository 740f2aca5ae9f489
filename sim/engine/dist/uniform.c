/* SPDX-License-Identifier: GPL-3.0-or-later */
/* uniform(lo, hi): every value from lo to hi alike; lo = hi is a constant. */
#include "sim/engine/dist/registry.h"

enum { LO, HI };

static weir_status check(struct sim_law *law, struct weir_error *error)
{
    if (law->parameter[HI] < law->parameter[LO])
        return weir_fail(error, WEIR_EINVAL, "hi must be >= lo = %g, got %g", law->parameter[LO],
                         law->parameter[HI]);
    return WEIR_OK;
}

static double draw(const struct sim_law *law, struct sim_stream *stream)
{
    const double width = law->parameter[HI] - law->parameter[LO];
    return law->parameter[LO] + width * sim_stream_uniform(stream);
}

static double mean(const struct sim_law *law)
{
    return law->parameter[LO] + (law->parameter[HI] - law->parameter[LO]) / 2.0;
}

static double variance(const struct sim_law *law)
{
    const double width = law->parameter[HI] - law->parameter[LO];
    return width * width / 12.0;
}

static double cdf(const struct sim_law *law, double x)
{
    if (x < law->parameter[LO])
        return 0.0;
    if (!(x < law->parameter[HI]))
        return 1.0;
    return (x - law->parameter[LO]) / (law->parameter[HI] - law->parameter[LO]);
}

const struct sim_distribution sim_distribution_uniform = {
    .name = "uniform",
    .summary = "every value of an interval alike",
    .parameters = { { .name = "lo", .min = 0, .max = SIM_LAW_LARGEST, .is_quantity = true },
                    { .name = "hi", .min = 0, .max = SIM_LAW_LARGEST, .is_quantity = true } },
    .parameter_count = 2,
    .check = check,
    .draw = draw,
    .mean = mean,
    .variance = variance,
    .cdf = cdf,
};
