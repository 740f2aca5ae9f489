/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Output analysis: intervals that are honest about dependence.
 *
 * Replications are independent; samples within one run are not. So means over replications and
 * paired differences under common random numbers take Student's t, and a single long run takes
 * batch means. All functions are pure, allocate nothing, and give NAN where the data do not
 * suffice (fewer than two values).
 */
#ifndef ANALYSIS_STATISTICS_H
#define ANALYSIS_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>

struct an_interval {
    double mean;
    double half_width; /* NAN = fewer than two values */
    size_t n;
};

/* Mean of `n` independent values with its t interval. */
struct an_interval an_mean_interval(const double *values, size_t n, double confidence);

/* Ends of an interval that stays within the range of what it is about. */
struct an_range {
    double low, high; /* NAN = none */
};

/* Mean of `n` shares of `whole` (1 or 100), each strictly inside, on the logit scale: t interval of
 * logit(mean) by the delta method. None when a share lies at an end. */
struct an_range an_share_interval(const double *values, size_t n, double whole, double confidence);

/* `count` of `n` independent runs (Wilson's score interval). */
struct an_range an_wilson_interval(size_t count, size_t n, double confidence);

/* True when all values are equal but for rounding (1e-12 relative): a deterministic run. */
bool an_is_constant(const double *values, size_t n);

struct an_paired {
    double difference; /* mean of b - a */
    double half_width; /* NAN when n < 2 or deterministic */
    double p_value;    /* two-sided paired t; NAN likewise */
    double sign_p_value;
    size_t n;
    bool is_deterministic; /* every pair has the same difference, or there is only one pair */
};

/* Paired comparison of b with a: values at the same index share their random numbers. */
struct an_paired an_paired_difference(const double *a, const double *b, size_t n,
                                      double confidence);

/* Two-sided sign test; ties are left out by the caller. 1 when there is nothing to count. */
double an_sign_test(size_t positive, size_t negative);

/* Holm's step-down adjustment; NAN entries are no hypotheses and stay NAN. O(n^2). */
void an_holm(const double *p_values, size_t n, double *adjusted);

/* Confidence at which each paired interval must be drawn so that it holds 0 exactly when Holm's
 * procedure at level `alpha` does not reject it. NAN entries stay NAN. O(n^2). */
void an_holm_confidence(const double *p_values, size_t n, double alpha, double *confidence);

struct an_quantile_interval {
    double value;     /* the sample quantile */
    double low, high; /* order statistics X_(low_rank), X_(high_rank); ranks count from 1 */
    size_t low_rank, high_rank;
    double coverage; /* exact, at least the confidence asked for */
};

/* Interval of the p-quantile from `n` independent ascending values. False when n is too small for
 * an interval within the sample at this confidence. */
bool an_quantile_interval(const double *sorted, size_t n, double p, double confidence,
                          struct an_quantile_interval *interval);

struct an_mser {
    size_t truncated;  /* observations to leave out at the start, a multiple of 5 */
    bool is_too_short; /* the minimum lies at the half: no warm-up can be told from the rest */
};

/* MSER-5: batches of five, d* = argmin over d <= k/2 of sum (Y_j - mean)^2 / (k - d)^2. O(n). */
struct an_mser an_mser5(const double *values, size_t n);

struct an_batch_means {
    struct an_interval interval;
    double lag1;        /* autocorrelation of the batch means; < 0.2 wanted */
    double von_neumann; /* ratio; 2 when independent */
};

/* Mean of one long dependent series by `batches` >= 2 equal batches (the rest at the start is left
 * out). */
struct an_batch_means an_batch_means(const double *values, size_t n, size_t batches,
                                     double confidence);

/* Overlapping batch means of length `batch`, 1.5 (n/batch - 1) degrees of freedom. */
struct an_interval an_overlapping_means(const double *values, size_t n, size_t batch,
                                        double confidence);

/* Welch's moving average with window w: 2w + 1 values in the middle, growing windows at the start;
 * writes n - w averages (0 when w >= n / 2). Returns how many. */
size_t an_welch_average(const double *values, size_t n, size_t window, double *averages);

#endif
