/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Traces and tables of nodes that were read, each once, for all who ask for the same: the variants
 * of an experiment mostly differ in something else. The same is: the file (its name, and what the
 * system says of it, so that one that was written anew is read anew), the format, the column map
 * and what a bad row does.
 */
#ifndef WL_TRACE_SHELF_H
#define WL_TRACE_SHELF_H

#include "workloads/openb.h"

struct wl_trace_shelf;

/* What a file held: a trace its jobs, a table of nodes those. */
struct wl_shelved {
    struct wl_jobs jobs;
    struct wl_openb_nodes nodes;
};

/* NULL = out of memory. */
struct wl_trace_shelf *wl_trace_shelf_open(void);
void wl_trace_shelf_close(struct wl_trace_shelf *shelf);

/* The rows of the file at options->path, read now or before; they are the shelf's and stay as they
 * are. `format` NULL = openb's table of nodes. `map` names options->map, NULL = there is none. A
 * failure is not kept. */
weir_status wl_trace_shelf_read(struct wl_trace_shelf *shelf, const struct wl_trace_format *format,
                                const char *map, const struct wl_trace_options *options,
                                const struct wl_shelved **rows, struct weir_error *error);

#endif
