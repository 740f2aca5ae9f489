/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The flight recorder's question: the input of a decision that was taken, as `weir decide` reads
 * it.
 */
#ifndef SIM_CLI_EXPLAIN_DECIDE_H
#define SIM_CLI_EXPLAIN_DECIDE_H

#include "analysis/moment.h"
#include "sim/cli/tell/analysis_options.h"

#include <stdio.h>

/* Repeats the run from its row in the database and writes what its first `count` decisions at or
 * after `at_s` start from, of several each on a line. Returns an exit code. */
struct sim_decide_question {
    const char *database;
    const struct sim_run_choice *choice;
    struct an_moment at;
    uint32_t count;
    FILE *out;
};
int sim_explain_decide(const struct sim_decide_question *question,
                       const struct sim_options *options);

#endif
