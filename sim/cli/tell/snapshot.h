/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of a stored run at one moment (see snapshot.c). */
#ifndef SIM_CLI_SNAPSHOT_H
#define SIM_CLI_SNAPSHOT_H

#include "analysis/moment.h"
#include "sim/cli/tell/analysis_options.h"

struct sim_snapshot {
    const char *database;
    struct sim_run_choice choice;
    struct an_moment at;
    bool is_document; /* for weir decide, instead of the `initial` mapping of a scenario */
    const struct sim_options *options; /* modules */
    FILE *out;
};
/* An exit code. */
int sim_snapshot(const struct sim_snapshot *asked);

#endif
