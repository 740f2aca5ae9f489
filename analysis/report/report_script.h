/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the page's script reads: facts of the run, what happened, what was decided and why, each
 * chart's panels over time in all variants. Embedded once as JSON; without script it is not seen.
 *
 * A page loads nothing: its policy forbids that, and every text in it was read from a file.
 */
#ifndef ANALYSIS_REPORT_SCRIPT_H
#define ANALYSIS_REPORT_SCRIPT_H

#include "analysis/plot.h"
#include "analysis/report/report_tables.h"

/* Other variants than the page's, in their order, that its charts can be compared with. */
enum { AN_OVERLAYS = 6 };
struct an_overlays {
    struct an_run *runs[AN_OVERLAYS];
    struct an_facts *facts[AN_OVERLAYS];
    size_t count;
};
weir_status an_overlays_read(struct an_db *db, const struct an_run *run,
                             struct an_overlays *overlays, struct weir_error *error);
void an_overlays_clear(struct an_overlays *overlays);

/* Inside the figure of a chart; nothing when it has no panel over time. */
weir_status an_page_tracks(FILE *out, const struct an_plot_ops *plot, const char *own,
                           const struct an_plot_job *job, const struct an_overlays *overlays,
                           struct weir_error *error);
/* In the head. */
void an_page_policy(FILE *out);
/* Last in the body: facts and the script itself. */
weir_status an_page_script(const struct an_page *page, const struct an_overlays *overlays,
                           struct weir_error *error);

#endif
