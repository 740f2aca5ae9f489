/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Points that are not all combinations: Latin hypercubes, and one value changed at a time.
 */
#ifndef SIM_CLI_DESIGN_H
#define SIM_CLI_DESIGN_H

#include "sim/cli/experiment/axis_option.h"
#include "sim/scenario/scenario.h"

/* One value more. False = out of memory. */
bool sim_axis_add(struct sim_axis *axis, const char *text, size_t length);

/* axes->drawn points as a list (McKay, Beckman, Conover 1979): the range of each axis falls into so
 * many equal parts, and each is met once; of values that are listed each as often as another. The
 * same axes draw the same points. False: what is wrong was printed. */
bool sim_design_draw(struct sim_axes *axes);

/* Whether all points of a list differ; says it when they do not. */
bool sim_design_differs(const struct sim_axes *axes);

/* Puts the value of the scenario in front of those of --vary, and numbers in place of shares of it
 * ("+-20%"); draws a Latin hypercube, of whole numbers where only those can stand. False: what is
 * wrong was printed. */
bool sim_design_settle(struct sim_axes *axes, const struct sim_scenario *scenario);

#endif
