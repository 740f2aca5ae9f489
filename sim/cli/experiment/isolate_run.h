/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One run in a process of its own, for commands that repeat runs with plug-ins: a crash or an
 * endless loop there becomes a sentence and WEIR_EPOLICY.
 */
#ifndef SIM_CLI_ISOLATE_RUN_H
#define SIM_CLI_ISOLATE_RUN_H

#include "sim/world/run.h"

#include <stdio.h>

struct sim_policies;

/* Whether any policy is from a plug-in. */
bool sim_isolate_needed(const struct sim_policies *policies);

/* sim_run in a child. `database` gets the rows (NULL = none; the options carry no recorder), `out`
 * is flushed at the end of the child. */
weir_status sim_isolate_run(const struct sim_scenario *scenario,
                            const struct sim_run_options *options, const char *database, FILE *out,
                            struct sim_run_summary *summary);

#endif
