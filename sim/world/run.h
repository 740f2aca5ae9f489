/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One run from a resolved scenario to its results: world, recorder rows, checks, summary.
 */
#ifndef SIM_RUN_H
#define SIM_RUN_H

#include "sim/world/world.h"

enum { SIM_RUN_MESSAGE = WEIR_ERROR_TEXT, SIM_RUN_RESULTS = 1024, SIM_RUN_NAME = 96 };

struct sim_run_value {
    char metric[SIM_RUN_NAME];
    char label[SIM_RUN_NAME];
    double value;
};

/* Plain data without pointers: it crosses from a worker process to its parent. */
struct sim_run_summary {
    weir_status status;
    char outcome[16]; /* complete | horizon | interrupted | failed */
    char message[SIM_RUN_MESSAGE];
    uint32_t variant_order, replication;
    uint64_t seed;
    uint64_t digest, result_digest, events, items_done;
    double simulated_s;
    double completion_s; /* NAN = not complete */
    double wall_s, cpu_s, peak_rss_mib;
    double decision_mean_ms, decision_max_ms;
    double asked_s; /* wall time of bounds, causes and what-if questions of a static workload */
    char advice[SIM_RUN_NAME]; /* the one change that frees most GPUs; "" = none */
    uint32_t value_count;
    struct sim_run_value values[SIM_RUN_RESULTS];
};

/* Runs once. The status is also in the summary; a failed run has its rows up to the failure. */
weir_status sim_run(const struct sim_scenario *scenario, const struct sim_run_options *options,
                    struct sim_run_summary *summary);

/* Writes and commits the row of a run that is about to start, marked `running`: whatever happens to
 * its process, the database tells. sim_run does it too, a merged shard replaces it. */
weir_status sim_run_announce(const struct sim_scenario *scenario,
                             const struct sim_run_options *options, struct weir_error *error);

/* A result by metric and label, NAN when there is none. */
double sim_run_value(const struct sim_run_summary *summary, const char *metric, const char *label);

#endif
