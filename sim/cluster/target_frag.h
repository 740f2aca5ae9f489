/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fragmentation of a node against the target workload.
 *
 * F is that of weir/frag.h, looking at devices (GPU types, memory and engines). For jobs that ask
 * for neither GPU memory nor engines it is the published one (Weng et al., ATC 2023). In
 * thousandths of a GPU and summed kind by kind into buckets, these in a fixed order, so that
 * printed values repeat exactly.
 *
 * The paper does not look at the memory of nodes. What it counts as satisfied although the node has
 * less memory left than a middle job of the kind asks for stands beside its buckets, not in F.
 */
#ifndef SIM_CLUSTER_TARGET_FRAG_H
#define SIM_CLUSTER_TARGET_FRAG_H

#include "sim/cluster/cluster.h"
#include "sim/scenario/workload/target.h"

/* Where the free GPU of a node goes, seen by one kind. The first six add up to F, in this order;
 * those and Q3 to all that is free; the last is a part of Q3. */
enum sim_bucket {
    SIM_BUCKET_Q1,     /* neither its GPUs nor its CPUs fit */
    SIM_BUCKET_Q2,     /* its GPUs do not, or lie on GPUs too small for it */
    SIM_BUCKET_Q4,     /* its CPUs do not */
    SIM_BUCKET_XL,     /* it asks for no GPU and fits */
    SIM_BUCKET_XR,     /* it asks for no GPU and does not fit */
    SIM_BUCKET_NA,     /* it does not accept the models */
    SIM_BUCKET_Q3,     /* satisfied */
    SIM_BUCKET_MEMORY, /* satisfied but for the node's memory */
    SIM_BUCKETS
};
struct sim_buckets {
    double milli[SIM_BUCKETS]; /* thousandths of a GPU */
};

/* F of one node, in thousandths of a GPU. */
double sim_target_frag_milli(const struct sim_target *target, const struct sim_cluster *cluster,
                             uint32_t node);
/* The same with its buckets. */
double sim_target_buckets(const struct sim_target *target, const struct sim_cluster *cluster,
                          uint32_t node, struct sim_buckets *buckets);

#endif
