/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Several variants on several blocks (traces, scenarios): tests by ranks, which ask nothing of the
 * form of what is measured. A block is one observation, however many replications are behind it.
 * All functions are pure.
 */
#ifndef ANALYSIS_RANKS_H
#define ANALYSIS_RANKS_H

#include <stddef.h>

enum { AN_RANKS_VARIANTS = 10, AN_RANKS_BLOCKS = 200 };

/* Ranks 1 .. n of the values, ascending; equal ones share the mean of theirs. O(n^2). */
void an_rank(const double *values, size_t n, double *ranks);

/* Two-sided signed-rank test of Wilcoxon that `n` <= AN_RANKS_BLOCKS differences lie about 0:
 * exact, ties included, zeros left out; 1 when all are 0, NAN without memory. */
double an_wilcoxon(const double *differences, size_t n);

struct an_friedman {
    double mean_rank[AN_RANKS_VARIANTS]; /* 1 = least */
    double statistic, p_value;           /* chi square with variants - 1 degrees, ties corrected */
    double critical_difference;          /* of mean ranks, Nemenyi at .05; NAN = not tabled */
};

/* `values[b * variants + v]` of at most AN_RANKS_VARIANTS variants. */
struct an_friedman an_friedman_test(const double *values, size_t blocks, size_t variants);

#endif
