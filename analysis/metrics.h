/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The metrics that comparisons and reports know by name: title, unit and which direction is better.
 * Ids are those of docs/metrics.md. A metric that is not listed can still be compared: it is shown
 * under its id and has no better direction.
 */
#ifndef ANALYSIS_METRICS_H
#define ANALYSIS_METRICS_H

#include <stdbool.h>
#include <stddef.h>

struct an_metric {
    const char *id;
    const char *label; /* short, for table headings */
    const char *unit;
    const char *title; /* what it is, for subtitles */
    int better;        /* +1 more, -1 less, 0 neither */
    bool is_default;   /* in the default set of a comparison */
    /* It follows what is asked for: in a window more of it is not better, unless it is the goal.
     * Who has no backlog to work off has less. */
    bool is_demanded;
};

size_t an_metric_count(void);
const struct an_metric *an_metric_at(size_t index);
/* Of ID@WINDOW that of ID. NULL when the id is not listed. */
const struct an_metric *an_metric_find(const char *id);
/* The id of a metric that is named by its id or by its label, "throughput" as "thr.pipeline"; what
 * neither names is taken for an id. A ":label" behind it stays where it is for the caller. */
const char *an_metric_named(const char *name);

/* What a scenario expects, as tables name it: "outage: latency p95 of x <= 8m" of what stands in
 * the table expectation, lat.e2e.p95@outage[x] <= 480; "(1.05 x best_fit)" stays behind it. `unit`
 * is for metrics that are not listed, and lives as long as what comes back. */
struct an_expected {
    char text[280];
    const char *unit;
};
struct an_expected an_expected_of(const char *said, double bound, const char *unit);

#endif
