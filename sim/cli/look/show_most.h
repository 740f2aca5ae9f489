/* SPDX-License-Identifier: GPL-3.0-or-later */
/* weir show: the most that jobs can get, whoever schedules. */
#ifndef SIM_CLI_SHOW_MOST_H
#define SIM_CLI_SHOW_MOST_H

#include "sim/lab/load_bound.h"

#include <stdio.h>

struct sim_most {
    struct sim_load_bound load; /* jobs in time; most NAN = nothing is said */
    /* A fill: GPUs that its jobs, each once, ask for, and those that can be allocated of them; NAN
     * = there is none, or it is not known how many jobs come. */
    double asked_gpus, most_gpus, gpus;
};

/* Errors: WEIR_ENOMEM. */
weir_status sim_show_most(const struct sim_scenario *scenario, struct sim_most *most);
/* Nothing where nothing is said. */
void sim_print_most(const struct sim_most *most, FILE *out);

#endif
