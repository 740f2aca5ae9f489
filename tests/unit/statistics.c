/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Output analysis against values worked out by hand or read from tables. */
#include "analysis/statistics.h"

#include "tests/support/check.h"

#include <math.h>

static const double nan_value = (double)NAN;

static void mean_interval(void)
{
    /* 1..5: mean 3, sd sqrt(2.5), t(0.975, 4) = 2.776445. */
    const double values[] = { 1, 2, 3, 4, 5 };
    const struct an_interval interval = an_mean_interval(values, 5, 0.95);
    CHECK_NEAR(interval.mean, 3.0, 1e-12);
    CHECK_NEAR(interval.half_width, 2.776445105 * sqrt(2.5 / 5.0), 1e-8);
}

static void too_few_values(void)
{
    const double one[] = { 7.0 };
    CHECK_NEAR(an_mean_interval(one, 1, 0.95).mean, 7.0, 0.0);
    CHECK(isnan(an_mean_interval(one, 1, 0.95).half_width));
    CHECK(isnan(an_mean_interval(one, 0, 0.95).mean));
    CHECK(an_paired_difference(one, one, 1, 0.95).is_deterministic);
}

/* covers: S1.138 */
static void paired_difference(void)
{
    /* Differences 1, 2, 3, 2: mean 2, sd 0.8165, t = 2 / (0.8165 / 2) = 4.898979, t(0.975, 3) =
     * 3.182446; with 3 degrees p = 1 - 2/pi (sqrt(8)/9 + atan(sqrt(8))) = 0.0162766. */
    const double a[] = { 10, 20, 30, 40 };
    const double b[] = { 11, 22, 33, 42 };
    const struct an_paired paired = an_paired_difference(a, b, 4, 0.95);
    CHECK_NEAR(paired.difference, 2.0, 1e-12);
    CHECK_NEAR(paired.half_width, 3.182446305 * 0.408248290, 1e-7);
    CHECK_NEAR(paired.p_value, 0.0162766, 1e-7);
    CHECK_NEAR(paired.sign_p_value, 0.125, 1e-12);
    CHECK(!paired.is_deterministic);
}

static void equal_differences_are_deterministic(void)
{
    const double a[] = { 1.0, 2.0, 3.0 };
    const double b[] = { 1.1, 2.1, 3.1 };
    const struct an_paired paired = an_paired_difference(a, b, 3, 0.95);
    CHECK(paired.is_deterministic);
    CHECK(isnan(paired.p_value));
    CHECK_NEAR(paired.difference, 0.1, 1e-12);
    CHECK(an_is_constant(a, 1));
    CHECK(!an_is_constant(a, 3));
}

static void missing_values_give_nothing(void)
{
    const double a[] = { 1.0, nan_value };
    const double b[] = { 2.0, 3.0 };
    const struct an_paired paired = an_paired_difference(a, b, 2, 0.95);
    CHECK(isnan(paired.difference));
    CHECK(isnan(paired.p_value));
    CHECK(!paired.is_deterministic);
}

static void sign_test(void)
{
    CHECK_NEAR(an_sign_test(10, 0), 2.0 / 1024.0, 1e-12);
    CHECK_NEAR(an_sign_test(8, 2), 2.0 * 56.0 / 1024.0, 1e-12);
    CHECK_NEAR(an_sign_test(5, 5), 1.0, 0.0);
    CHECK_NEAR(an_sign_test(0, 0), 1.0, 0.0);
}

static void holm(void)
{
    /* Holm (1979): sorted .01 .02 .03 .04 with a gap in between that is no hypothesis. */
    const double p[] = { 0.04, 0.01, nan_value, 0.03, 0.02 };
    double adjusted[5];
    an_holm(p, 5, adjusted);
    CHECK_NEAR(adjusted[1], 0.04, 1e-12);
    CHECK_NEAR(adjusted[4], 0.06, 1e-12);
    CHECK_NEAR(adjusted[3], 0.06, 1e-12);
    CHECK_NEAR(adjusted[0], 0.06, 1e-12);
    CHECK(isnan(adjusted[2]));
}

