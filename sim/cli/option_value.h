/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values of options: from the text of a command line into the field that its row names. */
#ifndef SIM_CLI_OPTION_VALUE_H
#define SIM_CLI_OPTION_VALUE_H

#include "sim/cli/options.h"

/* `text` into the field at `to`. Wrong usage ends the program with a sentence. */
void sim_option_take(const struct sim_option *row, const char *text, void *to,
                     const struct argp_state *state);

/* A share as "2%" or 0.02, above 0; false: what is wrong was printed. */
bool sim_option_share(const char *option, const char *text, double *share);

#endif
