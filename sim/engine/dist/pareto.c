/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pareto(min, alpha): P(X > x) = (min / x)^alpha, with infinite mean for alpha <= 1 and infinite
 * variance for alpha <= 2. pareto(min, alpha, max) is the same law given X <= max.
 */
#include "sim/engine/dist/registry.h"

#include <math.h>

enum { MIN, ALPHA, MAX };
enum { LOG_RANGE, MASS }; /* ln(max / min) and P(X <= max) of the unbounded law */

static bool is_bounded(const struct sim_law *law)
{
    return !isnan(law->parameter[MAX]);
}

static weir_status check(struct sim_law *law, struct weir_error *error)
{
    if (!is_bounded(law))
        return WEIR_OK;
    if (!(law->parameter[MAX] > law->parameter[MIN]))
        return weir_fail(error, WEIR_EINVAL, "max must be > min = %g, got %g", law->parameter[MIN],
                         law->parameter[MAX]);
    law->derived[LOG_RANGE] = log(law->parameter[MAX] / law->parameter[MIN]);
    law->derived[MASS] = -expm1(-law->parameter[ALPHA] * law->derived[LOG_RANGE]);
    return WEIR_OK;
}

static double draw(const struct sim_law *law, struct sim_stream *stream)
{
    const double alpha = law->parameter[ALPHA];
    if (!is_bounded(law))
        return law->parameter[MIN] * exp(sim_stream_exponential(stream) / alpha);
    const double below = sim_stream_uniform(stream) * law->derived[MASS];
    return fmin(law->parameter[MAX], law->parameter[MIN] * exp(-log1p(-below) / alpha));
}

static double raw_moment(const struct sim_law *law, double order)
{
    const double alpha = law->parameter[ALPHA];
    const double unit = alpha * pow(law->parameter[MIN], order);
    if (!is_bounded(law))
        return order < alpha ? unit / (alpha - order) : (double)INFINITY;
    const double excess = order - alpha;
    const double range = law->derived[LOG_RANGE];
    /* expm1(e r) / e tends to r; the series' next term is far below a rounding error there. */
    const double integral = fabs(excess * range) < 1e-12 ? range : expm1(excess * range) / excess;
    return unit * integral / law->derived[MASS];
}

static double mean(const struct sim_law *law)
{
    return raw_moment(law, 1.0);
}

static double variance(const struct sim_law *law)
{
    const double first = raw_moment(law, 1.0);
    const double second = raw_moment(law, 2.0);
    return isinf(second) ? (double)INFINITY : fmax(0.0, second - first * first);
}

static double cdf(const struct sim_law *law, double x)
{
    if (x < law->parameter[MIN])
        return 0.0;
    const double mass = -expm1(-law->parameter[ALPHA] * log(x / law->parameter[MIN]));
    if (!is_bounded(law))
        return mass;
    return x < law->parameter[MAX] ? mass / law->derived[MASS] : 1.0;
}

const struct sim_distribution sim_distribution_pareto = {
    .name = "pareto",
    .summary = "heavy tail, with or without a largest value",
    .parameters = { SIM_LAW_QUANTITY("min"),
                    { .name = "alpha", .min = 0.1, .max = 1000 },
                    { .name = "max",
                      .min = SIM_LAW_POSITIVE,
                      .max = SIM_LAW_LARGEST,
                      .is_quantity = true,
                      .is_optional = true } },
    .parameter_count = 3,
    .check = check,
    .draw = draw,
    .mean = mean,
    .variance = variance,
    .cdf = cdf,
};
