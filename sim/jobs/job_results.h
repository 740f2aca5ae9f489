/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where results of jobs go: a row of `result` and, while there is room, a value of the summary. The
 * first error stays and stops the rows.
 */
#ifndef SIM_JOBS_JOB_RESULTS_H
#define SIM_JOBS_JOB_RESULTS_H

#include "sim/jobs/static_run.h"
#include "sim/record/record.h"
#include "sim/run.h"

struct sim_job_results {
    struct sim_recorder *recorder; /* may be NULL */
    struct sim_run_summary *summary;
    struct weir_error *error;
    uint64_t arrived; /* n of the rows */
    weir_status status;
};

void sim_job_result(struct sim_job_results *results, const char *metric, const char *label,
                    const char *unit, double value);

#endif
