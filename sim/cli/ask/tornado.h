/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of what was varied one value at a time (--vary). */
#ifndef SIM_CLI_TORNADO_H
#define SIM_CLI_TORNADO_H

#include "analysis/points.h"
#include "sim/cli/table.h"

/* Of the goal, or of every metric that is named. */
weir_status sim_tornado_print(struct an_db *db, const struct an_points *points,
                              const struct an_compare_options *query, enum sim_format format,
                              struct weir_error *error);

#endif
