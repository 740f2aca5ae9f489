/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A trace in CSV: columns found by their heading, cells read strictly.
 *
 * A byte order mark is dropped, a row with another number of cells than the heading is an error.
 * Every error names FILE:line:column (the column of the table, from 1) and what was found. The
 * whole table is kept in memory; large traces want a reader that goes row by row.
 */
#ifndef WORKLOADS_TRACE_CSV_H
#define WORKLOADS_TRACE_CSV_H

#include "weir/status.h"

#include <stddef.h>
#include <stdint.h>

#define WL_NO_COLUMN SIZE_MAX

struct wl_trace;

/* Errors: WEIR_EIO, WEIR_EFORMAT. */
weir_status wl_trace_read(const char *path, struct wl_trace **csv, struct weir_error *error);
void wl_trace_destroy(struct wl_trace *csv);

size_t wl_trace_rows(const struct wl_trace *csv);
/* Position of a column, or WL_NO_COLUMN. */
size_t wl_trace_find(const struct wl_trace *csv, const char *name);
/* The same; WEIR_EFORMAT when there is none. */
weir_status wl_trace_column(const struct wl_trace *csv, const char *name, size_t *column,
                            struct weir_error *error);
/* A cell; "" for WL_NO_COLUMN. */
const char *wl_trace_cell(const struct wl_trace *csv, size_t row, size_t column);

/* A cell as a whole number within [min, max]. */
struct wl_range {
    int64_t min, max;
};
weir_status wl_trace_whole(const struct wl_trace *csv, size_t row, size_t column,
                           struct wl_range range, int64_t *value, struct weir_error *error);
/* Fails with WEIR_EFORMAT: "FILE:line:column: column 'x': MESSAGE". */
weir_status wl_trace_fail(const struct wl_trace *csv, size_t row, size_t column,
                          const char *message, struct weir_error *error);

#endif
