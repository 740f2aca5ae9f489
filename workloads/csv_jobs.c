/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See the header. */
#include "workloads/csv_jobs.h"

static weir_status keep_messages(const struct wl_csv_counts *counts, struct wl_jobs *jobs,
                                 struct weir_error *error)
{
    for (size_t i = 0; i < counts->skipped && i < WL_CSV_MESSAGES; i++)
        WEIR_TRY(wl_jobs_skip(jobs, counts->messages[i], error));
    jobs->skipped = counts->skipped;
    return WEIR_OK;
}

weir_status wl_csv_read_jobs(const struct wl_trace_options *options,
                             const struct wl_csv_options *csv, const struct wl_csv_sink *sink,
                             struct wl_jobs *jobs, struct weir_error *error)
{
    struct wl_csv_counts counts = { 0 };
    struct wl_csv_options complete = *csv;
    complete.path = options->path;
    complete.bytes = options->bytes;
    complete.byte_count = options->byte_count;
    complete.limits = options->limits;
    complete.skips_bad_rows = options->on_bad_row == WL_BAD_ROW_IS_SKIPPED;
    weir_status status = wl_csv_read(&complete, sink, &counts, error);
    if (status == WEIR_OK)
        status = keep_messages(&counts, jobs, error);
    if (status != WEIR_OK)
        wl_jobs_clear(jobs);
    return status;
}
