/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Strips: one thin panel a stage over a common time axis, in pipeline order, or one of other things
 * that have names: links, nodes. Shared by the charts that show them over time; it owns the layout,
 * the chart owns what a strip shows.
 */
#ifndef ANALYSIS_PLOTS_STRIPS_H
#define ANALYSIS_PLOTS_STRIPS_H

#include "analysis/chart/chart.h"

#include <string.h>

struct an_strips;

/* One strip, while it is drawn. */
struct an_strip {
    size_t stage;      /* index into the facts, or into the names */
    const void *state; /* the chart's */
    size_t block;      /* of its data */
    double y0, y1, middle;
    double largest; /* of the first series */
    const struct an_strips *strips;
    const char *name;
    const struct an_grid *grid;
    const double *series;
    bool is_tight; /* room for one line of text only */
};

/* Names of strips that are no stages: at most so many, as SQL text. */
#define AN_STRIPS_SHOWN           12
#define AN_STRIPS_TEXT_OF(number) #number
#define AN_STRIPS_TEXT(number)    AN_STRIPS_TEXT_OF(number)
#define AN_STRIPS_SHOWN_SQL       AN_STRIPS_TEXT(AN_STRIPS_SHOWN)

struct an_strips {
    const char *sql;     /* columns: t_s, dt_s, the series, stage; ordered by stage, t_s */
    const char *columns; /* of the data file */
    const char *unit;    /* of the first series; "" = none */
    const char *words;   /* for the page: names of the series split by '|'; those behind stay out */
    bool is_stacked;
    size_t series, stage_column;
    const char *const *names; /* of strips that are no stages; NULL = the stages */
    size_t name_count;
    const char *nothing; /* said when there are no samples; NULL = it is about stages */
    const void *state;
    void (*draw)(struct an_chart *chart, const struct an_strip *strip);
    void (*draw_key)(struct an_chart *chart, double y); /* NULL = none */
};

/* What is there of something with a limit: the first series filled, the second as a line (not when
 * it is none), the third dotted; NAN leaves a gap. Up to `top`. */
void an_strip_level(struct an_chart *chart, const struct an_strip *strip, double top,
                    bool has_second);
/* Tells the page's script of a strip whose axis goes from `low` to `high`; an_strip_level() does.
 */
void an_strip_track(struct an_chart *chart, const struct an_strip *strip, double low, double high);
/* Two lines of text to the right of a strip; the second may be "". */
void an_strip_texts(struct an_chart *chart, const struct an_strip *strip, const char *first,
                    const char *second);

/* Draws all stages; empty when there are no samples. */
weir_status an_strips_draw(struct an_chart *chart, const struct an_strips *strips,
                           struct weir_error *error);
/* The same of the things in a frame, which have their names in its first column: the first
 * AN_STRIPS_SHOWN of them, with the frame as the state. */
weir_status an_strips_of(struct an_chart *chart, struct an_strips strips,
                         const struct an_frame *things, struct weir_error *error);
/* How many of them are drawn. */
size_t an_strips_shown(const struct an_frame *things);

#endif
