/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What weir show tells of a result database: the actors and the tenants of its runs. */
#ifndef SIM_CLI_SHOW_RESULTS_H
#define SIM_CLI_SHOW_RESULTS_H

#include "sim/cli/table.h"

/* Prints them; the exit code. */
int sim_show_results(const char *path, enum sim_format format);

#endif
