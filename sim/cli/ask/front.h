/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weir search --front: of all combinations of the axes that keep the conditions of the goal those
 * that nothing else beats in both cost and goal (Pareto). What is on the front is run again on
 * replications that nobody has seen, and stays when nothing else of the front beats it there.
 */
#ifndef SIM_CLI_FRONT_H
#define SIM_CLI_FRONT_H

#include "analysis/goal.h"
#include "sim/cli/ask/tried.h"
#include "sim/cli/experiment/experiment.h"
#include "sim/cli/table.h"

struct sim_front_value {
    struct sim_tried cost, goal;             /* on what all were run on */
    struct sim_tried fresh_cost, fresh_goal; /* on what confirms */
    bool holds, holds_fresh;                 /* the conditions of the goal, by their means */
    bool is_on_front, is_confirmed;
    size_t beaten_by; /* where it holds and is not on the front, or not confirmed */
};

struct sim_front {
    const char *cost; /* id of the metric; less is better */
    uint32_t replications;
    struct an_goal goal;
    struct sim_front_value *values; /* by variant */
    size_t count, rounds_done;
    struct sim_rounds rounds;
    char rule[128];
};

/* `count` variants; cost and replications are set. False = out of memory. */
bool sim_front_begin(struct sim_front *front, size_t count);
void sim_front_end(struct sim_front *front);
int sim_front_print(const struct sim_front *front, const struct sim_experiment *experiment,
                    enum sim_format format);

#endif
