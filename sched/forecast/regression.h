/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Least squares on features, learned as time goes on.
 *
 * A row is 1, the latest two values and the features at the end of an interval; what follows it k
 * intervals later is one regression for each k within the reach, all on the same rows. A row is
 * learned from when its whole reach is over, and what was learned `memory` intervals ago counts
 * 1/e. So the state is sums of products, and no rows of long ago are kept.
 *
 * The columns are scaled to one length, and a small ridge makes the answer unique where columns say
 * the same (Hoerl and Kennard 1970). It is solved by Cholesky, O(columns^3) a question: there are
 * few columns, so libm is enough and a controller needs no other library. Columns of the week count
 * once a week was seen: before, they would be a trend that never ends.
 */
#ifndef SCHED_FORECAST_REGRESSION_H
#define SCHED_FORECAST_REGRESSION_H

#include "sched/internal/memory.h"
#include "weir/forecast.h"

enum {
    WEIR_REGRESSION_OWN = 3, /* 1 and two values, then features */
    WEIR_REGRESSION_COLUMNS = WEIR_REGRESSION_OWN + WEIR_FEATURE_COUNT,
    WEIR_REGRESSION_REACH = 512 /* intervals ahead, at most */
};

struct weir_regression {
    uint32_t reach;  /* intervals ahead */
    uint32_t groups; /* that are read: bits */
    uint32_t week;   /* intervals of one */
    double kept;     /* part of what was learned that still counts an interval later */
    double *rows;    /* the latest reach + 1, in a ring */
    double *with;    /* sums of products of rows with what followed, by k */
    double products[WEIR_REGRESSION_COLUMNS * WEIR_REGRESSION_COLUMNS]; /* with one another */
    double largest;                                                     /* value so far */
    uint64_t seen;                                                      /* rows */
};

/* `reach`, `groups`, `week` and `kept` are set by the caller. */
weir_status weir_regression_open(struct weir_regression *regression,
                                 const struct weir_allocator *allocator);
void weir_regression_close(struct weir_regression *regression,
                           const struct weir_allocator *allocator);
/* An interval is over. O(columns x (columns + reach)). */
void weir_regression_add(struct weir_regression *regression, double value, const double *features);
/* Rows that were learned from. */
uint64_t weir_regression_learned(const struct weir_regression *regression);
/* What follows the latest row `ahead` intervals later, at least 1; not below 0, and not above twice
 * the largest value so far: what was never seen is not trusted. */
double weir_regression_at(const struct weir_regression *regression, uint32_t ahead);
void weir_regression_remember(struct weir_regression *regression, struct weir_memory *memory);

#endif
