/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Spans of a run to a file (docs/spans.md): CSV, CSV in gzip, or a Chrome trace when the name ends
 * in .json or .json.gz.
 *
 * An exporter is an observer of one run; it writes as the run goes and keeps nothing.
 */
#ifndef SIM_CLI_SPAN_EXPORT_H
#define SIM_CLI_SPAN_EXPORT_H

#include "sim/scenario/scenario.h"
#include "sim/worker/context.h"

struct sim_span_export;

/* At most `limit` rows or trace events are written; 0 = all rows, a million trace events. */
weir_status sim_span_export_open(const char *path, uint64_t limit,
                                 const struct sim_scenario *scenario, struct sim_span_export **made,
                                 struct weir_error *error);
const struct sim_observer *sim_span_export_observer(const struct sim_span_export *made);
/* Completes the file; says on standard error how many rows the limit cut off. `made` is gone. */
weir_status sim_span_export_close(struct sim_span_export *made, struct weir_error *error);

#endif
