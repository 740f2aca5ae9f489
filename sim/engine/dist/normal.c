/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * normal(mean, sd) cut at 0: max(0, X). The mass below 0 sits at 0, so mean and variance are those
 * of the cut law and differ from the parameters when sd is not small against mean.
 */
#include "sim/engine/dist/registry.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <math.h>

enum { MEAN, SD };

static double draw(const struct sim_law *law, struct sim_stream *stream)
{
    return fmax(0.0, law->parameter[MEAN] + law->parameter[SD] * sim_stream_normal(stream));
}

/* Integrals over x > 0, with a = mean / sd: E X = m P(a) + s p(a), E X^2 = (m^2 + s^2) P(a) +
 * m s p(a). */
static double mean(const struct sim_law *law)
{
    const double m = law->parameter[MEAN];
    const double s = law->parameter[SD];
    if (!(s > 0.0))
        return m;
    return m * gsl_cdf_ugaussian_P(m / s) + s * gsl_ran_ugaussian_pdf(m / s);
}

static double variance(const struct sim_law *law)
{
    const double m = law->parameter[MEAN];
    const double s = law->parameter[SD];
    if (!(s > 0.0))
        return 0.0;
    /* E X^2 - (E X)^2 around m instead of 0, which does not cancel for a large m / s. */
    const double above = gsl_cdf_ugaussian_P(m / s);
    const double shift = mean(law) - m;
    const double around =
        m * m * gsl_cdf_ugaussian_Q(m / s) + s * s * above - m * s * gsl_ran_ugaussian_pdf(m / s);
    return around - shift * shift;
}

static double cdf(const struct sim_law *law, double x)
{
    const double m = law->parameter[MEAN];
    const double s = law->parameter[SD];
    if (x < 0.0)
        return 0.0;
    if (!(s > 0.0))
        return x < m ? 0.0 : 1.0;
    return gsl_cdf_ugaussian_P((x - m) / s);
}

const struct sim_distribution sim_distribution_normal = {
    .name = "normal",
    .summary = "bell curve, values below 0 become 0",
    .parameters = { { .name = "mean", .min = 0, .max = SIM_LAW_LARGEST, .is_quantity = true },
                    { .name = "sd", .min = 0, .max = SIM_LAW_LARGEST, .is_quantity = true } },
    .parameter_count = 2,
    .draw = draw,
    .mean = mean,
    .variance = variance,
    .cdf = cdf,
};
