/* SPDX-License-Identifier: GPL-3.0-or-later */
/* weir show: what jobs ask for, held against the cluster. */
#ifndef SIM_CLI_SHOW_JOBS_H
#define SIM_CLI_SHOW_JOBS_H

#include "sim/cli/table.h"
#include "sim/scenario/scenario.h"

/* A row for every set of GPU types that jobs accept: GPU hours asked for and there, and the least
 * number of nodes by work. Without rows where no job asks for a GPU, or no time limits the run. */
struct sim_table *sim_show_jobs(const struct sim_scenario *scenario, enum sim_format format);

#endif
