/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The numbers of streams as samples: along one stream, and across streams that differ in one part
 * of their name (which is how a simulation uses them: one or two numbers from each of many).
 *
 * Seeds are fixed. Chi-square statistics are compared with the quantile at 1e-8, correlations with
 * 6 standard errors (2e-9).
 */
#include "sim/engine/random.h"
#include "tests/support/check.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DRAWS = 200000, BINS = 256 };

static const struct sim_random ROOT = { .seed = 11, .replication = 2 };

enum axis { ALONG, ITEM, STAGE, ATTEMPT, REPLICATION, SEED, PURPOSE, AXES };

static const char *const AXIS_NAMES[AXES] = { "along a stream", "item", "stage",  "attempt",
                                              "replication",    "seed", "purpose" };

/* Number `index` of the sequence that moves along one part of the name. */
static void open_on_axis(struct sim_stream *stream, enum axis axis, uint32_t index)
{
    struct sim_random root = ROOT;
    struct sim_stream_key key = { .item = 1 };
    enum sim_purpose purpose = SIM_DRAW_SERVICE;
    switch (axis) {
    case ALONG:
    case AXES:
        break;
    case ITEM:
        key.item = index;
        break;
    case STAGE:
        key.stage = index;
        break;
    case ATTEMPT:
        key.attempt = index;
        break;
    case REPLICATION:
        root.replication = index;
        break;
    case SEED:
        root.seed = index;
        break;
    case PURPOSE:
        purpose = (enum sim_purpose)(1 + index % 13);
        key.item = index / 13;
        break;
    }
    sim_stream_open(stream, &root, purpose, key);
}

static void fill(enum axis axis, double (*draw)(struct sim_stream *stream), double *sample)
{
    struct sim_stream stream;
    open_on_axis(&stream, ALONG, 0);
    for (uint32_t i = 0; i < DRAWS; i++) {
        if (axis != ALONG)
            open_on_axis(&stream, axis, i);
        sample[i] = draw(&stream);
    }
}

static void check_chi_square(const double *counts, size_t bins, double expected, const char *what)
{
    double sum = 0.0;
    for (size_t i = 0; i < bins; i++)
        sum += (counts[i] - expected) * (counts[i] - expected) / expected;
    const double freedom = (double)bins - 1.0;
    if (!CHECK(sum < gsl_cdf_chisq_Qinv(1e-8, freedom)) ||
        !CHECK(sum > gsl_cdf_chisq_Pinv(1e-8, freedom)))
        printf("%s: chi-square %.1f with %.0f degrees of freedom\n", what, sum, freedom);
}

/* `sample` is uniform after its distribution function: single numbers and overlapping-free pairs.
 */
static void check_uniform(const double *sample, const char *what)
{
    double single[BINS] = { 0 };
    static double pairs[BINS * BINS / 16];
    memset(pairs, 0, sizeof pairs);
    double correlation = 0.0;
    for (size_t i = 0; i < DRAWS; i++)
        single[(size_t)(sample[i] * BINS)]++;
    for (size_t i = 0; i + 1 < DRAWS; i += 2)
        pairs[(size_t)(sample[i] * 64) * 64 + (size_t)(sample[i + 1] * 64)]++;
    for (size_t i = 0; i + 1 < DRAWS; i++)
        correlation += 12.0 * (sample[i] - 0.5) * (sample[i + 1] - 0.5) / DRAWS;
    check_chi_square(single, BINS, (double)DRAWS / BINS, what);
    check_chi_square(pairs, 64 * 64, (double)DRAWS / 2 / (64 * 64), what);
    if (!CHECK_NEAR(correlation, 0.0, 6.0 / sqrt(DRAWS)))
        printf("%s: neighbours correlate\n", what);
}

static double sample[DRAWS];

static void uniforms_are_uniform_along_and_across_streams(void)
{
    for (enum axis axis = ALONG; axis < AXES; axis++) {
        fill(axis, sim_stream_uniform, sample);
        check_uniform(sample, AXIS_NAMES[axis]);
    }
}

/* The low bits too: x 2^21 modulo 1. */
static double low_bits(struct sim_stream *stream)
{
    return (double)(sim_stream_u64(stream) & UINT32_MAX) * 0x1p-32;
}

static void low_words_are_uniform_along_and_across_streams(void)
{
    for (enum axis axis = ALONG; axis < AXES; axis++) {
        fill(axis, low_bits, sample);
        check_uniform(sample, AXIS_NAMES[axis]);
    }
}

static double exponential_rank(struct sim_stream *stream)
{
    return -expm1(-sim_stream_exponential(stream));
}

