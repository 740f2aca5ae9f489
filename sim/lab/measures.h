/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a static experiment measures of the physical cluster after every arrival: fragmentation,
 * its buckets and electric power, kept by node so that a placement costs the measurement of one.
 *
 * All is summed in fixed point (2^-28), where the order does not matter and nothing drifts: a sum
 * costs nothing, and an experiment grows linearly with its arrivals. Sums below 2^35 are held (a
 * million nodes of 32 GPUs).
 */
#ifndef SIM_LAB_MEASURES_H
#define SIM_LAB_MEASURES_H

#include "sim/cluster/power.h"
#include "sim/cluster/target_frag.h"

/* The buckets and their F (thousandths of a GPU), then watts. */
enum { SIM_PART_FRAG = SIM_BUCKETS, SIM_PART_GPU_POWER, SIM_PART_CPU_POWER, SIM_PARTS };

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

/* Of the cluster. O(1). */
double sim_measures_part(const struct sim_measures *measures, uint32_t part);

#endif
