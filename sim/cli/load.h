/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Loading a scenario for a command: plug-ins and --set from the options, remarks printed.
 */
#ifndef SIM_CLI_LOAD_H
#define SIM_CLI_LOAD_H

#include "sim/cli/options.h"
#include "sim/scenario/scenario.h"

/* Code 2 for an invalid scenario, 3 for a file that cannot be read. */
int sim_cli_exit_code(weir_status status);

/* Loads `path` and prints remarks to standard error. Returns an exit code; 0 sets *scenario. */
/* `metric_named` of a source: the names that tables print. */
const char *sim_cli_metric(const char *name, const char **unit, const char **near);

/* `moment_since` of a source: the reader of moments that every command has. */
weir_status sim_cli_moment(const char *text, int64_t start_unix_s, double *at_s,
                           struct weir_error *error);

int sim_cli_load(const char *path, const struct sim_options *options,
                 const struct sim_policies *policies, struct sim_scenario **scenario);

#endif
