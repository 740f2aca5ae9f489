/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests by ranks against what is counted by hand. */
#include "analysis/ranks.h"
#include "tests/support/check.h"

#include <math.h>

static void equal_values_share_their_ranks(void)
{
    const double values[] = { 3, 1, 3, 2 };
    const double wanted[] = { 3.5, 1, 3.5, 2 };
    double ranks[4];
    an_rank(values, 4, ranks);
    for (size_t i = 0; i < 4; i++)
        CHECK_NEAR(ranks[i], wanted[i], 1e-12);
}

/* Of the 2^n choices of signs those at least as far out are counted. */
static void wilcoxon_is_exact(void)
{
    static const struct {
        double differences[9];
        size_t n;
        double p;
    } rows[] = {
        { { 1, 2, 3, 4, 5 }, 5, 2.0 / 32 },
        { { -1, 2, 3 }, 3, 4.0 / 8 },
        { { 1, 1, -1 }, 3, 1.0 },
        { { 0, 0, 0 }, 3, 1.0 },
        { { 0, -2, -1, 0 }, 4, 2.0 / 4 },
        { { 9, 1, 8, 2, 7, 3, 6, 4, 5 }, 9, 2.0 / 512 },
        { { 1, -2, 3, -4, 5, 6, 7, 8 }, 8, 2.0 * 14 / 256 }, /* sums up to 6 of 1 .. 8 */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        CHECK_NEAR(an_wilcoxon(rows[i].differences, rows[i].n), rows[i].p, 1e-12);
}

static void friedman_meets_sums_by_hand(void)
{
    const double ordered[] = { 1, 2, 3, 10, 20, 30, 5, 6, 7 };
    struct an_friedman test = an_friedman_test(ordered, 3, 3);
    CHECK_NEAR(test.statistic, 6.0, 1e-12);
    CHECK_NEAR(test.p_value, exp(-3.0), 1e-12);
    CHECK_NEAR(test.mean_rank[0], 1.0, 1e-12);
    CHECK_NEAR(test.mean_rank[2], 3.0, 1e-12);
    CHECK_NEAR(test.critical_difference, 2.343 * sqrt(12.0 / 18.0), 1e-9);
    const double tied[] = { 1, 2, 3, 4, 4, 4, 5, 6, 7 };
    test = an_friedman_test(tied, 3, 3);
    CHECK_NEAR(test.statistic, 4.0, 1e-12);
    const double equal[] = { 1, 1, 2, 2 };
    CHECK(isnan(an_friedman_test(equal, 2, 2).p_value));
}

/* P(range of k standard normal values <= q), by Simpson's rule. */
static double range_below(size_t k, double q)
{
    enum { STEPS = 2000 };
    double sum = 0.0;
    for (int i = 0; i <= STEPS; i++) {
        const double z = -8.0 + 16.0 * i / STEPS;
        const double weight = i == 0 || i == STEPS ? 1.0 : i % 2 == 1 ? 4.0 : 2.0;
        sum += weight * exp(-0.5 * z * z) *
               pow(0.5 * (erfc(-z / M_SQRT2) - erfc(-(z - q) / M_SQRT2)), (double)k - 1.0);
    }
    return (double)k * sum * 16.0 / STEPS / 3.0 / sqrt(2.0 * M_PI);
}

/* The tabled figures are the range at .05 over the root of 2. */
static void critical_differences_are_those_of_the_range(void)
{
    double values[AN_RANKS_VARIANTS];
    for (size_t k = 2; k <= AN_RANKS_VARIANTS; k++) {
        for (size_t v = 0; v < k; v++)
            values[v] = (double)v;
        const double tabled =
            an_friedman_test(values, 1, k).critical_difference / sqrt((double)(k * (k + 1)) / 6.0);
        CHECK_NEAR(range_below(k, tabled * M_SQRT2), 0.95, 2e-4);
    }
}

static const struct test tests[] = {
    { "equal values share their ranks", equal_values_share_their_ranks },
    { "Wilcoxon's test is exact", wilcoxon_is_exact },
    { "Friedman's test meets sums by hand", friedman_meets_sums_by_hand },
    { "critical differences are those of the range", critical_differences_are_those_of_the_range },
};
TEST_MAIN(tests)
