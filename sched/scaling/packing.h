/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The workers of all pools packed so that the slowest pool is as fast as it can be: a search on the
 * scratch of a decision, which leaves the plan alone.
 *
 * Idea: for a rate z pool i wants x_i(z) = max(1, ceil(z / c_i)) workers, c_i the rate of one. The
 * largest z whose workers find places is looked for by bisection between what runs and a bound. For
 * one z, the least disturbance first:
 *   1  what is missing where there is room, the largest shapes first;
 *   2  large-neighbourhood search (Shaw, CP 1998): a few nodes are emptied and filled again, with
 *      what they held and what is missing, in another order; what is worse is taken back. Workers
 *      beyond x_i(z) need not come back: so surplus is shed.
 * Or from the empty cluster, every pool spread over the nodes in proportion first.
 *
 * Invariants: what comes back to a node stands where it stood, as the worker it was, when that
 * place is free; workers of pools that are not free, and groups over several nodes, stay. The
 * search draws from a seed of its own, so the same state is searched in the same way.
 * Cost: a try O(workers of at most 8 nodes); bulk filling O(pools x nodes) for each of about ten z.
 */
#ifndef SCHED_SCALING_PACKING_H
#define SCHED_SCALING_PACKING_H

#include "sched/scaling/run.h"

/* A worker that is there when a search begins. */
struct weir_packing_worker {
    uint32_t pool;
    uint32_t next; /* on its node, + 1; 0 = the last */
    struct weir_worker worker;
};

/* A worker that a search wants started. */
struct weir_packing_start {
    uint32_t pool;
    struct weir_alloc alloc;
};

struct weir_packing {
    struct weir_run *run;
    struct weir_cluster *scratch;
    struct weir_packing_worker *originals;
    uint32_t *first; /* of each node, index of an original + 1 */
    uint32_t *wanted, *order, *nodes, *quota;
    uint32_t *newest; /* of each pool: no worker of this plan stands at or behind this position */
    double *weight;   /* of one worker of each pool: its largest share of all that there is */
    uint64_t *doomed;
    struct weir_packing_start *starts; /* outcome of a search */
    uint64_t *stops;
    uint64_t next_id; /* downwards */
    uint64_t random;
    uint32_t node_count, original_count, start_count, stop_count;
    uint32_t original_capacity, first_capacity, wanted_capacity, newest_capacity, order_capacity,
        node_capacity, quota_capacity, weight_capacity, doomed_capacity, start_capacity,
        stop_capacity;
};

enum weir_packing_way {
    WEIR_PACK_ADD,  /* nothing moves */
    WEIR_PACK_WARM, /* from what runs */
    WEIR_PACK_COLD  /* from nothing */
};

/* What runs in the scratch now; the scratch is as it was. */
weir_status weir_packing_begin(struct weir_packing *packing, struct weir_run *run);
void weir_packing_clear(struct weir_packing *packing);

/* The outcome, as what to start and stop, of the best packing between the rates; *z_per_s is that
 * of the slowest pool, *kept_per_s the same with only those workers that stay where they are. The
 * scratch is as it was. `tries` for each rate. */
struct weir_packing_goal {
    enum weir_packing_way way;
    uint32_t tries;
    double low_per_s, high_per_s;
};
weir_status weir_packing_search(struct weir_packing *packing, const struct weir_packing_goal *goal,
                                double *z_per_s, double *kept_per_s);

#endif
