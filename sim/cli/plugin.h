/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Plug-ins: shared objects with policies (--plugin FILE), beside the built-in ones.
 */
#ifndef SIM_CLI_PLUGIN_H
#define SIM_CLI_PLUGIN_H

#include "sim/cli/options.h"
#include "sim/scenario/scenario.h"

/* Built-ins and the policies of the named files: stand-ins for them (sim/port/module.h), or with
 * `in_process` the policies themselves, which stay loaded until the program ends. Returns an exit
 * code; messages went to standard error. */
int sim_plugins_load(const struct sim_words *paths, bool in_process, struct sim_policies *policies);

/* Says after `who` that there is no policy of that name, and which name is nearest. */
void sim_policies_refuse(const char *who, const struct sim_policies *policies, const char *name);

void sim_plugins_clear(struct sim_policies *policies);

#endif
