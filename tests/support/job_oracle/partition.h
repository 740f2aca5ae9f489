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
#ifndef TESTS_JOB_ORACLE_PARTITION_H
#define TESTS_JOB_ORACLE_PARTITION_H

#include "weir/partition.h"

struct oracle_run;

struct oracle_job_cuts {
    struct weir_partition_cut *pending; /* chosen, not yet cut */
    bool *is_away;                      /* drained: the cut is under way */
    struct weir_shape *shapes;          /* by kind of job */
    uint64_t *waiting;
    uint32_t *members;
    uint32_t pending_count, capacity;
};

weir_status oracle_job_cuts_open(struct oracle_run *run);
void oracle_job_cuts_close(struct oracle_job_cuts *cuts);

/* Whether a kind of job can be served by some cut of some GPU. */
bool oracle_job_cuts_can_serve(const struct oracle_run *run, const struct weir_shape *shape);
/* After a pass: closes what is to be cut for those that wait. */
weir_status oracle_job_cuts_choose(struct oracle_run *run);
/* Something was given back on a node. */
void oracle_job_cuts_drained(struct oracle_run *run, uint32_t node);
/* The time is over: cut and open. */
weir_status oracle_job_cuts_finish(struct oracle_run *run, uint32_t node, uint32_t gpu);

#endif
