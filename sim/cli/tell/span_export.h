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
/* From now on a trace says of a task which item it is, and no more where nothing is unusual: the
 * file is two thirds as long. */
void sim_span_export_brief(struct sim_span_export *made);
/* So many more there were, which it was not told of. */
void sim_span_export_unseen(struct sim_span_export *made, uint64_t count);
/* What a trace shows besides tasks. */
struct sim_span_life { /* of a worker */
    const char *name, *why;
    uint32_t node;
    uint64_t worker;
    double start_s, end_s;
};
void sim_span_export_life(struct sim_span_export *made, const struct sim_span_life *life);
void sim_span_export_counter(struct sim_span_export *made, const char *name, double t_s,
                             double value);
void sim_span_export_mark(struct sim_span_export *made, const char *name, double t_s);
/* As below; `failed` other than WEIR_OK leaves what stood there. */
weir_status sim_span_export_end(struct sim_span_export *made, weir_status failed,
                                struct weir_error *error);
/* Completes the file; says on standard error how many rows the limit cut off. `made` is gone. */
weir_status sim_span_export_close(struct sim_span_export *made, struct weir_error *error);

#endif
