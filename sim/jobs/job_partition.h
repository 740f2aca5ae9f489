/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Cutting GPUs anew while jobs run (sched.repartition; the choice is libweir's, weir/partition.h).
 *
 *   OPEN -- chosen for waiting jobs --> DRAINING -- last instance free --> AWAY for `reconfigure`
 *     ^                                                                      |
 *     +------------------------------ cut, open again -----------------------+
 *
 * A GPU that is DRAINING or AWAY gives out nothing; jobs on it run to their end.
 */
#ifndef SIM_JOBS_JOB_PARTITION_H
#define SIM_JOBS_JOB_PARTITION_H

#include "weir/partition.h"

struct sim_job_run;

struct sim_job_cuts {
    struct weir_partition_cut *pending; /* chosen, not yet cut */
    bool *is_away;                      /* drained: the cut is under way */
    struct weir_shape *shapes;          /* by kind of job */
    uint64_t *waiting;
    uint32_t *members;
    uint32_t pending_count, capacity;
    uint32_t *dead; /* slices, by node */
    uint64_t done;
};

weir_status sim_job_cuts_open(struct sim_job_run *run);
void sim_job_cuts_close(struct sim_job_cuts *cuts);

/* Measures the dead slices of a node anew. */
void sim_job_cuts_measure(struct sim_job_run *run, uint32_t node);
/* Whether a kind of job can be served by some cut of some GPU. */
bool sim_job_cuts_can_serve(const struct sim_job_run *run, const struct weir_shape *shape);
/* After a pass: closes what is to be cut for those that wait. */
weir_status sim_job_cuts_choose(struct sim_job_run *run);
/* Something was given back on a node. */
void sim_job_cuts_drained(struct sim_job_run *run, uint32_t node);
/* The time is over: cut and open. */
weir_status sim_job_cuts_finish(struct sim_job_run *run, uint32_t node, uint32_t gpu);

#endif
