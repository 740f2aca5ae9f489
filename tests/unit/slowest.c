/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The slowest of the ranks of a step: means against numbers of another quadrature (200 000 points),
 * draws against these means. Draws are of fixed seeds; bounds are five standard errors.
 */
#include "sim/jobs/slowest.h"

#include "tests/support/check.h"

#include <math.h>

/* covers: S1.19 S1.55 */
static void the_mean_is_that_of_the_law(void)
{
    static const struct {
        struct sim_equal_ranks groups[2];
        uint32_t count;
        double spread, mean;
    } cases[] = {
        { { { 1, 1 } }, 1, 0.3, 1 },
        { { { 8, 1 } }, 1, 0.1, 1.149398773 },
        { { { 64, 1 } }, 1, 0.1, 1.259104017 },
        { { { 256, 1 } }, 1, 0.3, 2.248302503 },
        { { { 100000, 1 } }, 1, 0.3, 3.574076963 },
        { { { 2, 1 } }, 1, 1, 1.520499878 }, /* 2 Phi(1 / sqrt 2) */
        { { { 63, 1 }, { 1, 1.5 } }, 2, 0.1, 1.503728480 },
        { { { 32, 2 }, { 32, 2 } }, 2, 0.1, 2 * 1.259104017 },
        { { { 64, 1 }, { 1, 3 } }, 2, 0, 3 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        CHECK_NEAR(sim_slowest_mean(cases[i].groups, cases[i].count, cases[i].spread),
                   cases[i].mean, 1e-6 * cases[i].mean);
    /* as published: 2.243 */
    CHECK_NEAR(sim_slowest_mean(cases[3].groups, 1, 0.3), 2.243, 0.02 * 2.243);
}

static struct sim_stream stream_of(uint64_t item)
{
    const struct sim_random random = { .seed = 7 };
    struct sim_stream stream;
    sim_stream_open(&stream, &random, SIM_DRAW_TEST, (struct sim_stream_key){ .item = item });
    return stream;
}

struct moments {
    double mean, variance, least;
};

static struct moments of_draws(uint32_t ranks, double spread, double steps, int count)
{
    const struct sim_equal_ranks all = { ranks, 1 };
    const double mean = sim_slowest_mean(&all, 1, spread);
    struct moments found = { .least = (double)INFINITY };
    double squares = 0;
    for (int i = 0; i < count; i++) {
        struct sim_stream stream = stream_of((uint64_t)i);
        const double value = isnan(steps) ? sim_slowest_draw(&stream, ranks, spread)
                                          : sim_slowest_luck(&stream, ranks, spread, mean, steps);
        found.mean += value / count;
        squares += value * value / count;
        found.least = fmin(found.least, value);
    }
    found.variance = squares - found.mean * found.mean;
    return found;
}

/* covers: S1.19 S1.55 */
static void draws_have_that_mean(void)
{
    static const struct {
        uint32_t ranks;
        double spread;
    } cases[] = { { 1, 0.3 }, { 64, 0.1 }, { 256, 0.3 }, { 100000, 0.3 } };
    enum { DRAWS = 20000 };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct sim_equal_ranks all = { cases[i].ranks, 1 };
        const double mean = sim_slowest_mean(&all, 1, cases[i].spread);
        const struct moments found = of_draws(cases[i].ranks, cases[i].spread, (double)NAN, DRAWS);
        CHECK_NEAR(found.mean, mean, 5 * sqrt(found.variance / DRAWS));
        CHECK_NEAR(found.mean, mean, 0.02 * mean);
    }
}

/* Of a single lognormal the variance is e^(s^2) - 1. */
static void luck_evens_out_over_steps(void)
{
    enum { DRAWS = 4000 };
    const double one = exp(0.09) - 1;
    static const double steps[] = { 0.2, 1, 10, 64, 1e4, 1e9 };
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        const struct moments found = of_draws(1, 0.3, steps[i], DRAWS);
        const double variance = one / fmax(1, steps[i]);
        CHECK_NEAR(found.mean, 1, 5 * sqrt(variance / DRAWS));
        CHECK_NEAR(found.variance, variance, 0.15 * variance);
        CHECK(found.least > 0);
    }
}

static const struct test tests[] = {
    { "the mean is that of the law", the_mean_is_that_of_the_law },
    { "draws have that mean", draws_have_that_mean },
    { "luck evens out over steps", luck_evens_out_over_steps },
};
TEST_MAIN(tests)
