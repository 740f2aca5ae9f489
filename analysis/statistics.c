/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Output analysis on top of GSL's distributions; see the header and docs/statistics.md. Sums run in
 * index order, so results repeat bit for bit.
 */
#include "analysis/statistics.h"
#include "analysis/nan.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

/* The factor t of a two-sided interval at `confidence`. */
static double t_factor(double confidence, double degrees)
{
    return gsl_cdf_tdist_Pinv(0.5 + 0.5 * confidence, degrees);
}

struct an_interval an_mean_interval(const double *values, size_t n, double confidence)
{
    struct an_interval interval = { .mean = AN_NAN, .half_width = AN_NAN, .n = n };
    if (n == 0)
        return interval;
    interval.mean = gsl_stats_mean(values, 1, n);
    if (n < 2)
        return interval;
    const double sd = gsl_stats_sd_m(values, 1, n, interval.mean);
    interval.half_width = t_factor(confidence, (double)(n - 1)) * sd / sqrt((double)n);
    return interval;
}

struct an_range an_share_interval(const double *values, size_t n, double whole, double confidence)
{
    const struct an_interval mean = an_mean_interval(values, n, confidence);
    struct an_range range = { AN_NAN, AN_NAN };
    for (size_t i = 0; i < n; i++)
        if (!(values[i] > 0.0 && values[i] < whole))
            return range;
    if (isnan(mean.half_width))
        return range;
    const double p = mean.mean / whole;
    const double middle = log(p / (1.0 - p));
    const double half = mean.half_width / whole / (p * (1.0 - p));
    range.low = whole / (1.0 + exp(half - middle));
    range.high = whole / (1.0 + exp(-half - middle));
    return range;
}

struct an_range an_wilson_interval(size_t count, size_t n, double confidence)
{
    if (n == 0)
        return (struct an_range){ AN_NAN, AN_NAN };
    const double z = gsl_cdf_ugaussian_Pinv(0.5 + 0.5 * confidence);
    const double size = (double)n;
    const double p = (double)count / size;
    const double scale = 1.0 / (1.0 + z * z / size);
    const double middle = scale * (p + z * z / (2.0 * size));
    const double half = scale * z * sqrt(p * (1.0 - p) / size + z * z / (4.0 * size * size));
    return (struct an_range){ fmax(0.0, middle - half), fmin(1.0, middle + half) };
}

bool an_is_constant(const double *values, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (!(fabs(values[i] - values[0]) <= 1e-12 * fabs(values[0])))
            return false;
    return n > 0;
}

double an_sign_test(size_t positive, size_t negative)
{
    const size_t n = positive + negative;
    const size_t fewer = positive < negative ? positive : negative;
    if (n == 0)
        return 1.0;
    const double tail = gsl_cdf_binomial_P((unsigned)fewer, 0.5, (unsigned)n);
    return fmin(1.0, 2.0 * tail);
}

struct an_paired an_paired_difference(const double *a, const double *b, size_t n, double confidence)
{
    struct an_paired paired = { .difference = AN_NAN,
                                .half_width = AN_NAN,
                                .p_value = AN_NAN,
                                .sign_p_value = AN_NAN,
                                .n = n };
    if (n == 0)
        return paired;
    double sum = 0.0;
    double scale = 0.0;
    size_t positive = 0;
    size_t negative = 0;
    for (size_t i = 0; i < n; i++) {
        const double d = b[i] - a[i];
        sum += d;
        scale = fmax(scale, fmax(fabs(a[i]), fabs(b[i])));
        positive += d > 0.0 ? 1 : 0;
        negative += d < 0.0 ? 1 : 0;
    }
    paired.difference = sum / (double)n;
    if (isnan(paired.difference))
        return paired;
    double squares = 0.0;
    bool is_constant = true;
    for (size_t i = 0; i < n; i++) {
        const double d = b[i] - a[i] - paired.difference;
        squares += d * d;
        is_constant = is_constant && fabs(d) <= 1e-12 * scale;
    }
    paired.is_deterministic = is_constant;
    if (is_constant)
        return paired;
    paired.sign_p_value = an_sign_test(positive, negative);
    const double degrees = (double)(n - 1);
    const double error = sqrt(squares / degrees / (double)n);
    paired.half_width = t_factor(confidence, degrees) * error;
    paired.p_value = 2.0 * gsl_cdf_tdist_Q(fabs(paired.difference) / error, degrees);
    return paired;
}

/* Index of the smallest p-value after (value, index) `last` in ascending order; n = none. */
static size_t next_smallest(const double *p_values, size_t n, size_t last)
{
    size_t best = n;
    for (size_t i = 0; i < n; i++) {
        if (isnan(p_values[i]) || i == last)
            continue;
        const bool is_after = last == n || p_values[i] > p_values[last] ||
                              (!(p_values[i] < p_values[last]) && i > last);
        if (is_after && (best == n || p_values[i] < p_values[best]))
            best = i;
    }
    return best;
}

static size_t count_numbers(const double *values, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += isnan(values[i]) ? 0 : 1;
    return count;
}

void an_holm(const double *p_values, size_t n, double *adjusted)
{
    size_t left = count_numbers(p_values, n);
    for (size_t i = 0; i < n; i++)
        adjusted[i] = AN_NAN;
    double running = 0.0;
    for (size_t i = next_smallest(p_values, n, n); i < n; i = next_smallest(p_values, n, i)) {
        running = fmax(running, fmin(1.0, (double)left * p_values[i]));
        adjusted[i] = running;
        left--;
    }
}

