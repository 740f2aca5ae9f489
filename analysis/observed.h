/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What was measured elsewhere, beside what was simulated: curves over time that lie under those of
 * charts, and how far the simulation is from each.
 *
 * The error of a curve is taken at its points that lie within the run: the sum of the distances to
 * the mean of the sample that holds the point, over the sum of the measured values. 0.1 = on
 * average a tenth of what was measured.
 */
#ifndef ANALYSIS_OBSERVED_H
#define ANALYSIS_OBSERVED_H

#include "analysis/chart/chart.h"

enum { AN_OBSERVED_CURVES = 64, AN_OBSERVED_NAME = 96 };

/* What can be measured of a run: throughput (1/s), of a stage queue (items) and workers. */
struct an_observed_metric {
    const char *name;
    const char *chart; /* where it lies under a curve */
    bool is_of_stage;
    const char *unit;
    const char *sql; /* t_s, dt_s and the value of every sample of :run, of stage :text */
};
size_t an_observed_metric_count(void);
const struct an_observed_metric *an_observed_metric_at(size_t index);

struct an_observed_curve {
    const struct an_observed_metric *metric;
    char stage[AN_OBSERVED_NAME]; /* "" = of no stage */
    char of[2 * AN_OBSERVED_NAME];
    double *t_s, *values; /* ascending */
    size_t count, capacity;
};

struct an_observed {
    struct an_observed_curve curves[AN_OBSERVED_CURVES];
    struct an_curve laid[AN_OBSERVED_CURVES];
    size_t count;
    struct an_extras extras;
};

/* A point of the curve of that metric and stage, later than those before it. WEIR_EINVAL: earlier,
 * or of too many curves. */
weir_status an_observed_add(struct an_observed *observed, const struct an_observed_metric *metric,
                            const char *stage, double t_s, double value, struct weir_error *error);
/* After the last point. */
void an_observed_end(struct an_observed *observed);
void an_observed_clear(struct an_observed *observed);

struct an_observed_error {
    const struct an_observed_curve *curve;
    size_t points;          /* within the run */
    double error;           /* NAN = no point lies within the run, or nothing was measured */
    double measured, found; /* means over the points */
    char text[320];         /* the sentence; "" = none */
};
/* Of one curve and one run. WEIR_EINVAL: the run has no such stage. */
weir_status an_observed_judge(struct an_db *db, const struct an_run *run,
                              const struct an_observed_curve *curve,
                              struct an_observed_error *judged, struct weir_error *error);

#endif
