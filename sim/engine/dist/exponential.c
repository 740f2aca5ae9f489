/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exp(mean): memoryless. Drawn by the ziggurat of the engine. */
#include "sim/engine/dist/registry.h"

#include <math.h>

static double draw(const struct sim_law *law, struct sim_stream *stream)
{
    return law->parameter[0] * sim_stream_exponential(stream);
}

static double variance(const struct sim_law *law)
{
    return law->parameter[0] * law->parameter[0];
}

static double cdf(const struct sim_law *law, double x)
{
    return x > 0.0 ? -expm1(-x / law->parameter[0]) : 0.0;
}

const struct sim_distribution sim_distribution_exponential = {
    .name = "exp",
    .summary = "exponential, memoryless",
    .parameters = { SIM_LAW_QUANTITY("mean") },
    .parameter_count = 1,
    .draw = draw,
    .variance = variance,
    .cdf = cdf,
};
