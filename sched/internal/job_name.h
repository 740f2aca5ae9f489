/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The name of a job in tables: its workload and its id there in one number. The host takes no more
 * workloads and no larger ids than it has room for (sched/host/jobs.c), so no two jobs have one
 * name.
 */
#ifndef SCHED_INTERNAL_JOB_NAME_H
#define SCHED_INTERNAL_JOB_NAME_H

#include <stdint.h>

enum { WEIR_JOB_ID_BITS = 44, WEIR_JOB_WORKLOADS = 1 << (64 - WEIR_JOB_ID_BITS) };

static inline uint64_t weir_job_name(uint32_t workload, uint64_t id)
{
    return (uint64_t)workload << WEIR_JOB_ID_BITS | id;
}

static inline uint32_t weir_job_name_workload(uint64_t name)
{
    return (uint32_t)(name >> WEIR_JOB_ID_BITS);
}

static inline uint64_t weir_job_name_id(uint64_t name)
{
    return name & (((uint64_t)1 << WEIR_JOB_ID_BITS) - 1);
}

#endif
