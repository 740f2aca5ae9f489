/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What was varied one value at a time, in the order of how far it moves a measure.
 */
#ifndef ANALYSIS_TORNADO_H
#define ANALYSIS_TORNADO_H

#include "analysis/claim.h"
#include "analysis/points.h"

enum { AN_TORNADO_VALUES = 8 };

/* One path, and the variants in which it alone is changed. */
struct an_tornado_bar {
    const struct an_axis *axis;
    size_t variants[AN_TORNADO_VALUES]; /* of the comparison */
    size_t points[AN_TORNADO_VALUES];   /* of the points, the same variants */
    size_t count;                       /* those that have a mean */
    double low, high;                   /* of the means, the scenario as it is included */
};

struct an_tornado {
    struct an_tornado_bar bars[AN_AXES]; /* the widest first */
    size_t count;
};

/* `row` is of the comparison at the only point, whose first variant is the scenario as it is. */
void an_tornado_make(const struct an_points *points, const struct an_comparison *comparison,
                     const struct an_metric_row *row, struct an_tornado *tornado);

/* What is said of the widest bar; nothing when there is none, or no mean of the scenario as it is.
 */
void an_tornado_claim(const struct an_tornado *tornado, const struct an_comparison *comparison,
                      const struct an_metric_row *row, struct an_claim *claim);

#endif
