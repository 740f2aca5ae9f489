/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What jobs wait for that no node has room for, and which node would take most of it: first fit of
 * logical amounts, as Ray's autoscaler does it.
 *
 * A demand is a rank (a bundle of a placement group): CPUs, GPUs, memory and engines. Those of a
 * STRICT_PACK group are one; of a STRICT_SPREAD group a node takes one. They are in one order: more
 * kinds of resources first, then larger sums. Where devices lie is not looked at.
 */
#ifndef SCHED_CAPACITY_PARTS_RESIDUAL_H
#define SCHED_CAPACITY_PARTS_RESIDUAL_H

#include "weir/capacity.h"

enum weir_logical { WEIR_CPUS, WEIR_GPUS, WEIR_MEMORY, WEIR_NVDECS, WEIR_NVENCS, WEIR_LOGICALS };

/* Equal demands. */
struct weir_demands {
    int64_t of[WEIR_LOGICALS];
    uint64_t count;
    uint64_t most; /* of them on one node; UINT64_MAX = any number */
};

struct weir_residual {
    struct weir_allocator allocator; /* set by the caller */
    struct weir_demands *demands;
    uint32_t count, capacity;
};

/* How good a node is for what is left: compared in this order, higher is better (Ray's tuple). */
struct weir_node_score {
    bool fits;      /* it takes something; else it is no good at all */
    bool gpu_ok;    /* no GPUs for nobody */
    uint32_t kinds; /* of resources that it has and somebody wants */
    double least;   /* min over its resources of amount x (used part)^3 */
    double mean;    /* and their mean */
};

/* All that waits. WEIR_ENOMEM. O(kinds of waiting jobs x log of them). */
weir_status weir_residual_read(struct weir_residual *residual, const struct weir_view *view);
/* Whoever is on a node, as if all had to leave it. WEIR_ENOMEM. O(workers x log of them). */
weir_status weir_residual_read_node(struct weir_residual *residual, const struct weir_view *view,
                                    uint32_t node);
/* As `from` is. WEIR_ENOMEM. */
weir_status weir_residual_copy(struct weir_residual *residual, const struct weir_residual *from);
void weir_residual_close(struct weir_residual *residual);

enum weir_fill {
    WEIR_FILL_COMING = 1, /* then `coming` nodes of each offer */
    WEIR_FILL_ENDING = 2  /* what preempted jobs still hold counts as free. O(workers), too */
};
/* Takes out what finds room on nodes that are up, but for `except` (WEIR_NO_INDEX = on all).
 * O(nodes + GPUs + nodes x kinds). */
void weir_residual_fill(struct weir_residual *residual, const struct weir_view *view,
                        uint32_t except, uint32_t fill);
/* What goes onto an empty node of this kind: is taken out, or only looked at. The answer is how
 * many demands that are. */
uint64_t weir_residual_take(struct weir_residual *residual, const struct weir_amounts *holds);
/* CPUs and memory of all of them. */
struct weir_amounts weir_residual_sum(const struct weir_residual *residual);
struct weir_node_score weir_residual_score(const struct weir_residual *residual,
                                           const struct weir_amounts *holds);
bool weir_node_score_is_better(const struct weir_node_score *score,
                               const struct weir_node_score *than);

#endif
