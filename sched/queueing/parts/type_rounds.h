/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who runs on which type of device in the next round, so that over many rounds each job gets its
 * share of every type (Narayanan et al., "Gavel", OSDI 2020, 5).
 *
 * For every type in turn, the job comes first whose share is largest beside what it has had of the
 * type: share / ((180 s + had) / the sum of that over all jobs). Whoever fits is taken, each job
 * once. Where devices are left over, jobs without a share get them.
 */
#ifndef SCHED_QUEUEING_TYPE_ROUNDS_H
#define SCHED_QUEUEING_TYPE_ROUNDS_H

#include "weir/cluster.h"

#include <stdbool.h>

enum { WEIR_ROUND_TYPES = 16 };

struct weir_round_job {
    double devices;
    double share[WEIR_ROUND_TYPES]; /* of its time, on each type */
    double had_s[WEIR_ROUND_TYPES]; /* so long it was there */
    uint32_t may_use;               /* types, a bit each */
    uint32_t type;                  /* out: it is to run there; WEIR_NO_INDEX = nowhere */
};

struct weir_type_round {
    struct weir_round_job *jobs;
    uint32_t *order; /* room for all jobs */
    uint32_t job_count, type_count;
    const double *supply; /* devices by type */
};

void weir_round_choose(struct weir_type_round *round);
/* Its priority for a type. */
double weir_round_priority(const struct weir_type_round *round, uint32_t job, uint32_t type);

#endif
