/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Job traces, whatever their format: the registry of formats and the one function that reads them.
 *
 * A format is a reader and a test on the head of a file. `table` reads any CSV through a column map
 * (column_map.h); maps of known traces are built in. Files may be plain, gzip or zstd.
 */
#ifndef WORKLOADS_TRACE_H
#define WORKLOADS_TRACE_H

#include "workloads/job.h"

struct wl_column_map;

struct wl_trace_options {
    const char *path; /* for messages, and to open when `bytes` is NULL */
    const uint8_t *bytes;
    size_t byte_count;
    enum wl_bad_row on_bad_row;
    const struct wl_column_map *map; /* of `table` */
    const struct wl_limits *limits;  /* NULL = the defaults */
};

/* What is known of a file before it is read. */
struct wl_trace_head {
    const char *line; /* the first that is not blank; "" = there is none */
    const char *const
        *names; /* the same, cut at the delimiter as a header would be; NULL = empty */
    size_t name_count;
};

struct wl_trace_format {
    const char *name, *summary;
    bool (*is_this)(const struct wl_trace_head *head); /* NULL = only when asked for */
    weir_status (*read)(const struct wl_trace_options *options, struct wl_jobs *jobs,
                        struct weir_error *error);
    bool needs_map;             /* which column says what */
    bool counts_processors;     /* and says no more: what one is, is somebody else's to say */
    bool is_killed_at_estimate; /* a job that ran longer than it asked for was killed there */
    bool is_indivisible;        /* its jobs stand on one node, however large */
};
extern const struct wl_trace_format wl_trace_formats[];
extern const size_t wl_trace_formats_count;
/* The format called `name`, or NULL. */
const struct wl_trace_format *wl_trace_format_find(const char *name);

/* Finds out what a file is: its format, and for `table` the name of a built-in map (else NULL).
 * WEIR_EFORMAT when it is nothing known. */
weir_status wl_trace_recognise(const struct wl_trace_options *options,
                               const struct wl_trace_format **format, const char **map,
                               struct weir_error *error);

/* Whether the head has every one of `count` columns. */
bool wl_trace_head_has(const struct wl_trace_head *head, const char *const *names, size_t count);

#endif
