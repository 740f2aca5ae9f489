/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stages by what they may be called: "stage" or "pipeline.stage". Sorted once, so that a file that
 * names every stage is read in the time of its length, but for a logarithm.
 */
#ifndef SIM_SCENARIO_STAGE_NAMES_H
#define SIM_SCENARIO_STAGE_NAMES_H

#include "sim/scenario/arena.h"
#include "sim/scenario/scenario.h"

struct sim_stage_name {
    const char *name;
    uint32_t stage;
};

struct sim_stage_names {
    struct sim_stage_name *items; /* by name, then by stage; NULL = not sorted yet */
    size_t count;
};

/* How many stages are called so; *found is the last of them. */
uint32_t sim_stage_names_find(struct sim_stage_names *names, struct sim_arena *arena,
                              const struct sim_scenario *scenario, const char *name,
                              uint32_t *found);

#endif
