/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * --observed FILE: measured curves as a table (CSV) with the columns time, metric, stage and value
 * (docs/feed.md). Mistakes are told by file, line and column.
 */
#ifndef SIM_CLI_OBSERVED_H
#define SIM_CLI_OBSERVED_H

#include "analysis/observed.h"

/* `path` NULL = nothing was measured. Times are of a run that starts at start_unix_s. To be cleared
 * whatever comes back. */
weir_status sim_observed_read(const char *path, int64_t start_unix_s, struct an_observed *observed,
                              struct weir_error *error);

/* The same for the baseline of a database: when it started. */
weir_status sim_observed_of(struct an_db *db, const char *path, struct an_observed *observed,
                            struct weir_error *error);

#endif
