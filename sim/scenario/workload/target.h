/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The target workload: which kinds of jobs come, and how often. Fragmentation is measured against
 * it.
 *
 * Jobs are one kind when they ask for the same CPUs, GPUs, GPU memory, engines and models; memory
 * of the node plays no part. The most frequent kinds (of equals the one that asks for more) are
 * taken until they cover the wanted share of the jobs; frequencies are relative to those taken.
 */
#ifndef SIM_SCENARIO_WORKLOAD_TARGET_H
#define SIM_SCENARIO_WORKLOAD_TARGET_H

#include "sim/scenario/scenario.h"
#include "weir/policy.h"

/* Only among so many kinds one that is alike is looked for. */
enum { SIM_TARGET_ALIKE = 96 };

struct sim_target {
    struct weir_shape *shapes; /* without memory */
    double *frequencies;
    int64_t *ram_bytes; /* of a middle job of the kind; NULL = none asks for memory */
    uint32_t *alike;    /* the first kind that differs in CPUs alone, or itself; NULL = not known */
    uint32_t count;
    uint32_t distinct; /* kinds there are */
};

weir_status sim_target_create(const struct sim_workload *workload, struct sim_target *target);
void sim_target_clear(struct sim_target *target);

/* As libweir wants it; borrowed. */
struct weir_mix sim_target_mix(const struct sim_target *target);

/* Share of the target that asks for no GPU. */
double sim_target_cpu_share(const struct sim_target *target);

#endif
