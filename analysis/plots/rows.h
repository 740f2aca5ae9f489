/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Charts of static experiments that have a row, or two, for every variant: which variants there
 * are, means of results over the replications, and the key.
 */
#ifndef ANALYSIS_PLOTS_ROWS_H
#define ANALYSIS_PLOTS_ROWS_H

#include "analysis/chart/chart.h"

enum { AN_ROWS = 12 };

/* Means of results by (variant, metric, label) of all metrics that begin with a prefix. */
struct an_rows {
    const struct an_frame *frame;  /* the chart's */
    const char *variants[AN_ROWS]; /* in their order; those beyond are left out */
    size_t count;
    double replications; /* most runs of a variant */
};

weir_status an_rows_read(struct an_chart *chart, const char *prefix, struct an_rows *rows,
                         struct weir_error *error);
/* NAN when there is none. */
double an_rows_value(const struct an_rows *rows, size_t variant, const char *metric,
                     const char *label);

struct an_key {
    const char *text, *color;
};
/* Lines of coloured squares with their names, from x on; returns the y of the last. */
double an_rows_key(struct an_chart *chart, const struct an_key *keys, size_t count,
                   const struct an_label *at);
/* "12 replications" or "1 run", for subtitles. */
struct an_word an_rows_runs(const struct an_rows *rows);

extern const char *const an_row_colors[AN_ROWS];

#endif
