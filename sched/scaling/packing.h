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
 *      what they held and what is missing, in another order; what is worse is taken back, and it
 *      goes on while there is progress. Workers beyond x_i(z) need not come back: so surplus is
 *      shed.
 * Or from the empty cluster, every pool spread over the nodes in proportion first. Groups over
 * several nodes come before all others (packing_groups.c), and of a pool whose count is fixed the
 * search chooses the places alone.
 *
 * Invariants: what comes back to a node stands where it stood, as the worker it was, when that
 * place is free; no fixed count gets less; fixed counts of groups, and what is left alone, stay.
 * The search draws from a seed of its own, and sees workers by name, so the same state is searched
 * in the same way.
 * Cost: a try O(workers of at most 8 nodes); filling O(missing workers + pools x nodes) for each of
 * at most twelve z, from nothing O(workers).
 */
#ifndef SCHED_SCALING_PACKING_H
#define SCHED_SCALING_PACKING_H

#include "sched/internal/stopped.h"
#include "sched/scaling/run.h"

/* Of one pool. */
struct weir_packing_pool {
    /* That ran when the search began; of each node the oldest first. */
    struct weir_stopped originals;
    struct weir_stopped starts; /* outcome of a search: what is to be started */
    uint32_t wanted;            /* of a fixed count: fewer are no packing */
    uint32_t newest;            /* no worker of this plan stands at or behind this position */
    double weight;              /* of one worker: its largest share of all that there is */
};

/* A node, and what those who would have to leave it are worth. */
struct weir_packing_price {
    double price;
    uint32_t node;
};

struct weir_packing {
    struct weir_run *run;
    struct weir_cluster *scratch;
    struct weir_packing_pool *pools;
    uint32_t *order;  /* pools, the largest shape first */
    uint32_t *nodes;  /* that are emptied and filled again */
    uint32_t *quota;  /* what each node could hold of each pool alone */
    uint64_t *doomed; /* names of workers, for a while */
    struct weir_packing_price *prices;
    uint64_t *stops;   /* outcome of a search */
    uint64_t first_id; /* of the plan: who has it or a later one begins with it */
    uint64_t next_id;  /* downwards */
    uint64_t random;
    uint32_t node_count, start_count, stop_count;
    bool has_quota;
    uint32_t pool_capacity, order_capacity, node_capacity, quota_capacity, doomed_capacity,
        stop_capacity, price_capacity;
};

enum weir_packing_way {
    WEIR_PACK_ADD,  /* nothing moves */
    WEIR_PACK_WARM, /* from what runs */
    WEIR_PACK_COLD  /* from nothing */
};

/* What runs in the scratch now; the scratch is as it was. Fixed counts are to stay as they are now,
 * unless the caller wants more of a pool then. */
weir_status weir_packing_begin(struct weir_packing *packing, struct weir_run *run);
void weir_packing_clear(struct weir_packing *packing);

/* The outcome, as what to start and stop, of the best packing above the lower rate; *z_per_s is
 * that of the slowest pool (0 = nothing better was found), *kept_per_s the same with only those
 * workers that stay where they are. The scratch is as it was. So many `tries` in vain end each
 * rate. */
struct weir_packing_goal {
    enum weir_packing_way way;
    uint32_t tries;
    double low_per_s, high_per_s;
    bool is_high_only; /* no rate below the upper one is tried */
    bool keeps_groups; /* more of them than are wanted stay, and no room is made for them */
};
weir_status weir_packing_search(struct weir_packing *packing, const struct weir_packing_goal *goal,
                                double *z_per_s, double *kept_per_s);

/* The outcome of looking once more at all that the plan starts and stops: who was stopped for a
 * like place on the same GPUs stays. The scratch is as it was. */
weir_status weir_packing_settle(struct weir_packing *packing, struct weir_run *run);

#endif
