/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A chart in the making: what the C file of a chart fills in.
 *
 * A chart computes its finding (the title) and its data from the query layer, writes rows to
 * `data` (NAME.dat) and gnuplot commands to `body` (part of NAME.gp). All positions are pixels of a
 * sheet 1000 wide, y downwards from the top of the content; title, subtitle and footer are added
 * around it, or left out for HTML, which has its own. Every panel ends with an_chart_draw_end().
 * User text reaches gnuplot only through the functions below.
 */
#ifndef ANALYSIS_CHART_H
#define ANALYSIS_CHART_H

#include "analysis/claim.h"
#include "analysis/facts.h"
#include "analysis/points.h"
#include "analysis/text.h"
#include "weir/version.h"

enum { AN_CHART_WIDTH = 1000, AN_CHART_BINS = 240 };

/* Contrast and distance under colour blindness were computed for these; no purple beside grey. */
#define AN_INK             "#1f2933"
#define AN_MUTED           "#66727f"
#define AN_GRID            "#e6e9ed"
#define AN_BLUE            "#0072b2"
#define AN_ORANGE          "#d98f00"
#define AN_GREEN           "#009e73"
#define AN_GREY            "#7b8794"
#define AN_SKY             "#56b4e9"
#define AN_PALE            "#d7dde3"
#define AN_PALE_BLUE       "#cfe3f0"
#define AN_VERMILLION      "#d55e00"
#define AN_PINK            "#cc79a7"
/* Of text: at least 4.5 to 1 on white. */
#define AN_VERMILLION_TEXT "#b34700"
#define AN_ORANGE_TEXT     "#8f5e00"
#define AN_GREEN_TEXT      "#00795a"

/* What others lay over charts; all of it borrowed, all of it optional. */
/* A measured curve under the simulated one of a panel: `of` is the chart and the name of the panel
 * or strip, "throughput finished", "queues caption". */
struct an_curve {
    const char *of;
    const double *t_s, *values;
    size_t count;
};
struct an_extras {
    const struct an_curve *curves;
    size_t curve_count;
};

struct an_chart {
    const char *name;               /* of its kind */
    const struct an_extras *extras; /* NULL = none */
    const struct an_run *run;
    const struct an_facts *facts;
    const struct an_plot_options *options;
    double height;      /* of the content; set by the chart before anything else */
    char title[240];    /* the finding */
    char subtitle[360]; /* what, unit, aggregation */
    char empty[240];    /* not "": nothing to draw, and why */
    double header, footer;
    double window_row;          /* px over a panel for the names of windows */
    double left, right;         /* of the present panel */
    double span_s;              /* of the time axis; 0 = that of the run */
    double point_s;             /* true width of its points in time, 0 = none */
    double at_s;                /* the moment it shows; NAN = none */
    bool is_bare;               /* part of a page, which has its texts beside it */
    bool is_about_all;          /* all variants and replications, not one run: for the footer */
    size_t blocks;              /* of data written so far */
    double top, bottom;         /* of the present panel, px */
    size_t tracks;              /* panels over time so far */
    FILE *data, *body, *script; /* the last: what the page's script knows; NULL = nobody asks */
    FILE *under;                /* objects below all panels */
    const char *
        *names; /* long ones of the file, as an_chart_word() asks for them; NULL = not yet */
    size_t name_count;
    struct an_keeper keeper; /* of frames and numbers that live as long as the chart */
};

/* A chart: one C file, one line in the registry. `draw` fills the chart or its `empty` text. */
struct an_plot_ops {
    struct an_plot_info info;
    weir_status (*draw)(struct an_chart *chart, struct weir_error *error);
};

void an_chart_title(struct an_chart *chart, const char *format, ...) WEIR_PRINTF(2, 3);
/* The first claim that holds of names split by blanks becomes the title; where none does, the
 * question of the chart is. */
weir_status an_chart_claim(struct an_chart *chart, const char *names, struct weir_error *error);
/* "{width}" becomes the true width of a point in time. */
void an_chart_subtitle(struct an_chart *chart, const char *format, ...) WEIR_PRINTF(2, 3);
weir_status an_chart_empty(struct an_chart *chart, const char *format, ...) WEIR_PRINTF(2, 3);

/* ---- queries ---- */

/* A frame that lives as long as the chart. `args` NULL = about the chart's run: :run, :id its
 * replication, :from the end of its warm-up. */
weir_status an_chart_query(struct an_chart *chart, const char *sql, const struct an_args *args,
                           const struct an_frame **frame, struct weir_error *error);
/* ---- data ---- */

/* Starts the next block of the data file (`index` in gnuplot) and returns its number. `columns` are
 * names split by blanks. */
size_t an_chart_block(struct an_chart *chart, const char *title, const char *columns);
/* A text cell: in double quotes, which it cannot hold itself. */
void an_chart_cell(struct an_chart *chart, const char *text);

