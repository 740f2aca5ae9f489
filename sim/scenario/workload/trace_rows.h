/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The jobs of a trace that come by its own times: each once, or as `scale` and `resample` of its
 * arrivals say. Time is never squeezed: a day stays a day, a burst a burst.
 *
 *   scale     more load: copies of the trace on top of it, each moved round the trace by a drawn
 *             number of whole weeks (of days where it has less than two weeks, of any time where it
 *             has less than two days), the last one thinned; less than 1: the trace thinned. What
 *             a smaller scale has, a larger one has, too.
 *   resample  every day is one of the trace's, drawn with replacement among those of the same
 *             weekday (of all where it has less than two weeks).
 *
 * Draws are of the replication and the row: all variants see the same jobs.
 */
#ifndef SIM_SCENARIO_WORKLOAD_TRACE_ROWS_H
#define SIM_SCENARIO_WORKLOAD_TRACE_ROWS_H

#include "sim/engine/random.h"
#include "sim/scenario/scenario.h"

struct sim_trace_row {
    int64_t at_ns;
    uint32_t spec;
    uint32_t copy; /* 0 = the row itself at its own time */
};

/* In the order in which they come; malloc'ed. */
weir_status sim_trace_rows_make(const struct sim_workload *workload,
                                const struct sim_random *random, struct sim_trace_row **rows,
                                size_t *count);
/* When a row of the trace comes by its own time. */
int64_t sim_trace_row_ns(const struct sim_workload *workload, uint32_t spec);
/* Days that the trace has from its first row that counts on. */
size_t sim_trace_days(const struct sim_workload *workload);

#endif
