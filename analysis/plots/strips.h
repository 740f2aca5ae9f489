/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Strips: one thin panel a stage over a common time axis, in pipeline order. Shared by the charts
 * that show stages over time; it owns the layout, the chart owns what a strip shows.
 */
#ifndef ANALYSIS_PLOTS_STRIPS_H
#define ANALYSIS_PLOTS_STRIPS_H

#include "analysis/chart.h"

#include <string.h>

/* One strip, while it is drawn. */
struct an_strip {
    size_t stage; /* index into the facts */
    size_t block; /* of its data */
    double y0, y1, middle;
    double largest; /* of the first series */
    bool is_tight;  /* room for one line of text only */
};

struct an_strips {
    const char *sql;     /* columns: t_s, dt_s, the series, stage; ordered by stage, t_s */
    const char *columns; /* of the data file */
    size_t series, stage_column;
    void (*draw)(struct an_chart *chart, const struct an_strip *strip);
    void (*draw_key)(struct an_chart *chart, double y); /* NULL = none */
};

/* Draws all stages; empty when there are no samples. */
weir_status an_strips_draw(struct an_chart *chart, const struct an_strips *strips,
                           struct weir_error *error);

#endif
