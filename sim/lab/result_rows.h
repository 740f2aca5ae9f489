/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where results of static experiments go: a row of `result` and, while there is room, a value of
 * the summary. The first error stays and stops the rows.
 */
#ifndef SIM_LAB_RESULT_ROWS_H
#define SIM_LAB_RESULT_ROWS_H

#include "sim/lab/lab.h"
#include "sim/record/record.h"
#include "sim/record/run_summary.h"

struct sim_lab_rows {
    struct sim_recorder *recorder; /* may be NULL */
    struct sim_run_summary *summary;
    struct weir_error *error;
    uint64_t arrived; /* n of the rows */
    weir_status status;
};

void sim_lab_row(struct sim_lab_rows *results, const char *metric, const char *label,
                 const char *unit, double value);

/* results.c: the metrics of the end state, and the curve. */
void sim_lab_results(const struct sim_lab *lab, struct sim_lab_rows *rows);
/* defrag_results.c: moves jobs as the workload says and puts down what that brings; nothing when it
 * says nothing. Changes the lab, so it comes last. */
void sim_lab_defrag_results(struct sim_lab *lab, struct sim_lab_rows *rows);

#endif
