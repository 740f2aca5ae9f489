/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Prints a comparison of variants: a block of rows a metric for people, a document for machines,
 * the finding and the method below.
 */
#ifndef SIM_CLI_COMPARE_PRINT_H
#define SIM_CLI_COMPARE_PRINT_H

#include "analysis/change.h"
#include "analysis/observed.h"
#include "sim/cli/table.h"

/* How far a run of a variant is from one measured curve. */
struct sim_compare_error {
    const char *variant;
    struct an_observed_error judged;
};

/* What stands beside the measures, where somebody asked for it. */
struct sim_compare_more {
    const struct an_change_of_work *change; /* why one does more; NULL = nobody asked */
    struct sim_compare_error *errors;       /* variant by variant, curve by curve */
    size_t error_count;
};

/* TABLE and MD: a block of variants for each metric, figures rounded, ratios in percent. JSON and
 * CSV: full precision, units as stored. `more` NULL = nothing. */
void sim_compare_print(const struct an_comparison *comparison, const struct sim_compare_more *more,
                       enum sim_format format, FILE *out);

#endif
