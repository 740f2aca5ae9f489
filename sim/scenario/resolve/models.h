/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The model catalogue: what a stage that names a `model` does not say itself, the model says.
 *
 * Done on the tree, before the schema reads it, so that every rule about stages holds for what came
 * from the catalogue too, and its mistakes are reported where they stand.
 */
#ifndef SIM_SCENARIO_MODELS_H
#define SIM_SCENARIO_MODELS_H

#include "sim/scenario/read/yaml.h"
#include "sim/scenario/report.h"

/* A completed copy of the tree. */
struct sim_yaml *sim_models_fill(struct sim_arena *arena, struct sim_report *report,
                                 const struct sim_yaml *root);

#endif
