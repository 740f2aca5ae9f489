/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Prints an experiment with axes: one row a point and variant, each point compared by itself.
 */
#ifndef SIM_CLI_COMPARE_POINTS_H
#define SIM_CLI_COMPARE_POINTS_H

#include "analysis/points.h"
#include "sim/cli/experiment/experiment.h"
#include "sim/cli/table.h"

/* People get the goal and what stands next to it, or the metrics of `query`; programs get all.
 * `is_unexpected`: a run ended early and no expectation says so. */
weir_status sim_points_print(struct an_db *db, const struct an_points *points,
                             const struct an_compare_options *query, enum sim_format format,
                             bool *is_unexpected, struct weir_error *error);

/* What would be run. */
void sim_points_plan(const struct sim_experiment *experiment, enum sim_format format);

#endif