/* ---- panels and texts ---- */

struct an_box {
    double x0, y0, x1, y1;
};
/* Margins of the next plot. */
void an_chart_panel(struct an_chart *chart, const struct an_box *box);
/* Ends the texts and marks of a panel; after its plot command. */
void an_chart_draw_end(struct an_chart *chart);
/* Of an experiment over axes: `draw` has its points. */
weir_status an_chart_of_points(struct an_chart *chart,
                               weir_status (*draw)(struct an_chart *chart,
                                                   const struct an_points *points,
                                                   struct weir_error *error),
                               struct weir_error *error);

struct an_label {
    double x, y;       /* the middle of the text's height */
    const char *color; /* NULL = ink */
    double size;       /* px; 0 = 12 */
    char align;        /* l c r; 0 = l */
    bool is_bold, is_upright;
};
void an_chart_text(struct an_chart *chart, const struct an_label *label, const char *format, ...)
    WEIR_PRINTF(3, 4);
/* A name in so many characters: whole, or cut so that it is no other of the file's variants,
 * stages, nodes and labels. */
struct an_word an_chart_word(struct an_chart *chart, const char *name, size_t characters);
void an_chart_forget_names(struct an_chart *chart);
/* A name as a label in `room` px: smaller letters first, then an_chart_word(). */
void an_chart_name(struct an_chart *chart, const struct an_label *label, const char *name,
                   double room);
/* A filled rectangle in front or behind (`layer` "front" or "behind"). */
void an_chart_rectangle(struct an_chart *chart, const struct an_box *box, const char *color,
                        const char *layer);

/* Makes room over the panels for the names of windows, where there are some; before drawing. */
weir_status an_chart_head_room(struct an_chart *chart, struct weir_error *error);

/* Pushes up to 16 label positions apart and keeps their order: at least `gap` px between
 * neighbours, within [low, high] where that leaves room. */
void an_push_apart(double *y, size_t count, double gap, double low, double high);

/* ---- time ---- */

struct an_grid;
/* A panel over time, for whoever moves over it on the page: the values of its series as they lie
 * one after the other on the grid, in the unit of its axis. Called after an_chart_panel(). */
struct an_track {
    const char *name; /* of the panel, "" = it is the only one */
    const char *unit;
    double low, high; /* of the axis */
    const struct an_grid *grid;
    const double *series;
    size_t count;
    const char *const *names; /* of the series */
    bool is_stacked;          /* a single series is not at its own height */
};
void an_chart_track(struct an_chart *chart, const struct an_track *track);
/* The measured curve of a panel as one more piece of its plot command, ", \\\n ..."; its data go
 * into a block of their own. Nothing when nobody measured it. `scale` turns it into the unit of
 * the axis. After all blocks that the command counts. */
void an_chart_curve(struct an_chart *chart, const char *panel, double scale);

/* Equal bins over the whole run; at most AN_CHART_BINS. */
struct an_grid {
    double from_s, to_s, step_s;
    size_t bins;
};
struct an_grid an_chart_grid(struct an_chart *chart, size_t samples);
size_t an_grid_bin(const struct an_grid *grid, double t_s);
/* Time-weighted means per bin of `column` over `rows` rows from `first` on; columns 0 and 1 of the
 * frame are t_s and dt_s. NAN where no sample lies. */
struct an_span {
    size_t first, rows;
};
void an_grid_means(const struct an_grid *grid, const struct an_frame *frame, struct an_span span,
                   size_t column, double *means);
/* The grid of a frame and the means of `count` columns from the third on, one after the other; they
 * live as long as the chart. */
weir_status an_chart_means(struct an_chart *chart, const struct an_frame *frame, size_t count,
                           struct an_grid *grid, double **series, struct weir_error *error);
/* Rows "t_s value..." of `count` series that lie one after the other, two a run of equal bins: its
 * start and its end. */
void an_chart_rows(struct an_chart *chart, const struct an_grid *grid, const double *series,
                   size_t count);
/* A step in the units people use for time that gives at most nine ticks. */
double an_duration_step(double span_s);
/* x range and ticks of the present panel: minutes, hours, days, or clock times. */
void an_chart_time_axis(struct an_chart *chart, bool has_labels);
/* Pixel of a moment in the present panel. */
/* Dashed lines at what happened from outside, over the height y0 to y1, labels above y0; windows
 * as shades behind. */
weir_status an_chart_happenings(struct an_chart *chart, double y0, double y1,
                                struct weir_error *error);
/* The largest of values from 0 on; NAN is none. */
double an_largest(const double *values, size_t count);
/* A round upper end for an axis that starts at 0. */
double an_axis_top(double largest);
/* A tick step that gives about `count` ticks up to `top`. */
double an_axis_step(double top, double count);
/* Seconds, minutes, hours or days for an axis of numbers up to so many seconds; in s. */
double an_time_unit(double most_s, const char **word);

#endif