static void exponentials_follow_their_law(void)
{
    fill(ALONG, exponential_rank, sample);
    check_uniform(sample, "exponential along");
    fill(ITEM, exponential_rank, sample);
    check_uniform(sample, "exponential by item");
}

/* Beyond R = 7.697 the ziggurat starts afresh; 1 in 2 202 draws gets there. */
static void the_tail_of_the_exponential_is_exponential(void)
{
    struct sim_stream stream;
    open_on_axis(&stream, ALONG, 0);
    double beyond = 0.0;
    double excess = 0.0;
    const double draws = 10.0 * DRAWS;
    for (int i = 0; i < 10 * DRAWS; i++) {
        const double x = sim_stream_exponential(&stream);
        if (x > 7.697117470131050) {
            beyond++;
            excess += x - 7.697117470131050;
        }
    }
    const double p = exp(-7.697117470131050);
    CHECK_NEAR(beyond, draws * p, 6.0 * sqrt(draws * p));
    CHECK_NEAR(excess / beyond, 1.0, 6.0 / sqrt(beyond));
}

static double normal_rank(struct sim_stream *stream)
{
    return gsl_cdf_ugaussian_P(sim_stream_normal(stream));
}

static void normals_follow_their_law(void)
{
    fill(ALONG, normal_rank, sample);
    check_uniform(sample, "normal along");
    fill(ITEM, normal_rank, sample);
    check_uniform(sample, "normal by item");
}

static double gamma_rank(struct sim_stream *stream)
{
    const gsl_rng view = sim_stream_gsl(stream);
    return gsl_cdf_gamma_P(gsl_ran_gamma(&view, 2.5, 1.0), 2.5, 1.0);
}

static double weibull_rank(struct sim_stream *stream)
{
    const gsl_rng view = sim_stream_gsl(stream);
    return gsl_cdf_weibull_P(gsl_ran_weibull(&view, 1.0, 1.5), 1.0, 1.5);
}

static double integer_rank(struct sim_stream *stream)
{
    const gsl_rng view = sim_stream_gsl(stream);
    return ((double)gsl_rng_uniform_int(&view, 4096) + 0.5) / 4096.0;
}

static void samplers_of_gsl_work_on_the_view(void)
{
    fill(ALONG, gamma_rank, sample);
    check_uniform(sample, "gsl_ran_gamma");
    fill(ITEM, gamma_rank, sample);
    check_uniform(sample, "gsl_ran_gamma by item");
    fill(ALONG, weibull_rank, sample);
    check_uniform(sample, "gsl_ran_weibull");
    fill(ALONG, integer_rank, sample);
    check_uniform(sample, "gsl_rng_uniform_int");
}

/* First and second numbers of neighbouring streams, and of the same item in two replications. */
static void streams_do_not_correlate(void)
{
    double by_item = 0.0;
    double by_replication = 0.0;
    const struct sim_random other = { .seed = ROOT.seed, .replication = ROOT.replication + 1 };
    for (uint64_t item = 0; item < DRAWS; item++) {
        struct sim_stream here;
        struct sim_stream next;
        struct sim_stream twin;
        sim_stream_open(&here, &ROOT, SIM_DRAW_SERVICE, (struct sim_stream_key){ .item = item });
        sim_stream_open(&next, &ROOT, SIM_DRAW_SERVICE,
                        (struct sim_stream_key){ .item = item + 1 });
        sim_stream_open(&twin, &other, SIM_DRAW_SERVICE, (struct sim_stream_key){ .item = item });
        (void)sim_stream_uniform(&next);
        const double u = sim_stream_uniform(&here) - 0.5;
        by_item += 12.0 * u * (sim_stream_uniform(&next) - 0.5) / DRAWS;
        by_replication += 12.0 * u * (sim_stream_uniform(&twin) - 0.5) / DRAWS;
    }
    CHECK_NEAR(by_item, 0.0, 6.0 / sqrt(DRAWS));
    CHECK_NEAR(by_replication, 0.0, 6.0 / sqrt(DRAWS));
}

static const struct test tests[] = {
    { "uniforms are uniform along and across streams",
      uniforms_are_uniform_along_and_across_streams },
    { "low words are uniform along and across streams",
      low_words_are_uniform_along_and_across_streams },
    { "exponentials follow their law", exponentials_follow_their_law },
    { "the tail of the exponential is exponential", the_tail_of_the_exponential_is_exponential },
    { "normals follow their law", normals_follow_their_law },
    { "samplers of GSL work on the view", samplers_of_gsl_work_on_the_view },
    { "streams do not correlate", streams_do_not_correlate },
};
TEST_MAIN(tests)
