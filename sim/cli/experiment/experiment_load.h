/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The scenarios of an experiment: one a variant, the first of which is what others are relative to.
 */
#ifndef SIM_CLI_EXPERIMENT_LOAD_H
#define SIM_CLI_EXPERIMENT_LOAD_H

#include "sim/cli/experiment/experiment.h"

/* Fills scenarios, labels and points; an exit code. Mistakes were printed. */
int sim_experiment_load(const struct sim_experiment_options *options,
                        struct sim_experiment *experiment);
/* Reads the scenario of a variant that was left until it is wanted. */
weir_status sim_experiment_need(const struct sim_experiment_options *options,
                                struct sim_experiment *experiment, size_t variant,
                                struct weir_error *error);

#endif
