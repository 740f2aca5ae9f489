/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The slowest of the ranks of a step; see the header. */
#include "sim/jobs/slowest.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

/* P(Z > e^y): of each rank with the upper tail of the normal, so that it stays exact far out. */
static double exceeds(const struct sim_equal_ranks *groups, uint32_t count, double spread, double y)
{
    double log_below = 0;
    for (uint32_t g = 0; g < count; g++) {
        const double x = (y - log(groups[g].slow)) / spread + spread / 2;
        log_below += groups[g].count * log1p(-erfc(x / sqrt(2)) / 2);
    }
    return -expm1(log_below);
}

/* E Z = e^low + the integral of P(Z > e^y) e^y dy from `low` on, below which no Z is, by the rule
 * of Simpson. Nine deviations on either side of the slowest rank leave out less than 1e-18 n. */
double sim_slowest_mean(const struct sim_equal_ranks *groups, uint32_t count, double spread)
{
    enum { STEPS = 256 };
    double slow = 0;
    for (uint32_t g = 0; g < count; g++)
        slow = fmax(slow, groups[g].slow);
    if (!(spread > 0))
        return slow;
    const double low = log(slow) - spread * (spread / 2 + 9);
    const double step = spread * (18 + spread) / STEPS;
    double sum = 0;
    for (int i = 0; i <= STEPS; i++) {
        const double y = low + i * step;
        const double weight = i == 0 || i == STEPS ? 1 : i % 2 == 1 ? 4 : 2;
        sum += weight * exp(y) * exceeds(groups, count, spread, y);
    }
    return exp(low) + sum * step / 3;
}

double sim_slowest_draw(struct sim_stream *stream, uint32_t ranks, double spread)
{
    const double u = 1 - sim_stream_uniform(stream);     /* in (0, 1] */
    const double above = -expm1(log(u) / (double)ranks); /* 1 - u^(1/n) */
    const double x = gsl_cdf_ugaussian_Qinv(fmin(above, 1 - 1e-16));
    return exp(spread * (x - spread / 2));
}

double sim_slowest_luck(struct sim_stream *stream, uint32_t ranks, double spread, double mean,
                        double steps)
{
    enum { DRAWN = 64 };
    const int count = steps < DRAWN ? (int)fmax(1, round(steps)) : DRAWN;
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += sim_slowest_draw(stream, ranks, spread);
    return 1 + (sum / count / mean - 1) * sqrt(fmin(1, count / steps));
}
