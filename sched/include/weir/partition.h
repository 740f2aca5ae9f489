/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cutting GPUs anew: which GPU, and into what, for the work that waits.
 *
 * A GPU whose cut is fixed serves only the profiles of its cut. When other profiles are asked for,
 * it can be drained and cut anew: it gives out nothing until its last instance is free, then it is
 * away for the time the hardware needs. What that costs is the compute that would have been in use
 * meanwhile, what it brings is the waiting work the new cut can hold.
 *
 * The caller asks after it has placed what fits, closes the GPU it is told
 * (weir_cluster_close_gpu), lists it as pending until it is drained and cut (weir_cluster_cut_gpu),
 * and asks again.
 */
#ifndef WEIR_PARTITION_H
#define WEIR_PARTITION_H

#include "weir/cluster.h"

WEIR_BEGIN_DECLS

/* Frozen. */
struct weir_partition_cut {
    uint32_t node;
    uint32_t gpu;
    weir_mig_layout cut;
};

struct weir_partition_query {
    uint32_t size;     /* sizeof */
    uint32_t min_gain; /* slices that must be won, >= 1 */
    const struct weir_cluster *cluster;
    const struct weir_shape *shapes; /* kinds of work; those without instances do not count */
    const uint64_t *waiting;         /* workers of each kind that found no place */
    const struct weir_partition_cut *pending;
    uint32_t shape_count;
    uint32_t pending_count;
};

/* The one GPU whose new cut wins most: slices the waiting work fills on it, minus slices in use on
 * it now. Of equals the first. The cut is the layout that holds most of the waiting work, then most
 * of its profiles, then what else was asked for. Free instances and pending cuts are taken to serve
 * their profiles already. A need without a name counts for the smallest profile that has enough;
 * GPU types are judged one by one. WEIR_EBUSY when no cut is worth it.
 * O(GPUs x types + layouts). */
WEIR_API weir_status weir_partition_decide(const struct weir_partition_query *query,
                                           struct weir_partition_cut *cut,
                                           struct weir_error *error);

WEIR_END_DECLS

#endif
