/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a scheduler is told of a node: the catalogue's word, which may differ from the truth.
 */
#ifndef SIM_SCENARIO_BELIEF_H
#define SIM_SCENARIO_BELIEF_H

#include "sim/scenario/scenario.h"
#include "weir/cluster.h"

/* Fills `spec` for node `index` of the scenario; its GPUs go into `gpus`. The id is the index. */
weir_status sim_belief_node(const struct sim_scenario *scenario, uint32_t index,
                            struct weir_gpu_spec gpus[WEIR_MAX_NODE_GPUS],
                            struct weir_node_spec *spec, struct weir_error *error);

#endif
