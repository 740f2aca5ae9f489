/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Do the intervals hold what they promise? Coverage over many macro-replications with fixed seeds,
 * so the tests are deterministic; tolerances are four binomial standard errors of both sides, and
 * for M/M/1 the reference figures are those of docs/statistics.md.
 */
#include "analysis/statistics.h"

#include "tests/support/check.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>

static double four_errors(double share, double trials)
{
    return 4.0 * sqrt(share * (1.0 - share) / trials);
}

/* Ten pairs that share a large common part: the paired interval must not care. Exact for normal
 * differences, so any error of the factor or the degrees of freedom shows. */
/* covers: S1.138 */
static void paired_interval_covers(void)
{
    enum { TRIALS = 20000, PAIRS = 10 };
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(random, 20240101);
    size_t covered = 0;
    size_t rejected = 0;
    for (size_t trial = 0; trial < TRIALS; trial++) {
        double a[PAIRS];
        double b[PAIRS];
        for (size_t i = 0; i < PAIRS; i++) {
            const double common = gsl_ran_gaussian_ziggurat(random, 50.0);
            a[i] = 100.0 + common + gsl_ran_gaussian_ziggurat(random, 1.0);
            b[i] = 102.0 + common + gsl_ran_gaussian_ziggurat(random, 2.0);
        }
        const struct an_paired paired = an_paired_difference(a, b, PAIRS, 0.95);
        covered += fabs(paired.difference - 2.0) <= paired.half_width ? 1 : 0;
        /* The p-value of the true difference is uniform: 5 % lie below .05. */
        for (size_t i = 0; i < PAIRS; i++)
            b[i] -= 2.0;
        rejected += an_paired_difference(a, b, PAIRS, 0.95).p_value < 0.05 ? 1 : 0;
    }
    gsl_rng_free(random);
    CHECK_NEAR((double)covered / TRIALS, 0.95, four_errors(0.95, TRIALS));
    CHECK_NEAR((double)rejected / TRIALS, 0.05, four_errors(0.05, TRIALS));
}

/* covers: S1.138 */
static void small_effect_is_found(void)
{
    enum { TRIALS = 400, PAIRS = 20 };
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(random, 7);
    size_t found = 0;
    for (size_t trial = 0; trial < TRIALS; trial++) {
        double a[PAIRS];
        double b[PAIRS];
        for (size_t i = 0; i < PAIRS; i++) {
            /* A spread of 20 % between replications hides 5 % from an unpaired test. */
            a[i] = 100.0 + gsl_ran_gaussian_ziggurat(random, 20.0);
            b[i] = 1.05 * a[i] + gsl_ran_gaussian_ziggurat(random, 3.0);
        }
        found += an_paired_difference(a, b, PAIRS, 0.95).p_value < 0.05 ? 1 : 0;
    }
    CHECK((double)found / TRIALS > 0.99);
    gsl_rng_free(random);
}

static void holm_keeps_the_family_error(void)
{
    enum { TRIALS = 4000, PAIRS = 8, ARMS = 4 };
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(random, 99);
    size_t wrong = 0;
    for (size_t trial = 0; trial < TRIALS; trial++) {
        double base[PAIRS];
        double p_values[ARMS];
        double adjusted[ARMS];
        for (size_t i = 0; i < PAIRS; i++)
            base[i] = gsl_ran_gaussian_ziggurat(random, 1.0);
        for (size_t arm = 0; arm < ARMS; arm++) {
            double other[PAIRS];
            for (size_t i = 0; i < PAIRS; i++)
                other[i] = gsl_ran_gaussian_ziggurat(random, 1.0);
            p_values[arm] = an_paired_difference(base, other, PAIRS, 0.95).p_value;
        }
        an_holm(p_values, ARMS, adjusted);
        bool is_wrong = false;
        for (size_t arm = 0; arm < ARMS; arm++)
            is_wrong = is_wrong || adjusted[arm] < 0.05;
        wrong += is_wrong ? 1 : 0;
    }
    gsl_rng_free(random);
    const double share = (double)wrong / TRIALS;
    CHECK(share <= 0.05 + four_errors(0.05, TRIALS));
    /* Arms share the baseline, so the bound is not tight, but a dead test would never err. */
    CHECK(share > 0.015);
}

