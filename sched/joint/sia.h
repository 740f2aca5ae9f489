/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sia's choice of one configuration a job, by itself: the best sum of powers of what each is worth.
 * Exact where the states (devices of every type that are left, times jobs) are few enough to go
 * through; else the best step after the other.
 */
#ifndef SCHED_JOINT_SIA_H
#define SCHED_JOINT_SIA_H

#include "weir/cluster.h"

enum { WEIR_SIA_TYPES = 16, WEIR_SIA_CONFIGS = 96 };

struct weir_sia_config {
    uint32_t type, ranks, devices;
    double goodput;
};

struct weir_sia_job {
    const struct weir_sia_config *configs; /* > 0 goodput each */
    uint32_t count;
    uint32_t now; /* which it has; WEIR_NO_INDEX = none */
    uint32_t restarts;
    double age_s, restart_s;
};

struct weir_sia_problem {
    const struct weir_sia_job *jobs;
    uint32_t count, types;
    const uint32_t *supply; /* devices by type */
    double power;           /* not 0; below 0 the sum is to be small */
    double idle;            /* what a job without a configuration costs, >= 0 */
};

/* `choice`: of each job, WEIR_NO_INDEX = none; *sum: as published. WEIR_ENOMEM. */
weir_status weir_sia_choose(const struct weir_allocator *allocator,
                            const struct weir_sia_problem *problem, uint32_t *choice, double *sum);

#endif
