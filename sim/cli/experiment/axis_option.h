/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * --axis PATH=VALUES: a path of the scenario and the values it takes, one after the other. All
 * values of one axis with all of another are the points of an experiment.
 *
 *   --axis cluster.nodes.dgx.count=2,4,8       a list; commas in brackets and quotes are of a value
 *   --axis cluster.nodes.dgx.count=2..10:2     a range, both ends and a step (without one: 1)
 *   --axis jobs.openb.arrivals.load=50%..90%:10%
 *   --axis sched.placement=fgd,best_fit        policies: compared within a point, not points
 *
 * --vary PATH=+-20% (or PATH=low,high) changes one value at a time: variants beside the scenario as
 * it is, all at one point.
 */
#ifndef SIM_CLI_AXIS_OPTION_H
#define SIM_CLI_AXIS_OPTION_H

#include "sim/cli/options.h"

enum {
    SIM_AXES = 16,         /* most of an experiment */
    SIM_AXIS_VALUES = 4096 /* of one axis, and points of an experiment */
};

/* Goes along files: each is the scenario at its points. */
#define SIM_AXIS_SCENARIO "scenario"

struct sim_axis {
    char *path;
    char *name; /* the shortest end of the path that no other axis has */
    char **values;
    size_t count;
    bool is_policy;        /* a policy of the scheduler */
    bool is_span;          /* of a Latin hypercube: from .. to, from which values are drawn */
    double from, to, step; /* step 0 = any number between them */
    char unit[32];
};

/* Which combinations of the values are points. */
enum sim_design {
    SIM_DESIGN_GRID, /* all */
    SIM_DESIGN_LIST, /* the first value of every axis, the second of every axis ... */
    SIM_DESIGN_LHS,  /* a Latin hypercube, which becomes a list */
    SIM_DESIGN_VARY  /* the scenario as it is, and one value changed at a time */
};

struct sim_axes {
    struct sim_axis *items;
    size_t count;
    enum sim_design design;
    size_t drawn;           /* points of a Latin hypercube */
    bool replaces_variants; /* those of the scenario are left out */
};

/* How many points they make. */
size_t sim_axes_points(const struct sim_axes *axes);

/* The policy of a kind, not one of its parameters. */
bool sim_axis_is_policy(const char *path);

/* False when a word is no axis: what is wrong with it was printed. `axes` has its design, and is
 * always to be cleared. */
bool sim_axes_parse(const struct sim_words *words, struct sim_axes *axes);
void sim_axes_clear(struct sim_axes *axes);

#endif
