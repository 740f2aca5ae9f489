/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pressure on types of GPUs: how much is asked of them by jobs that accept no others.
 *
 * A job of the mix that insists on types spreads its GPU demand evenly over all GPUs of these
 * types; the pressure on a type is the demand a GPU of it gets that way, relative to what a GPU of
 * the cluster gets from all jobs of the mix. 0 = nobody insists on it; 1 = those who do are alone
 * as much work as an average GPU has. Jobs that can go elsewhere should leave such GPUs to those
 * who cannot.
 */
#ifndef SCHED_PLACEMENT_PRESSURE_H
#define SCHED_PLACEMENT_PRESSURE_H

#include "weir/policy.h"

enum { WEIR_PRESSURE_TYPES = 64 }; /* types beyond have none */

struct weir_pressure {
    double of[WEIR_PRESSURE_TYPES];
};

/* O(nodes) when a job of the mix insists on types, else O(mix). */
void weir_pressure_measure(const struct weir_cluster *cluster, const struct weir_mix *mix,
                           struct weir_pressure *pressure);

/* Mean over the GPUs of a node; 0 without GPUs. */
double weir_pressure_on(const struct weir_pressure *pressure, const struct weir_cluster *cluster,
                        uint32_t node);

#endif
