/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The settings of policies that are tuned, as --variant words. */
#ifndef SIM_CLI_TUNE_SETTINGS_H
#define SIM_CLI_TUNE_SETTINGS_H

#include "sim/cli/ask/tune.h"

/* Fills arms and words; a setting that the scenario refuses is left out for another one. */
int sim_tune_settings(struct sim_tune *tune, const struct sim_words *policies,
                      const struct sim_simulate_options *simulate);
/* "as it is" or "horizon=80, keep=0.3". */
const char *sim_tune_setting(const struct sim_tune *tune, size_t arm, size_t setting);

#endif
