/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The registry of distributions and the life of a law after parsing.
 */
#include "sim/engine/law.h"

#include "sim/engine/dist/registry.h"

#include <math.h>
#include <stdlib.h>

static const struct sim_distribution *const DISTRIBUTIONS[] = {
    &sim_distribution_const,   &sim_distribution_exponential, &sim_distribution_lognormal,
    &sim_distribution_gamma,   &sim_distribution_weibull,     &sim_distribution_pareto,
    &sim_distribution_uniform, &sim_distribution_normal,      &sim_distribution_empirical,
    &sim_distribution_mixture,
};

size_t sim_distribution_count(void)
{
    return sizeof DISTRIBUTIONS / sizeof DISTRIBUTIONS[0]; /* NOLINT(bugprone-sizeof-expression) */
}

const struct sim_distribution *sim_distribution_at(size_t index)
{
    return index < sim_distribution_count() ? DISTRIBUTIONS[index] : NULL;
}

double sim_law_draw_of(const struct sim_law *law, const struct sim_random *root,
                       enum sim_purpose purpose, struct sim_stream_key key)
{
    struct sim_stream stream;
    if (law->distribution->is_certain)
        return sim_law_draw(law, NULL);
    sim_stream_open(&stream, root, purpose, key);
    return sim_law_draw(law, &stream);
}

double sim_law_mean(const struct sim_law *law)
{
    return law->distribution->mean != NULL ? law->distribution->mean(law) : law->parameter[0];
}

double sim_law_variance(const struct sim_law *law)
{
    return law->distribution->variance(law);
}

double sim_law_cv(const struct sim_law *law)
{
    const double mean = sim_law_mean(law);
    return mean > 0 ? sqrt(sim_law_variance(law)) / mean : 0;
}

double sim_mean_factor(double cv, uint32_t measurements, const struct sim_random *root,
                       struct sim_stream_key key)
{
    struct sim_stream stream;
    if (measurements == 0 || !(cv > 0))
        return 1;
    const double variance = log1p(cv * cv / (double)measurements);
    sim_stream_open(&stream, root, SIM_DRAW_MEAN, key);
    return exp(sqrt(variance) * sim_stream_normal(&stream) - variance / 2);
}

double sim_law_cdf(const struct sim_law *law, double x)
{
    return law->distribution->cdf(law, x);
}

/* Recursion is as deep as the text was nested, which the parser limits. */
void sim_law_destroy(struct sim_law *law)
{
    if (!law)
        return;
    for (size_t i = 0; i < law->part_count; i++)
        sim_law_destroy(law->parts[i].law);
    free(law->parts);
    free(law->values);
    free(law->text);
    free(law);
}
