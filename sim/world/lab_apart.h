/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The policy of a static experiment in a process of its own: there is a copy of the lab, made
 * before the first arrival and before the module is loaded, which is told what is put and taken,
 * and is asked for the places of one job after the other. What it answers is checked on the belief
 * here (sim/lab/job_placer.h), then admitted by the truth as ever.
 */
#ifndef SIM_WORLD_LAB_APART_H
#define SIM_WORLD_LAB_APART_H

#include "sim/lab/job_placer.h"
#include "sim/port/policy_process.h"

struct sim_lab;
struct sim_run_options;

struct sim_lab_apart {
    struct sim_policy_process process;
    struct sim_lab_elsewhere elsewhere;
    struct sim_scenario *scenario; /* of the lab; there, it gets the policy itself */
    struct sim_lab *lab;
    const char *name; /* of the policy */
    bool is_lost;
};

/* From now on `lab` asks there. `apart` must not move. Of the scenario that the lab was made with.
 */
weir_status sim_lab_apart_start(struct sim_lab_apart *apart, struct sim_scenario *scenario,
                                struct sim_lab *lab, const struct sim_run_options *options,
                                struct weir_error *error);
/* Nothing to do for one that is all zero. */
void sim_lab_apart_stop(struct sim_lab_apart *apart);

#endif
