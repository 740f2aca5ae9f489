/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The smallest change that helps after an incident, found by trying: the stored run is repeated
 * with other policies, which cost nothing, and then with more nodes of each kind, fewest first. A
 * change helps when it takes four fifths of what got worse since the first window.
 */
#ifndef SIM_CLI_WHAT_IF_H
#define SIM_CLI_WHAT_IF_H

#include "sim/cli/ask/windows_given.h"
#include "sim/cli/tell/analysis_options.h"

enum { SIM_WHAT_IF_TEXT = 480 };

struct sim_what_if {
    const char *database;
    const struct sim_run_choice *choice;
    const struct sim_windows_given *windows; /* in place of those of the scenario */
    const struct sim_options *options;
    FILE *out; /* every change and what it does; NULL = not wanted */
};

/* `text`: the sentence. Exit code, told on standard error. */
int sim_what_if(const struct sim_what_if *asked, char text[SIM_WHAT_IF_TEXT]);

#endif
