/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of GPUs that is kept for tenants (weir_tenant_spec.gpu_pool_bytes).
 *
 * During a decision what tenants do not use of their pools is taken off the free memory of every
 * GPU of the scratch; for the placement of one job the pool that it may use is given back, and
 * taken again behind it. So policies and indices of rooms know nothing of pools.
 *
 * Invariant: between begin and end of a decision `kept[g]` is what is taken off GPU g. How much of
 * a pool is in use is counted anew at every question, from the workers on the scratch: under a
 * mark, too, and after it was rolled back. Cost: nothing without pools; else O(pools x workers) a
 * decision and a job asked about.
 */
#ifndef SCHED_HOST_MEMORY_POOLS_H
#define SCHED_HOST_MEMORY_POOLS_H

#include "weir/cluster.h"

struct weir_jobs;

struct weir_memory_pools {
    int64_t *kept; /* by GPU of the cluster */
    uint32_t capacity;
    bool is_kept; /* there is a decision, and a pool */
};

void weir_memory_pools_close(struct weir_memory_pools *pools,
                             const struct weir_allocator *allocator);
/* A decision begins, its scratch lent. */
weir_status weir_memory_pools_begin(struct weir_jobs *jobs, struct weir_cluster *scratch);
/* All is free again that was. */
void weir_memory_pools_end(struct weir_jobs *jobs, struct weir_cluster *scratch);
/* A job of this tenant is placed: its pool is open; 0 = all are kept. */
void weir_memory_pools_let(struct weir_jobs *jobs, struct weir_cluster *scratch, uint32_t tenant);

#endif
