/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pools of a host as policies see them, made current when they are read.
 *
 * What moves by itself (the number of workers, the estimate, which depends on the time) is brought
 * up to date the first time a pool is read in a round, and the pool is then remembered with a
 * checksum: so a decision costs the pools that its policies look at, and one that was written to is
 * found out. A round is a decision, or a look at the host between two of them.
 */
#ifndef SCHED_HOST_POOLS_H
#define SCHED_HOST_POOLS_H

#include "sched/cluster/id_table.h"
#include "weir/work.h"

struct weir_host_pool {
    struct weir_estimator *estimator;
    struct weir_estimate given; /* valid while has_given */
    char *name;
    bool has_given;
    uint32_t namesake; /* another pool whose pipeline and name have this hash, or WEIR_NO_INDEX */
    uint64_t round;    /* in which it was read last */
    uint64_t sum;      /* of what was handed out then */
};

struct weir_pools {
    struct weir_host_pool *pools;
    struct weir_pool_view *views; /* the same pools as policies see them */
    uint32_t *read;               /* in this round */
    struct weir_id_table names;   /* hash of pipeline and name to the first such pool */
    uint32_t count, pool_capacity, view_capacity, read_count, read_capacity;
    uint64_t round;
    int64_t now_ns;
    const struct weir_cluster *inventory;
};

/* Begins a round. */
void weir_pools_begin(struct weir_pools *pools, int64_t now_ns);
const struct weir_pool_view *weir_pools_read(struct weir_pools *pools, uint32_t index);
/* Whether all that was read in this round is as it was handed out. O(pools read). */
bool weir_pools_are_whole(const struct weir_pools *pools);

#endif
