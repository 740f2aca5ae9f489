/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which single change would raise a pipeline's integer bound most?
 *
 * Tried are: a smaller GPU request for each stage (one GPU fewer, 0.5, 0.25 of a GPU), 0.25 GPU for
 * all the least loaded stages together, one node more and one fewer of each kind. A smaller share
 * is assumed not to slow the stage down; whether that holds must be measured.
 */
#ifndef SIM_SCENARIO_IMPROVE_H
#define SIM_SCENARIO_IMPROVE_H

#include "sim/scenario/bound.h"

enum sim_change_kind {
    SIM_CHANGE_LIGHT, /* smaller requests of stages with little GPU work */
    SIM_CHANGE_HEAVY, /* ... of a stage with more than its share: likely to slow it down */
    SIM_CHANGE_NODE   /* the number of nodes */
};

struct sim_change {
    char *text;           /* "T5Stage: gpus 1 -> 0.25" */
    double integer_per_s; /* the bound then */
    double fluid_per_s;
    double gain; /* of the integer bound: 0.5 = 50 % more */
    enum sim_change_kind kind;
};

struct sim_changes {
    struct sim_change *items; /* most gain first; ties in the order they were tried */
    size_t count;
};

weir_status sim_improve(const struct sim_scenario *scenario, uint32_t pipeline,
                        struct sim_changes *changes);
void sim_changes_clear(struct sim_changes *changes);

#endif
