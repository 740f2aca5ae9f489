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

/* --variant LABEL, --replication N; its input is a struct sim_run_choice. */
extern const struct argp sim_run_choice_argp;

/* Seconds from "90", "90s", "15m", "1h30m", "2d", "01:20:00"; wrong usage ends the program. */
double sim_time_option(const char *text, const struct argp_state *state, const char *option);

/* Prints "weir: message" and gives the exit code: what was asked for is not there = usage. */
int sim_analysis_exit(weir_status status, const struct weir_error *error);

#endif
