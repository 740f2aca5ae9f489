/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Windows of a run: where they lie, and which metrics tables show by window.
 *
 * The simulator measures the windows of a scenario exactly and stores what it found as ID@WINDOW
 * (docs/windows.md). A span that was only asked for afterwards is put together from the samples and
 * rows that the file has, and what the file cannot say of it is named.
 */
#ifndef ANALYSIS_WINDOWS_H
#define ANALYSIS_WINDOWS_H

#include "analysis/database/query.h"

enum { AN_WINDOWS_MOST = 16, AN_WINDOW_NAME = 104 };

struct an_window {
    char name[AN_WINDOW_NAME];
    double from_s, to_s; /* NAN = to the end of the run */
};

struct an_windows {
    struct an_window list[AN_WINDOWS_MOST];
    size_t count;
};

/* None where the scenario has none. */
weir_status an_windows_read(struct an_db *db, struct an_windows *windows, struct weir_error *error);
/* The name behind the last @ of a metric; NULL = it is of the whole run. */
const char *an_window_of(const char *metric);
/* What tables by window show, in their order; NULL = no more. */
const char *an_window_metric(size_t index);
/* The index-th of these in a window, ID@WINDOW, metric by metric; false = no more. */
bool an_windows_metric(const struct an_windows *windows, size_t index, char *metric,
                       size_t capacity);
/* The id of a metric by the name that tables print: "throughput", "throughput:read" for a label,
 * "outage: throughput" for a window. */
void an_window_metric_named(const char *name, char *metric, size_t capacity);
/* "11:03:00 to 11:43:00" */
struct an_window_span {
    char text[80];
};
struct an_window_span an_window_span_text(const struct an_window *window, int64_t start_unix_s);

/* ---- tables ---- */

/* A metric of a comparison by window: its rows, NULL where the window has none. */
struct an_window_row {
    const struct an_metric_row *by_window[AN_WINDOWS_MOST];
    char label[160];
};
/* The index-th metric that some window has; false = no more. */
bool an_windows_row(const struct an_comparison *comparison, const struct an_windows *windows,
                    size_t index, struct an_window_row *row);
/* What a variant has in a window: mean, interval, and against the baseline "better", "worse" or "".
 * A recovery that did not come about is "not within the run". */
struct an_window_cell {
    char text[192];
    const char *verdict;
};
struct an_window_cell an_window_cell_of(const struct an_metric_row *row, size_t variant,
                                        int64_t start_unix_s);

#endif
