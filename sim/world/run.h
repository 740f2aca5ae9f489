/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One run from a resolved scenario to its results: world, recorder rows, checks, summary.
 */
#ifndef SIM_RUN_H
#define SIM_RUN_H

#include "sim/record/run_summary.h"
#include "sim/world/world.h"

/* Runs once. The status is also in the summary; a failed run has its rows up to the failure. */
weir_status sim_run(const struct sim_scenario *scenario, const struct sim_run_options *options,
                    struct sim_run_summary *summary);

/* Writes and commits the row of a run that is about to start, marked `running`: whatever happens to
 * its process, the database tells. sim_run does it too, a merged shard replaces it. */
weir_status sim_run_announce(const struct sim_scenario *scenario,
                             const struct sim_run_options *options, struct weir_error *error);

#endif
