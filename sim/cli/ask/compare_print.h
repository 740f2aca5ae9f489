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

/* ---- for those who print several comparisons ---- */

enum { SIM_COMPARE_CELL = 160, SIM_COMPARE_COLUMNS = 14 };

/* The members of a comparison, into an object that is open. */
void sim_compare_json(struct sim_json *json, const struct an_comparison *comparison);
/* Cells of a row of CSV. */
extern const struct sim_column sim_compare_columns[SIM_COMPARE_COLUMNS];
void sim_compare_cells(struct sim_table *table, const struct an_metric_row *row,
                       const struct an_cell *cell, const char *variant);
/* "94.5 % ± 1.2 ✓" and "worse p=0.003". */
void sim_compare_mean(const struct an_metric_row *row, const struct an_cell *cell,
                      char text[SIM_COMPARE_CELL]);
void sim_compare_verdict(const struct an_cell *cell, char text[SIM_COMPARE_CELL]);

#endif
