/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a run answers at once, beside the rows it wrote: how it ended, what it cost, its results.
 */
#ifndef SIM_RECORD_RUN_SUMMARY_H
#define SIM_RECORD_RUN_SUMMARY_H

#include "weir/status.h"

#include <stdint.h>

/* Work was left that nothing would ever do, and neither a horizon nor an interrupt cut it off. */
#define SIM_ENDED_EARLY        "ended early"
#define SIM_METRIC_ENDED_EARLY "run.ended_early" /* 1 or 0 */

enum { SIM_RUN_MESSAGE = WEIR_ERROR_TEXT, SIM_RUN_RESULTS = 1024, SIM_RUN_NAME = 96 };

struct sim_run_value {
    char metric[SIM_RUN_NAME];
    char label[SIM_RUN_NAME];
    double value;
};

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
    double decision_mean_ms, decision_max_ms;
    double asked_s; /* wall time of bounds, causes and what-if questions of a static workload */
    char advice[SIM_RUN_NAME]; /* the one change that frees most GPUs; "" = none */
    uint32_t value_count;
    struct sim_run_value values[SIM_RUN_RESULTS];
};

#endif
