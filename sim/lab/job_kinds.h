/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The kinds of jobs of a workload: jobs that ask for the same, memory included, are one kind, in
 * the order of descending GPU demand (then ascending CPUs, then the rest). Questions about all jobs
 * are asked kind by kind. A job of several members counts as so many of its kind: whoever wants
 * them together asks on his own.
 */
#ifndef SIM_LAB_JOB_KINDS_H
#define SIM_LAB_JOB_KINDS_H

#include "sim/scenario/scenario.h"

struct sim_job_kinds {
    struct weir_shape *shapes;
    uint32_t count;
    uint32_t *of_row; /* by row of the pod file */
};

weir_status sim_job_kinds_create(const struct sim_workload *workload, struct sim_job_kinds *kinds);
void sim_job_kinds_clear(struct sim_job_kinds *kinds);

/* GPUs one job of this shape asks for. */
double sim_kind_gpus(const struct weir_shape *shape);

#endif
