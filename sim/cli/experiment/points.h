/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The points of an experiment with axes: every variant of the scenario (and every policy of an axis
 * of policies) at every combination of the values of the axes.
 *
 * Variants stand point by point, the last axis fastest. Within a point they differ in what is
 * compared and share their random numbers with all others.
 */
#ifndef SIM_CLI_POINTS_H
#define SIM_CLI_POINTS_H

#include "sim/cli/experiment/axis_option.h"
#include "sim/scenario/scenario.h"

/* One variant: where it stands and what it is called there. */
struct sim_point {
    size_t point;
    char *arm;           /* within its point: "fgd" */
    const char **values; /* by axis; of the axes */
};

struct sim_points {
    struct sim_variant *variants; /* by variant: labels and settings */
    struct sim_point *points;     /* by variant */
    size_t count, point_count;
    const struct sim_axes *axes;
};

/* `arms`: variants of the scenario, NULL = the scenario as it is. `axes` outlives the points.
 * False: what is wrong was printed. `points` is always to be cleared. */
bool sim_points_make(const struct sim_axes *axes, const struct sim_variant *const *arms,
                     size_t arms_count, struct sim_points *points);
void sim_points_clear(struct sim_points *points);

/* The points as the database keeps them (meta `axes`); malloc'ed, NULL = out of memory. */
char *sim_points_json(const struct sim_points *points);
/* The statement that makes the view v_point, a column an axis; malloc'ed likewise. */
char *sim_points_view(const struct sim_points *points);

#endif
