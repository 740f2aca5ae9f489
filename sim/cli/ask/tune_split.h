/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether what judges was not tuned on. Other replications of a scenario are other work where it
 * draws something; of another scenario no job of a trace, and no recorded item, may be one of those
 * of the first: other rows of one trace are another trace.
 */
#ifndef SIM_CLI_TUNE_SPLIT_H
#define SIM_CLI_TUNE_SPLIT_H

#include "sim/cli/ask/tune.h"

/* Of an experiment that was laid out: the first scenario is tuned on, the others judge; where there
 * is no other, its own further replications do. False after saying what is the same. `tune` learns
 * what its replications differ in. */
bool sim_tune_split(const struct sim_experiment *experiment, struct sim_tune *tune);

/* Whether a file that is to judge is the one that is tuned on, which is then said. */
bool sim_tune_is_tuned(const char *tuned, const char *judge);

#endif
