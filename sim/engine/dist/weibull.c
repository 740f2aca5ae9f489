/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weibull(scale, shape): time to failure; shape < 1 early failures, 1 exponential, > 1 wear.
 * Drawn as scale E^(1 / shape) with an exponential E.
 */
#include "sim/engine/dist/registry.h"

#include <math.h>

enum { SCALE, SHAPE };

static double draw(const struct sim_law *law, struct sim_stream *stream)
{
    return law->parameter[SCALE] * pow(sim_stream_exponential(stream), 1.0 / law->parameter[SHAPE]);
}

static double raw_moment(const struct sim_law *law, double order)
{
    return pow(law->parameter[SCALE], order) * tgamma(1.0 + order / law->parameter[SHAPE]);
}

static double mean(const struct sim_law *law)
{
    return raw_moment(law, 1.0);
}

static double variance(const struct sim_law *law)
{
    const double first = raw_moment(law, 1.0);
    return fmax(0.0, raw_moment(law, 2.0) - first * first);
}

static double cdf(const struct sim_law *law, double x)
{
    return x > 0.0 ? -expm1(-pow(x / law->parameter[SCALE], law->parameter[SHAPE])) : 0.0;
}

const struct sim_distribution sim_distribution_weibull = {
    .name = "weibull",
    .summary = "times to failure: early (shape < 1) or by wear (shape > 1)",
    .parameters = { SIM_LAW_QUANTITY("scale"), { .name = "shape", .min = 0.05, .max = 1000 } },
    .parameter_count = 2,
    .draw = draw,
    .mean = mean,
    .variance = variance,
    .cdf = cdf,
};
