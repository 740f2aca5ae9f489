/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gamma(mean, cv): shape 1 / cv^2, scale mean cv^2 (Erlang-k at cv = 1 / sqrt k). Below cv 1e-6 it
 * is a constant: the spread is under the nanosecond of any time it could stand for.
 */
#include "sim/engine/dist/registry.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <math.h>

enum { MEAN, CV };
enum { SHAPE, SCALE };

static const double CONSTANT_BELOW_CV = 1e-6;
static const double LARGE_SHAPE = 1e5;
static const double TAIL_EXPONENT = 700.0; /* exp(-700) = 1e-304 */

static bool is_constant(const struct sim_law *law)
{
    return law->parameter[CV] < CONSTANT_BELOW_CV;
}

static weir_status check(struct sim_law *law, struct weir_error *error)
{
    (void)error;
    if (is_constant(law))
        return WEIR_OK;
    const double cv_squared = law->parameter[CV] * law->parameter[CV];
    law->derived[SHAPE] = 1.0 / cv_squared;
    law->derived[SCALE] = law->parameter[MEAN] * cv_squared;
    return WEIR_OK;
}

static double draw(const struct sim_law *law, struct sim_stream *stream)
{
    if (is_constant(law))
        return law->parameter[MEAN];
    const gsl_rng view = sim_stream_gsl(stream);
    return gsl_ran_gamma(&view, law->derived[SHAPE], law->derived[SCALE]);
}

static double variance(const struct sim_law *law)
{
    const double sd = law->parameter[MEAN] * law->parameter[CV];
    return is_constant(law) ? 0.0 : sd * sd;
}

/* gsl_cdf_gamma_P calls GSL's error handler, which aborts, where its series do not converge: far
 * out in a tail, and around the mean of a shape of a million. The tails are cut by Chernoff's
 * bound, the large shapes take the cube-root normal of Wilson and Hilferty (1931; off by less than
 * 1e-6 there). */
static double cdf(const struct sim_law *law, double x)
{
    if (is_constant(law))
        return x < law->parameter[MEAN] ? 0.0 : 1.0;
    if (!(x > 0.0))
        return 0.0;
    const double shape = law->derived[SHAPE];
    const double ratio = x / law->parameter[MEAN];
    if (shape * (ratio - 1.0 - log(ratio)) > TAIL_EXPONENT)
        return ratio > 1.0 ? 1.0 : 0.0;
    if (shape < LARGE_SHAPE)
        return gsl_cdf_gamma_P(x, shape, law->derived[SCALE]);
    const double spread = 1.0 / (9.0 * shape);
    return gsl_cdf_ugaussian_P((cbrt(ratio) - (1.0 - spread)) / sqrt(spread));
}

const struct sim_distribution sim_distribution_gamma = {
    .name = "gamma",
    .summary = "sums of exponentials (cv < 1) or bursts (cv > 1)",
    .parameters = { SIM_LAW_QUANTITY("mean"), { .name = "cv", .min = 0, .max = 100 } },
    .parameter_count = 2,
    .check = check,
    .draw = draw,
    .variance = variance,
    .cdf = cdf,
};
