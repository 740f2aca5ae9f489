/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `weir compare A B`: scenarios, databases, or one of each. A scenario is run (with the seed and as
 * many replications as the other has), one variant is taken of each, and the two become one
 * database.
 */
#ifndef SIM_CLI_COMPARE_TWO_H
#define SIM_CLI_COMPARE_TWO_H

#include "analysis/change.h"
#include "sim/cli/experiment/simulate_options.h"

bool sim_is_database(const char *path);
/* What else there is counts as a scenario; 0 = there is no such file, which whoever reads it says.
 */
uint32_t sim_file_kind(const char *path);

/* The joined database: `options->output`, or a file of its own, whose name is malloc'ed. Returns an
 * exit code; what went wrong was printed. */
int sim_compare_join(const struct sim_simulate_options *options, const struct sim_words *files,
                     const char *command_line, char **database);

/* Stage by stage what was there before and after, and what follows; not as JSON. */
void sim_change_print(const struct an_change_of_work *change, enum sim_format format, FILE *out);
void sim_change_write_json(const struct an_change_of_work *change, struct sim_json *json);

#endif
