/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What report, plot and explain share: which run of a database is meant, and how failures of the
 * analysis become exit codes.
 */
#ifndef SIM_CLI_ANALYSIS_OPTIONS_H
#define SIM_CLI_ANALYSIS_OPTIONS_H

#include "analysis/analysis.h"
#include "sim/cli/options.h"

struct sim_run_choice {
    const char *variant; /* NULL = baseline */
    uint32_t replication;
};

/* Of a struct sim_run_choice: --variant LABEL, --replication N. */
extern const struct sim_option_table sim_run_choice_options;

/* Prints "weir: message" and gives the exit code: what was asked for is not there = usage. */
int sim_analysis_exit(weir_status status, const struct weir_error *error);

#endif
