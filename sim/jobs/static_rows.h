/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where results of static experiments go: a row of `result` and, while there is room, a value of
 * the summary. The first error stays and stops the rows.
 */
#ifndef SIM_JOBS_STATIC_ROWS_H
#define SIM_JOBS_STATIC_ROWS_H

#include "sim/jobs/static_run.h"
#include "sim/record/record.h"
#include "sim/world/run.h"

struct sim_static_rows {
    struct sim_recorder *recorder; /* may be NULL */
    struct sim_run_summary *summary;
    struct weir_error *error;
    uint64_t arrived; /* n of the rows */
    weir_status status;
};

void sim_static_row(struct sim_static_rows *results, const char *metric, const char *label,
                    const char *unit, double value);

#endif
