/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What all readers of jobs from CSV files share: bad rows go from the reader's counts to the jobs,
 * and a failed reading leaves nothing behind.
 */
#ifndef WORKLOADS_CSV_JOBS_H
#define WORKLOADS_CSV_JOBS_H

#include "workloads/csv_table.h"
#include "workloads/trace.h"

/* Completes `csv` (columns, delimiter, header) with the file and the treatment of bad rows, and
 * reads it into the sink, which fills `jobs`. On failure `jobs` is cleared. */
weir_status wl_csv_read_jobs(const struct wl_trace_options *options,
                             const struct wl_csv_options *csv, const struct wl_csv_sink *sink,
                             struct wl_jobs *jobs, struct weir_error *error);

#endif
