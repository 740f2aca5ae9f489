/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of `weir export` (see export.c). */
#ifndef SIM_CLI_EXPORT_H
#define SIM_CLI_EXPORT_H

#include "analysis/database/query.h"
#include "sim/cli/tell/analysis_options.h"

/* Tasks of a stored run, lives of its workers, queues and what happened, as a Chrome trace
 * (export_trace.c). The run is repeated for its tasks; at most `limit` of them, 0 = a million. */
struct sim_trace_request {
    const char *database, *output;
    const struct sim_run_choice *choice;
    const struct sim_options *options; /* modules */
    uint64_t limit;
};
int sim_export_trace(const struct sim_trace_request *request);

#endif
