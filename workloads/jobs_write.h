/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jobs as a CSV file of weir's own: all that struct wl_job holds, times in exact seconds, nothing
 * where nothing is known. `table` with the map `weir` reads it back.
 */
#ifndef WORKLOADS_JOBS_WRITE_H
#define WORKLOADS_JOBS_WRITE_H

#include "workloads/job.h"

#include <stdio.h>

enum { WL_SECONDS_TEXT = 32 };

weir_status wl_jobs_write(const struct wl_jobs *jobs, FILE *out, struct weir_error *error);

/* "12", "0.5", "-3.000000001": as many digits as there are. Returns `text`. */
const char *wl_seconds_text(int64_t time_ns, char text[WL_SECONDS_TEXT]);

#endif