void an_holm_confidence(const double *p_values, size_t n, double alpha, double *confidence)
{
    size_t left = count_numbers(p_values, n);
    for (size_t i = 0; i < n; i++)
        confidence[i] = AN_NAN;
    bool is_rejecting = true;
    for (size_t i = next_smallest(p_values, n, n); i < n; i = next_smallest(p_values, n, i)) {
        const double level = alpha / (double)left;
        confidence[i] = 1.0 - level;
        is_rejecting = is_rejecting && p_values[i] < level;
        /* After the first hypothesis that stands, the level stays where it was. */
        if (is_rejecting)
            left--;
    }
}

/* P(low <= B < high) for B ~ Bin(n, p): the coverage of [X_(low), X_(high)]. */
static double ranks_coverage(size_t low, size_t high, size_t n, double p)
{
    return gsl_cdf_binomial_P((unsigned)(high - 1), p, (unsigned)n) -
           gsl_cdf_binomial_P((unsigned)(low - 1), p, (unsigned)n);
}

bool an_quantile_interval(const double *sorted, size_t n, double p, double confidence,
                          struct an_quantile_interval *interval)
{
    if (n < 2 || !(p > 0.0 && p < 1.0))
        return false;
    size_t middle = (size_t)ceil(p * (double)n);
    middle = middle < 1 ? 1 : middle;
    size_t low = middle;
    size_t high = middle < n ? middle + 1 : n;
    if (low == high)
        low--;
    /* Grow on the side that adds more, until the exact coverage suffices. */
    while (ranks_coverage(low, high, n, p) < confidence) {
        const double down = low > 1 ? ranks_coverage(low - 1, high, n, p) : -1.0;
        const double up = high < n ? ranks_coverage(low, high + 1, n, p) : -1.0;
        if (down < 0.0 && up < 0.0)
            return false;
        if (down >= up)
            low--;
        else
            high++;
    }
    *interval = (struct an_quantile_interval){ .value = sorted[middle - 1],
                                               .low = sorted[low - 1],
                                               .high = sorted[high - 1],
                                               .low_rank = low,
                                               .high_rank = high,
                                               .coverage = ranks_coverage(low, high, n, p) };
    return true;
}

struct an_mser an_mser5(const double *values, size_t n)
{
    const size_t count = n / 5;
    struct an_mser result = { .truncated = 0, .is_too_short = true };
    if (count < 4)
        return result;
    /* From the end: sum and squares of Y_d .. Y_{k-1}, about the last batch against cancellation.
     */
    const double origin = gsl_stats_mean(values + 5 * (count - 1), 1, 5);
    double sum = 0.0;
    double squares = 0.0;
    double best = AN_INFINITY;
    size_t best_d = 0;
    for (size_t d = count; d-- > 0;) {
        const double y = gsl_stats_mean(values + 5 * d, 1, 5) - origin;
        sum += y;
        squares += y * y;
        const double left = (double)(count - d);
        const double score = fmax(0.0, squares - sum * sum / left) / (left * left);
        if (d <= count / 2 && score <= best) {
            best = score;
            best_d = d;
        }
    }
    result.truncated = 5 * best_d;
    result.is_too_short = best_d == count / 2;
    return result;
}

struct an_batch_means an_batch_means(const double *values, size_t n, size_t batches,
                                     double confidence)
{
    struct an_batch_means result = { { AN_NAN, AN_NAN, batches }, AN_NAN, AN_NAN };
    const size_t size = batches < 2 ? 0 : n / batches;
    if (size == 0)
        return result;
    const double *first = values + (n - size * batches);
    const double mean = gsl_stats_mean(first, 1, size * batches);
    double squares = 0.0;
    double products = 0.0;
    double steps = 0.0;
    double before = 0.0;
    for (size_t i = 0; i < batches; i++) {
        const double d = gsl_stats_mean(first + i * size, 1, size) - mean;
        squares += d * d;
        if (i > 0) {
            products += d * before;
            steps += (d - before) * (d - before);
        }
        before = d;
    }
    const double degrees = (double)(batches - 1);
    result.interval.mean = mean;
    result.interval.half_width =
        t_factor(confidence, degrees) * sqrt(squares / degrees / (double)batches);
    if (squares > 0.0) {
        result.lag1 = products / squares;
        result.von_neumann = steps / squares * (double)batches / degrees;
    }
    return result;
}

struct an_interval an_overlapping_means(const double *values, size_t n, size_t batch,
                                        double confidence)
{
    struct an_interval interval = { .mean = AN_NAN, .half_width = AN_NAN, .n = n };
    if (n == 0 || batch == 0 || 2 * batch > n)
        return interval;
    interval.mean = gsl_stats_mean(values, 1, n);
    double sum = 0.0;
    double squares = 0.0;
    for (size_t i = 0; i < n; i++) {
        sum += values[i];
        if (i >= batch)
            sum -= values[i - batch];
        if (i + 1 >= batch) {
            const double d = sum / (double)batch - interval.mean;
            squares += d * d;
        }
    }
    const double length = (double)n;
    const double m = (double)batch;
    const double variance = length * m / ((length - m + 1.0) * (length - m)) * squares;
    const double degrees = 1.5 * (length / m - 1.0);
    interval.half_width = t_factor(confidence, degrees) * sqrt(variance / length);
    return interval;
}

size_t an_welch_average(const double *values, size_t n, size_t window, double *averages)
{
    if (2 * window >= n)
        return 0;
    for (size_t i = 0; i + window < n; i++) {
        const size_t half = i < window ? i : window;
        averages[i] = gsl_stats_mean(values + (i - half), 1, 2 * half + 1);
    }
    return n - window;
}
