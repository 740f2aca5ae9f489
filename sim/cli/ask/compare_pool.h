/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A suite: the points of an experiment (traces, scenarios, sizes) as blocks, one observation each,
 * and what they say together about every pair of variants.
 *
 * A mean difference over blocks has blocks - 1 degrees of freedom: replications of one block say
 * nothing about another. Several points may make one block, which is their mean. Beside it stand
 * tests by ranks.
 */
#ifndef SIM_CLI_COMPARE_POOL_H
#define SIM_CLI_COMPARE_POOL_H

#include "analysis/points.h"
#include "sim/cli/table.h"

struct sim_pool_options {
    const struct an_compare_options *query; /* of the goal, or of the metrics that it names */
    const char
        *block; /* points with the same value of this axis are one block; NULL = each is one */
    double min_effect; /* a change by less than this share does not matter; 0 = any does */
    enum sim_format format;
};
weir_status sim_pool_print(struct an_db *db, const struct an_points *points,
                           const struct sim_pool_options *options, struct weir_error *error);

#endif
