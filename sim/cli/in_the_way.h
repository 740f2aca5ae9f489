/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Nothing is overwritten silently: what an option names is refused when somebody's file is there.
 * Pages and SVG charts that weir made itself are renewed without a word: their database is there,
 * and makes them again. An empty file, a pipe or a device is in nobody's way.
 */
#ifndef SIM_CLI_IN_THE_WAY_H
#define SIM_CLI_IN_THE_WAY_H

#include "sim/cli/options.h"

/* --force. */
extern const struct sim_option_table sim_force_option; /* of a bool */

/* SIM_EXIT_INPUT after a sentence on standard error that begins with `command` (as "weir import"),
 * else SIM_EXIT_OK. `path`: NULL or "-" = standard output. */
int sim_in_the_way(const char *command, const char *path, bool is_forced);

#endif