static void quantile_interval_covers(void)
{
    enum { TRIALS = 4000, SIZE = 40 };
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(random, 5);
    const double truth = -log(1.0 - 0.8);
    size_t covered = 0;
    struct an_quantile_interval interval = { .coverage = 0.0 };
    for (size_t trial = 0; trial < TRIALS; trial++) {
        double values[SIZE];
        for (size_t i = 0; i < SIZE; i++)
            values[i] = gsl_ran_exponential(random, 1.0);
        for (size_t i = 1; i < SIZE; i++)
            for (size_t j = i; j > 0 && values[j - 1] > values[j]; j--) {
                const double kept = values[j];
                values[j] = values[j - 1];
                values[j - 1] = kept;
            }
        CHECK(an_quantile_interval(values, SIZE, 0.8, 0.95, &interval));
        covered += interval.low <= truth && truth <= interval.high ? 1 : 0;
    }
    gsl_rng_free(random);
    CHECK_NEAR((double)covered / TRIALS, interval.coverage, four_errors(0.95, TRIALS));
}

/* ---- M/M/1 waiting times, start empty, rho = 0.8, 20 000 customers, 90 % intervals ---- */

enum { CUSTOMERS = 20000, MACROS = 200 };
static const double mm1_load = 0.8;

/* Lindley: W' = max(0, W + S - A). */
static void waiting_times(gsl_rng *random, double *waits)
{
    double wait = 0.0;
    for (size_t i = 0; i < CUSTOMERS; i++) {
        waits[i] = wait;
        wait += gsl_ran_exponential(random, 1.0) - gsl_ran_exponential(random, 1.0 / mm1_load);
        wait = wait < 0.0 ? 0.0 : wait;
    }
}

struct coverage {
    double naive, batches10, batches100, batches400, overlapping, truncated;
};

static bool covers(struct an_interval interval)
{
    const double truth = mm1_load / (1.0 - mm1_load);
    return fabs(interval.mean - truth) <= interval.half_width;
}

static struct coverage measure_mm1(void)
{
    double *waits = calloc(CUSTOMERS, sizeof *waits);
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(random, 424242);
    struct coverage sum = { .naive = 0.0 };
    for (size_t i = 0; i < MACROS; i++) {
        waiting_times(random, waits);
        sum.naive += covers(an_mean_interval(waits, CUSTOMERS, 0.9)) ? 1.0 : 0.0;
        sum.batches10 += covers(an_batch_means(waits, CUSTOMERS, 10, 0.9).interval) ? 1.0 : 0.0;
        sum.batches100 += covers(an_batch_means(waits, CUSTOMERS, 100, 0.9).interval) ? 1.0 : 0.0;
        sum.batches400 += covers(an_batch_means(waits, CUSTOMERS, 400, 0.9).interval) ? 1.0 : 0.0;
        sum.overlapping +=
            covers(an_overlapping_means(waits, CUSTOMERS, CUSTOMERS / 20, 0.9)) ? 1.0 : 0.0;
        sum.truncated += (double)an_mser5(waits, CUSTOMERS).truncated;
    }
    gsl_rng_free(random);
    free(waits);
    return (struct coverage){ sum.naive / MACROS,       sum.batches10 / MACROS,
                              sum.batches100 / MACROS,  sum.batches400 / MACROS,
                              sum.overlapping / MACROS, sum.truncated / MACROS };
}

/* Reference: 400 macro-replications; both sides err. */
static double tolerance(double share)
{
    return hypot(four_errors(share, MACROS), four_errors(share, 400.0));
}

static void mm1_coverage_matches(void)
{
    const struct coverage share = measure_mm1();
    CHECK_NEAR(share.naive, 0.13, tolerance(0.13));
    CHECK_NEAR(share.batches10, 0.882, tolerance(0.882));
    CHECK_NEAR(share.batches100, 0.825, tolerance(0.825));
    CHECK_NEAR(share.batches400, 0.71, tolerance(0.71));
    CHECK_NEAR(share.overlapping, 0.868, tolerance(0.868));
    /* MSER-5 cuts 446 observations on average: short against the run, long against a batch. */
    CHECK(share.truncated > 200.0 && share.truncated < 900.0);
    CHECK(share.batches10 > share.batches400);
}

static const struct test tests[] = {
    { "the paired t interval covers the true difference in 95 % of cases", paired_interval_covers },
    { "an effect of 5 % is found with 20 paired replications", small_effect_is_found },
    { "Holm keeps the error of the family below 5 %", holm_keeps_the_family_error },
    { "the quantile interval covers as often as it says", quantile_interval_covers },
    { "batch means of M/M/1 cover as often as the reference, the naive formula hardly ever",
      mm1_coverage_matches },
};
TEST_MAIN(tests)
