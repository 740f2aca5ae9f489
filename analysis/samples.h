/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The values of a metric by variant and replication, and how much of the work they are about.
 */
#ifndef ANALYSIS_SAMPLES_H
#define ANALYSIS_SAMPLES_H

#include "analysis/database/query.h"

/* A variant of which a run failed is left out and named; the others are compared without it. Where
 * some ran on alone, only what all of them ran is compared. */
#define AN_RUNS                                                                                    \
    "(SELECT * FROM run WHERE variant NOT IN (SELECT variant FROM run WHERE status = 'failed')"    \
    " AND replication < coalesce((SELECT CAST(value AS INTEGER) FROM main.meta WHERE"              \
    " key = 'paired_to'), replication + 1))"

/* Values by variant, then replication, of one metric. */
struct an_samples {
    double *values; /* NAN = none */
    size_t variants, replications;
    const struct an_frame *frame;
    char unit[32];
    double parts; /* labels that a value is made of */
};

weir_status an_samples_read(struct an_keeper *keeper, const char *metric, size_t variants,
                            struct an_samples *samples, struct weir_error *error);
const double *an_samples_of(const struct an_samples *samples, size_t variant);
/* Whether one is a bound from below; whether they are without more than 5 % of the work. */
bool an_samples_are_bound(const struct an_samples *samples, size_t variant);
bool an_samples_are_partial(const struct an_samples *samples, size_t variant);

#endif