static void holm_of_ties(void)
{
    const double p[] = { 0.02, 0.02, 0.02 };
    double adjusted[3];
    an_holm(p, 3, adjusted);
    for (size_t i = 0; i < 3; i++)
        CHECK_NEAR(adjusted[i], 0.06, 1e-12);
}

/* The interval at the confidence of step i holds 0 exactly when Holm does not reject. */
static void holm_interval_agrees_with_verdict(void)
{
    const double p[] = { 0.001, 0.030, 0.020, 0.6 };
    double adjusted[4];
    double confidence[4];
    an_holm(p, 4, adjusted);
    an_holm_confidence(p, 4, 0.05, confidence);
    for (size_t i = 0; i < 4; i++) {
        const bool is_rejected = adjusted[i] < 0.05;
        const bool excludes_zero = p[i] < 1.0 - confidence[i];
        CHECK(is_rejected == excludes_zero);
    }
    CHECK_NEAR(confidence[0], 1.0 - 0.05 / 4.0, 1e-12);
    CHECK_NEAR(confidence[2], 1.0 - 0.05 / 3.0, 1e-12);
    CHECK_NEAR(confidence[1], confidence[2], 1e-12);
}

static void quantile_interval(void)
{
    /* Median of 10: P(2 <= Bin(10, 1/2) < 9) = 0.9785, the classic [X_(2), X_(9)]. */
    double values[10];
    for (size_t i = 0; i < 10; i++)
        values[i] = (double)(i + 1);
    struct an_quantile_interval interval;
    CHECK(an_quantile_interval(values, 10, 0.5, 0.95, &interval));
    CHECK_I64(interval.low_rank, 2);
    CHECK_I64(interval.high_rank, 9);
    CHECK_NEAR(interval.coverage, 0.978515625, 1e-9);
    CHECK_NEAR(interval.low, 2.0, 0.0);
    CHECK_NEAR(interval.high, 9.0, 0.0);
    /* Five values cannot bound the median at 95 % (1 - 2/32 = 93.75 %), six can (96.9 %). */
    CHECK(!an_quantile_interval(values, 5, 0.5, 0.95, &interval));
    CHECK(an_quantile_interval(values, 6, 0.5, 0.95, &interval));
    CHECK(!an_quantile_interval(values, 10, 0.99, 0.95, &interval));
}

static void mser_finds_the_transient(void)
{
    /* 20 batches of five: three high, then 0 and 1 in turn. */
    double values[100];
    for (size_t i = 0; i < 100; i++)
        values[i] = i < 15 ? 50.0 : (double)(i / 5 % 2);
    const struct an_mser mser = an_mser5(values, 100);
    CHECK_I64(mser.truncated, 15);
    CHECK(!mser.is_too_short);
}

static void mser_warns_of_trends(void)
{
    double values[100];
    for (size_t i = 0; i < 100; i++)
        values[i] = (double)i;
    CHECK(an_mser5(values, 100).is_too_short);
    CHECK(an_mser5(values, 15).is_too_short);
}

static void batch_means(void)
{
    /* Four batches with means 1, 3, 1, 3: variance 4/3, lag-1 = -3/4, von Neumann 12/4 * 4/3 = 4.
     */
    const double values[] = { 99, 1, 1, 3, 3, 1, 1, 3, 3 };
    const struct an_batch_means means = an_batch_means(values, 9, 4, 0.95);
    CHECK_NEAR(means.interval.mean, 2.0, 1e-12);
    CHECK_NEAR(means.interval.half_width, 3.182446305 * sqrt(4.0 / 3.0 / 4.0), 1e-7);
    CHECK_NEAR(means.lag1, -0.75, 1e-12);
    CHECK_NEAR(means.von_neumann, 4.0, 1e-12);
    CHECK(isnan(an_batch_means(values, 3, 4, 0.95).interval.mean));
}

static void overlapping_means(void)
{
    /* n = 4, m = 2: means 1, 2, 3 of 0 2 2 4; V = 4*2 / (3*2) * (1 + 0 + 1) = 8/3, 1.5 degrees. */
    const double values[] = { 0, 2, 2, 4 };
    const struct an_interval interval = an_overlapping_means(values, 4, 2, 0.95);
    CHECK_NEAR(interval.mean, 2.0, 1e-12);
    CHECK_NEAR(interval.half_width, 6.016663104 * sqrt(8.0 / 3.0 / 4.0), 1e-7); /* t(0.975, 1.5) */
    CHECK(isnan(an_overlapping_means(values, 4, 3, 0.95).mean));
}

