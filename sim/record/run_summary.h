/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a run answers at once, beside the rows it wrote: how it ended and what it cost. Its
 * results are rows (struct sim_results of record.h).
 */
#ifndef SIM_RECORD_RUN_SUMMARY_H
#define SIM_RECORD_RUN_SUMMARY_H

#include "weir/status.h"

#include <stdint.h>

/* Work was left that nothing would ever do, and neither a horizon nor an interrupt cut it off. */
#define SIM_ENDED_EARLY        "ended early"
/* A witness has seen what it asked for, and the rest was not run; never of a row. */
#define SIM_WAS_ENOUGH         "was enough"
/* Of a row of `run`: it needs not be run again. */
#define SIM_RUN_IS_FINISHED    "status IN ('complete', 'horizon', '" SIM_ENDED_EARLY "')"
#define SIM_METRIC_ENDED_EARLY "run.ended_early"    /* 1 or 0 */
#define SIM_METRIC_EARLY_S     "run.ended_early.at" /* s; only of those that did */

enum { SIM_RUN_MESSAGE = WEIR_ERROR_TEXT };

/* Plain data without pointers: it crosses from a worker process to its parent. */
struct sim_run_summary {
    weir_status status;
    char outcome[16]; /* complete | horizon | ended early | interrupted | failed */
    char message[SIM_RUN_MESSAGE];
    uint32_t variant_order, replication;
    uint64_t seed;
    uint64_t digest, result_digest, events, items_done;
    double simulated_s;
    double completion_s; /* NAN = not complete */
    double early_s;      /* since when nothing could happen; NAN = it did not end early */
    double wall_s, cpu_s, peak_rss_mib;
};

#endif
