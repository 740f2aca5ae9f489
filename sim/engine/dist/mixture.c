/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mixture(w1: law1, w2: law2, ...): one of several laws, chosen with its weight. Choice and value
 * come from the same stream. Weights are cumulative, the last is 1.
 */
#include "sim/engine/dist/registry.h"

#include <math.h>

static double part_weight(const struct sim_law *law, size_t index)
{
    return law->parts[index].weight - (index > 0 ? law->parts[index - 1].weight : 0.0);
}

static double draw(const struct sim_law *law, struct sim_stream *stream)
{
    const double choice = sim_stream_uniform(stream);
    size_t index = 0;
    while (index + 1 < law->part_count && choice >= law->parts[index].weight)
        index++;
    return sim_law_draw(law->parts[index].law, stream);
}

static double mean(const struct sim_law *law)
{
    double sum = 0.0;
    for (size_t i = 0; i < law->part_count; i++)
        sum += part_weight(law, i) * sim_law_mean(law->parts[i].law);
    return sum;
}

/* Within the parts plus between them. */
static double variance(const struct sim_law *law)
{
    const double centre = mean(law);
    if (isinf(centre))
        return (double)INFINITY;
    double sum = 0.0;
    for (size_t i = 0; i < law->part_count; i++) {
        const double offset = sim_law_mean(law->parts[i].law) - centre;
        sum += part_weight(law, i) * (sim_law_variance(law->parts[i].law) + offset * offset);
    }
    return sum;
}

static double cdf(const struct sim_law *law, double x)
{
    double sum = 0.0;
    for (size_t i = 0; i < law->part_count; i++)
        sum += part_weight(law, i) * sim_law_cdf(law->parts[i].law, x);
    return fmin(1.0, sum);
}

const struct sim_distribution sim_distribution_mixture = {
    .name = "mixture",
    .summary = "one of several laws, by weight",
    .draw = draw,
    .mean = mean,
    .variance = variance,
    .cdf = cdf,
};
