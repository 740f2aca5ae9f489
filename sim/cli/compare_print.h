/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Prints a comparison of variants: a block of rows a metric for people, a document for machines,
 * the finding and the method below.
 */
#ifndef SIM_CLI_COMPARE_PRINT_H
#define SIM_CLI_COMPARE_PRINT_H

#include "analysis/change.h"
#include "sim/cli/table.h"

/* TABLE and MD: a block of variants for each metric, figures rounded, ratios in percent. JSON and
 * CSV: full precision, units as stored. `change`: why one does more; NULL = nobody asked. */
void sim_compare_print(const struct an_comparison *comparison,
                       const struct an_change_of_work *change, enum sim_format format, FILE *out);

#endif
