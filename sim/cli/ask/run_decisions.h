/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The worker counts after every decision and the tasks of every stage, from the database. */
#ifndef SIM_CLI_RUN_DECISIONS_H
#define SIM_CLI_RUN_DECISIONS_H

#include "sim/cli/experiment/experiment.h"
#include "sim/cli/json_writer.h"

/* Adds "stages": [{name, completed, workers}] and "decisions": [{t_s, workers: [...], slots:
 * [...]}] of one run to the open object; nothing when the database cannot be read. */
void sim_run_decisions_write(struct sim_json *json, const struct sim_experiment *experiment,
                             size_t run);

#endif
