/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Curves of several groups, variants or users or sizes of jobs, over one axis: up to six share a
 * panel, each with a colour and a dash of its own; of more every group gets a small panel in which
 * the others are grey.
 */
#ifndef ANALYSIS_PLOTS_CURVES_H
#define ANALYSIS_PLOTS_CURVES_H

#include "analysis/plots/rows.h"

enum { AN_CURVES_TOGETHER = 6, AN_CURVES_MOST = 12, AN_CURVE_PANELS = 4 };

enum an_curve_axis { AN_AXIS_TIME, AN_AXIS_DURATION, AN_AXIS_NUMBER };

struct an_curve_panel {
    const char *title;
    enum an_curve_axis axis; /* of x; time is that of the run */
    double low, high;        /* of x, above 0 where it is logarithmic */
    bool is_log;
    double top;                           /* of y, which starts at 0 */
    const char *unit;                     /* of y: "%" or "" */
    bool is_stepped;                      /* constant up to the next point */
    struct an_grid grids[AN_CURVES_MOST]; /* over time: of its values, which live with the chart */
    const double *series[AN_CURVES_MOST]; /* NULL = none */
    size_t blocks[AN_CURVES_MOST];        /* "x y" of each group; SIZE_MAX = it has none */
};

struct an_curves {
    const char *names[AN_CURVES_MOST];
    size_t count;
    struct an_curve_panel panels[AN_CURVE_PANELS];
    size_t panel_count;
    bool is_wide; /* panels below each other, the width of the sheet */
};

/* A panel more, whose groups have nothing yet; `title` lives as long as the curves. */
struct an_curve_panel *an_curve_panel(struct an_curves *curves, const char *title,
                                      enum an_curve_axis axis);
/* Adds means over time of a group: its data, and what the page tells of them. */
weir_status an_curve_means(struct an_chart *chart, struct an_curve_panel *panel, size_t group,
                           const struct an_grid *grid, const double *means,
                           struct weir_error *error);
/* Chooses the ends of a panel's axis for values of which the least above 0 and the largest are
 * known: logarithmic over two decades and more. */
void an_curve_range(struct an_curve_panel *panel, double least, double most);
/* Sets the height of the chart and draws all of it. */
weir_status an_curves_draw(struct an_chart *chart, const struct an_curves *curves,
                           struct weir_error *error);

/* Ticks of a logarithmic x axis from `low` to `high` that has the pixels of `box`: 1, 3, 10 ..., of
 * durations in the units people use. Sets its range, too. */
void an_log_axis(struct an_chart *chart, const struct an_box *box, double low, double high,
                 bool is_duration);

#endif
