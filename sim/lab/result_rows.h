/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where results of static experiments go, each with the number of jobs it is of.
 */
#ifndef SIM_LAB_RESULT_ROWS_H
#define SIM_LAB_RESULT_ROWS_H

#include "sim/lab/lab.h"
#include "sim/record/record.h"

struct sim_lab_rows {
    struct sim_results out;
    uint64_t arrived; /* n of the rows */
};

void sim_lab_row(struct sim_lab_rows *results, const char *metric, const char *label,
                 const char *unit, double value);

/* results.c: the metrics of the end state, and the curve. */
void sim_lab_results(const struct sim_lab *lab, struct sim_lab_rows *rows);
/* defrag_results.c: moves jobs as the workload says and puts down what that brings; nothing when it
 * says nothing. Changes the lab, so it comes last. */
void sim_lab_defrag_results(struct sim_lab *lab, struct sim_lab_rows *rows);

#endif
