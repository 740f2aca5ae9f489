/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Arrivals of a trace as a chart, in the style of the others: how many an hour over the whole time,
 * and on average at every hour of the day.
 */
#ifndef ANALYSIS_ARRIVALS_H
#define ANALYSIS_ARRIVALS_H

#include "weir/status.h"

#include <stddef.h>

struct an_arrivals {
    const char *name;      /* of the trace */
    const uint32_t *hours; /* arrivals of each hour */
    size_t hour_count;
    double from_s;      /* the first hour, after the trace's zero */
    double zero_unix_s; /* NAN when the trace has no date */
    double per_hour, dispersion;
};

/* Draws PATH (.svg), with the script and the data beside it: NAME.gp and NAME.dat draw it again. */
weir_status an_arrivals_plot(const char *path, const struct an_arrivals *arrivals,
                             struct weir_error *error);

#endif
