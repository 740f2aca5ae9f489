/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a static experiment measures of the physical cluster after every arrival: fragmentation,
 * its buckets and electric power, kept by node so that a placement costs the measurement of one.
 *
 * F is summed over the nodes in the order of their ranks, so that printed values repeat exactly.
 * Everything else is summed in fixed point (2^-20), where the order does not matter and nothing
 * drifts.
 */
#ifndef SIM_LAB_MEASURES_H
#define SIM_LAB_MEASURES_H

#include "sim/cluster/power.h"
#include "sim/cluster/target_frag.h"

/* The buckets (thousandths of a GPU), then watts. */
enum { SIM_PART_GPU_POWER = SIM_BUCKETS, SIM_PART_CPU_POWER, SIM_PARTS };

struct sim_measures_node;

struct sim_measures {
    const struct sim_target *target;
    const struct sim_cluster *cluster;
    double *frag;                    /* by rank, thousandths of a GPU */
    struct sim_measures_node *nodes; /* by rank */
    int64_t sums[SIM_PARTS];
};

/* Room for all nodes; none is measured yet. */
weir_status sim_measures_create(struct sim_measures *measures, const struct sim_target *target,
                                const struct sim_cluster *cluster);
void sim_measures_clear(struct sim_measures *measures);

/* The node of this rank is as it is now. */
void sim_measures_update(struct sim_measures *measures, uint32_t rank, uint32_t node);

/* F of the cluster, in thousandths of a GPU. O(nodes). */
double sim_measures_frag_milli(const struct sim_measures *measures);
double sim_measures_part(const struct sim_measures *measures, uint32_t part);

#endif
