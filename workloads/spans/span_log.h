/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A log of spans in memory: who worked on what from when to when (docs/spans.md).
 *
 * One row is one item in one task, or the set-up of one worker. Names become dense indices in the
 * order of their first appearance. Times are seconds since whatever the log counts from; where it
 * has stamps (2026-04-12T11:00:00.125Z), since the whole second of the earliest one. Rows that
 * share stage, worker, start and end are one task; `task_rows` of its first row counts them.
 */
#ifndef WORKLOADS_SPAN_LOG_H
#define WORKLOADS_SPAN_LOG_H

#include "workloads/csv_table.h"

#define WL_NO_NAME UINT32_MAX

/* What logs call these columns, beside their names here. */
#define WL_SPAN_STAGE "stage_name|step|operator"
#define WL_SPAN_START "start_time|started|started_at|start_ts|begin|began|begin_time|begin_ts"
#define WL_SPAN_END                                                                                \
    "end_time|ended|ended_at|end_ts|finish|finished|finished_at|finish_time|finish_ts"

struct wl_names {
    char **names;
    size_t count, capacity;
    void *tree; /* name -> index */
};

struct wl_span {
    double queued_s, start_s, end_s; /* queued: NAN = not known */
    double size;                     /* NAN = not known */
    double returns;                  /* NAN = not known */
    uint32_t stage, worker, node, gpu;
    uint32_t batch; /* as written; 0 = not known */
    uint32_t attempt;
    uint32_t task_rows; /* of the first row of a task: how many rows it has, else 0 */
    bool is_setup, has_failed;
    double task_size, task_returns; /* of the first row of a task: sums over its rows */
};

struct wl_span_log {
    struct wl_names stages, workers, nodes, gpus;
    struct wl_span *spans;
    size_t count, capacity;
    bool has_arrival, has_queued, has_worker, has_node, has_gpu, has_size, has_batch, has_returns,
        has_attempt, has_kind;
    bool has_stamps;
    bool is_abroad;       /* some stamp shows another time of day than UTC */
    int64_t start_unix_s; /* of time 0, where there are stamps */
    struct wl_csv_counts counts;
};

struct wl_span_options {
    const char *path;
    const uint8_t *bytes; /* instead of the file; NULL = read it */
    size_t byte_count;
    const char *const *columns; /* "start=ts": the log's word for a column of ours */
    size_t columns_count;
    double unit_s;    /* of the times in the log; 0 = 1 */
    const char *zone; /* of stamps that have none, "+01:00"; NULL = UTC */
    char delimiter;
    bool skips_bad_rows;
    const struct wl_limits *limits; /* NULL = the defaults */
};

/* Errors name file, line and field. The log is the caller's: wl_span_log_clear, also on failure. */
weir_status wl_span_log_read(const struct wl_span_options *options, struct wl_span_log *log,
                             struct weir_error *error);
void wl_span_log_clear(struct wl_span_log *log);

#endif
