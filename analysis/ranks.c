/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests by ranks; see the header. Demsar, JMLR 7 (2006) has them side by side, with the table. */
#include "analysis/ranks.h"

#include "analysis/nan.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

void an_rank(const double *values, size_t n, double *ranks)
{
    for (size_t i = 0; i < n; i++) {
        size_t below = 0;
        size_t equal = 0;
        for (size_t k = 0; k < n; k++) {
            below += values[k] < values[i] ? 1 : 0;
            equal += !islessgreater(values[k], values[i]) ? 1 : 0;
        }
        ranks[i] = (double)below + 0.5 * (double)(equal + 1);
    }
}

/* Share of all choices of signs whose sum of positive ranks is at most `sum`: ranks are halves, so
 * twice of them are whole, and sums are counted one rank after the other. */
static double lower_tail(const double *ranks, size_t n, double sum)
{
    const size_t most = n * (n + 1);
    double *chance = calloc(most + 1, sizeof *chance);
    double tail = chance == NULL ? AN_NAN : 0.0;
    if (chance == NULL)
        return tail;
    chance[0] = 1.0;
    for (size_t i = 0; i < n; i++) {
        const size_t step = (size_t)lround(2.0 * ranks[i]);
        for (size_t at = most + 1; at-- > 0;)
            chance[at] = 0.5 * (chance[at] + (at >= step ? chance[at - step] : 0.0));
    }
    for (size_t at = 0; at <= most && (double)at <= 2.0 * sum + 1e-9; at++)
        tail += chance[at];
    free(chance);
    return tail;
}

double an_wilcoxon(const double *differences, size_t n)
{
    double sizes[AN_RANKS_BLOCKS] = { 0 };
    double signs[AN_RANKS_BLOCKS];
    double ranks[AN_RANKS_BLOCKS];
    double up = 0.0;
    double down = 0.0;
    size_t count = 0;
    for (size_t i = 0; i < n && count < AN_RANKS_BLOCKS; i++)
        if (islessgreater(differences[i], 0.0)) {
            sizes[count] = fabs(differences[i]);
            signs[count++] = differences[i];
        }
    an_rank(sizes, count, ranks);
    for (size_t i = 0; i < count; i++)
        *(signs[i] > 0.0 ? &up : &down) += ranks[i];
    return count == 0 ? 1.0 : fmin(1.0, 2.0 * lower_tail(ranks, count, fmin(up, down)));
}

/* Studentized range at .05 over the square root of 2, by the number of variants. */
static double nemenyi(size_t variants)
{
    static const double table[] = { 0,     0,     1.960, 2.343, 2.569, 2.728,
                                    2.850, 2.949, 3.031, 3.102, 3.164 };
    return variants >= 2 && variants < sizeof table / sizeof table[0] ? table[variants] : AN_NAN;
}

struct an_friedman an_friedman_test(const double *values, size_t blocks, size_t variants)
{
    struct an_friedman test = { .p_value = AN_NAN, .statistic = AN_NAN };
    const double n = (double)blocks;
    const double k = (double)variants;
    double squares = 0.0; /* of all ranks */
    double between = 0.0;
    for (size_t b = 0; b < blocks; b++) {
        double ranks[AN_RANKS_VARIANTS];
        an_rank(values + b * variants, variants, ranks);
        for (size_t v = 0; v < variants; v++) {
            test.mean_rank[v] += ranks[v] / n;
            squares += ranks[v] * ranks[v];
        }
    }
    for (size_t v = 0; v < variants; v++)
        between += pow(n * (test.mean_rank[v] - 0.5 * (k + 1.0)), 2.0);
    const double within = squares - n * k * (k + 1.0) * (k + 1.0) / 4.0;
    if (within > 0.0) {
        test.statistic = (k - 1.0) * between / within;
        test.p_value = gsl_cdf_chisq_Q(test.statistic, k - 1.0);
    }
    test.critical_difference = nemenyi(variants) * sqrt(k * (k + 1.0) / (6.0 * n));
    return test;
}
