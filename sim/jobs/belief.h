/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The scheduler's inventory of a scenario's nodes, for drivers that place jobs themselves: what
 * the catalogue says, not what is true.
 */
#ifndef SIM_JOBS_BELIEF_H
#define SIM_JOBS_BELIEF_H

#include "sim/scenario/scenario.h"

/* Appends node `index` of the scenario. */
weir_status sim_belief_add_node(struct weir_cluster *belief, const struct sim_scenario *scenario,
                                uint32_t index, struct weir_error *error);

#endif
