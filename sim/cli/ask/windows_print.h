/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Windows on paper: a table of a comparison (of one variant, too) by window, for `run` and
 * `compare`; and where the windows of a scenario lie, for `show`.
 */
#ifndef SIM_CLI_WINDOWS_PRINT_H
#define SIM_CLI_WINDOWS_PRINT_H

#include "analysis/analysis.h"
#include "sim/cli/table.h"

#include <stdio.h>

/* Nothing where the database has no windows. For people (table, md); programs find the same values
 * among the metrics, as ID@WINDOW. */
weir_status sim_windows_print(struct an_db *db, const struct an_comparison *comparison,
                              enum sim_format format, FILE *out, struct weir_error *error);
/* The same of a database that a run has just written. */
weir_status sim_windows_print_file(const char *path, enum sim_format format, FILE *out,
                                   struct weir_error *error);

#endif
