/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which GPUs of a node go to a worker that needs one or several whole ones: as near to one another
 * as there is room, and so that what is left stays together too.
 *
 * On as few islands as possible: as long as no island has room for all that is missing, all free
 * GPUs of the one with most are taken. What is missing then comes from one island that has room.
 * Those islands are offered in this order: where the same job is already, beside what is taken (on
 * its socket), where the sockets have CPUs enough for the worker, the tightest that holds all the
 * job still wants, the one with most room; of equals the first. On an island that spans sockets,
 * sockets are chosen likewise.
 *
 * So no set is offered that needs more islands than another one would. Of a node that has one
 * island and one socket, or of which nothing is known, every set is offered.
 */
#ifndef SCHED_PLACEMENT_NEAR_H
#define SCHED_PLACEMENT_NEAR_H

#include "weir/cluster.h"

/* GPUs are bits of their index on the node. */
struct weir_near_query {
    const struct weir_topology *topology;
    uint32_t gpu_count; /* of the node */
    uint32_t wanted;    /* by the worker, at least 1 */
    uint32_t coming;    /* by it and those of its job that are placed after it */
    uint32_t reserved;
    uint64_t usable;         /* at least `wanted` */
    uint64_t mine;           /* where its job is already */
    const int64_t *cpu_free; /* by socket, as far as known; NULL = there is one socket */
    int64_t cpu_wanted;
};

/* Sets of GPUs: all of `fixed` and any `missing` of `open`, which lie side by side. */
struct weir_near_set {
    uint64_t fixed, open;
    uint32_t missing;
};

static inline bool weir_near_matters(const struct weir_topology *topology)
{
    return topology->island_gpus > 0 || topology->sockets > 1;
}

/* GPUs of a node that workers of this job hold; 0 for another kind of owner. */
uint64_t weir_near_job(const struct weir_cluster *cluster, uint32_t node,
                       const struct weir_owner *owner);
/* What is left of the CPUs of every socket. The inventory does not know from which socket a worker
 * has them: taken to be those of its GPUs, then the one with most. NULL = there is one socket, or
 * not all have GPUs. O(workers of the node). */
const int64_t *weir_near_cpus(const struct weir_cluster *cluster, uint32_t node,
                              int64_t cpu_free[WEIR_MAX_NODE_GPUS]);

/* Visits the sets in order; false stops. */
typedef bool (*weir_near_visit)(void *state, const struct weir_near_set *set);
void weir_near_each(const struct weir_near_query *query, weir_near_visit visit, void *state);

#endif