static void welch_average(void)
{
    const double values[] = { 3, 0, 0, 3, 3 };
    double averages[5];
    CHECK_I64(an_welch_average(values, 5, 1, averages), 4);
    CHECK_NEAR(averages[0], 3.0, 1e-12);
    CHECK_NEAR(averages[1], 1.0, 1e-12);
    CHECK_NEAR(averages[2], 1.0, 1e-12);
    CHECK_NEAR(averages[3], 2.0, 1e-12);
    CHECK_I64(an_welch_average(values, 5, 3, averages), 0);
}

/* By hand: t(0.975, 4) = 2.776445, and the delta method about logit(0.9). */
static void shares_keep_their_range(void)
{
    const double values[] = { 0.80, 0.99, 0.95, 0.85, 0.91 };
    const struct an_interval plain = an_mean_interval(values, 5, 0.95);
    const struct an_range share = an_share_interval(values, 5, 1.0, 0.95);
    CHECK(plain.mean + plain.half_width > 0.99);
    CHECK_NEAR(plain.mean, 0.9, 1e-12);
    const double half = plain.half_width / 0.09;
    CHECK_NEAR(share.low, 1.0 / (1.0 + exp(-log(9.0) + half)), 1e-12);
    CHECK_NEAR(share.high, 1.0 / (1.0 + exp(-log(9.0) - half)), 1e-12);
    CHECK(share.low > 0.0 && share.low < 0.9 && share.high > 0.9 && share.high < 0.97);
    const double all[] = { 1.0, 0.9, 0.95 };
    CHECK(isnan(an_share_interval(all, 3, 1.0, 0.95).low));
    const double percent[] = { 80.0, 99.0, 95.0, 85.0, 91.0 };
    CHECK_NEAR(an_share_interval(percent, 5, 100.0, 0.95).high, 100.0 * share.high, 1e-9);
}

/* Wilson (1927): 3 of 10 is [0.1078, 0.6032], 10 of 10 [0.7225, 1], 0 of 10 [0, 0.2775]. */
static void counted_runs_have_scores(void)
{
    CHECK_NEAR(an_wilson_interval(3, 10, 0.95).low, 0.107791, 1e-6);
    CHECK_NEAR(an_wilson_interval(3, 10, 0.95).high, 0.603222, 1e-6);
    CHECK_NEAR(an_wilson_interval(10, 10, 0.95).low, 0.722467, 1e-6);
    CHECK_NEAR(an_wilson_interval(0, 10, 0.95).high, 0.277533, 1e-6);
    CHECK(isnan(an_wilson_interval(0, 0, 0.95).low));
}

static const struct test tests[] = {
    { "an interval of shares stays between none and all", shares_keep_their_range },
    { "counted runs have the score interval", counted_runs_have_scores },
    { "the t interval of a mean has the width of the table", mean_interval },
    { "fewer than two values give no interval", too_few_values },
    { "the paired difference has the t and sign test of the hand calculation", paired_difference },
    { "equal differences are deterministic and have no p-value",
      equal_differences_are_deterministic },
    { "a missing value leaves the difference unknown", missing_values_give_nothing },
    { "the sign test is the binomial tail", sign_test },
    { "Holm adjusts in steps and never decreases", holm },
    { "Holm treats ties alike", holm_of_ties },
    { "the interval at Holm's level holds 0 exactly for ties", holm_interval_agrees_with_verdict },
    { "order statistics bound a quantile with exact coverage", quantile_interval },
    { "MSER-5 cuts the transient", mser_finds_the_transient },
    { "MSER-5 says when a run is too short", mser_warns_of_trends },
    { "batch means give interval, lag-1 and von Neumann ratio", batch_means },
    { "overlapping batch means have 1.5 (n/m - 1) degrees of freedom", overlapping_means },
    { "Welch's average grows its window at the start", welch_average },
};
TEST_MAIN(tests)
