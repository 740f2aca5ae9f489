/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What weir show tells of the days to come, by the features that a database keeps. */
#ifndef SIM_CLI_SHOW_AHEAD_H
#define SIM_CLI_SHOW_AHEAD_H

#include "sim/cli/table.h"

/* The most that will be asked for in each of so many days; the exit code. */
int sim_show_ahead(const char *path, uint32_t days, enum sim_format format);

#endif
