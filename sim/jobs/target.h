/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The target workload: which kinds of jobs come, how often, and the fragmentation of a node against
 * them.
 *
 * Jobs are one kind when they ask for the same CPUs, GPUs and models; memory plays no part. The
 * most frequent kinds (of equals the one that asks for more) are taken until they cover the wanted
 * share of the jobs; frequencies are relative to those taken.
 *
 * F(node) = sum over kinds of frequency * free GPU the kind cannot use: all of it when the kind
 * asks for no GPU or does not fit the node's models, CPUs or free GPUs; else what lies on GPUs too
 * small for one of its devices (Weng et al., ATC 2023). In thousandths of a GPU and summed kind by
 * kind into six causes, these in a fixed order, so that printed values repeat exactly.
 */
#ifndef SIM_JOBS_TARGET_H
#define SIM_JOBS_TARGET_H

#include "sim/cluster/cluster.h"

struct sim_target {
    struct weir_shape *shapes; /* without memory */
    double *frequencies;
    uint32_t count;
    uint32_t distinct; /* kinds there are */
};

weir_status sim_target_create(const struct sim_workload *workload, struct sim_target *target);
void sim_target_clear(struct sim_target *target);

/* As libweir wants it; borrowed. */
struct weir_mix sim_target_mix(const struct sim_target *target);

/* F of one node, in thousandths of a GPU. */
double sim_target_frag_milli(const struct sim_target *target, const struct sim_cluster *cluster,
                             uint32_t node);

#endif
