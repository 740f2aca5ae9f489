/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From a chart to a picture: writes NAME.dat and NAME.gp and runs gnuplot. The report draws many
 * charts with one gnuplot process, so drawing and running are two steps.
 */
#ifndef ANALYSIS_PLOT_H
#define ANALYSIS_PLOT_H

#include "analysis/chart/chart.h"

const struct an_plot_ops *an_plot_ops_at(size_t index);
/* NULL when there is no such chart. */
const struct an_plot_ops *an_plot_ops_find(const char *name);

/* What one drawing needs; borrowed. */
struct an_plot_job {
    struct an_db *db;
    const struct an_run *run;
    const struct an_facts *facts;
    const struct an_plot_options *options;
    const char *folder;             /* for NAME.dat and NAME.gp */
    const char *output;             /* as gnuplot finds it from `folder`; .svg .png .pdf .txt */
    bool is_bare;                   /* without title, subtitle and footer */
    const struct an_extras *extras; /* laid over charts; NULL = nothing */
};

/* What was drawn, for those who show the texts themselves. */
struct an_plot_texts {
    char title[240], subtitle[360];
    bool is_empty;
    char *data;   /* the text of NAME.dat; malloc'ed */
    char *script; /* its panels over time as JSON, "" = it has none; malloc'ed */
};

/* Writes NAME.dat and NAME.gp. `texts` may be NULL. */
weir_status an_plot_write(const struct an_plot_ops *plot, const struct an_plot_job *job,
                          struct an_plot_texts *texts, struct weir_error *error);
/* The panels over time alone, nothing is written: malloc'ed, "" = it has none. */
weir_status an_plot_tracks(const struct an_plot_ops *plot, const struct an_plot_job *job,
                           char **script, struct weir_error *error);
void an_plot_texts_clear(struct an_plot_texts *texts);

#endif
