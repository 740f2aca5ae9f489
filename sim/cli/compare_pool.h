/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A suite: the points of an experiment (traces, scenarios, sizes) as blocks, one observation each,
 * and what they say together about every pair of variants.
 *
 * A mean difference over blocks has blocks - 1 degrees of freedom: replications of one block say
 * nothing about another. Beside it stand tests by ranks.
 */
#ifndef SIM_CLI_COMPARE_POOL_H
#define SIM_CLI_COMPARE_POOL_H

#include "analysis/points.h"
#include "sim/cli/table.h"

/* Of the goal, or of the metrics of the query. */
weir_status sim_pool_print(struct an_db *db, const struct an_points *points,
                           const struct an_compare_options *query, enum sim_format format,
                           struct weir_error *error);

#endif
