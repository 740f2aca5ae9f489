/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The flight recorder's question: the input of a decision that was taken, as `weir decide` reads
 * it.
 */
#ifndef SIM_CLI_EXPLAIN_DECIDE_H
#define SIM_CLI_EXPLAIN_DECIDE_H

#include "sim/cli/analysis_options.h"

#include <stdio.h>

/* Repeats the run from its row in the database up to the first decision at or after `at_s` and
 * writes what that decision starts from to `out`. Returns an exit code. */
int sim_explain_decide(const char *database, const struct sim_run_choice *choice, double at_s,
                       const struct sim_options *options, FILE *out);

#endif
