/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pollux' search over placements, by itself: how many ranks of every job on every node, so that the
 * jobs together get on best. From what there is, one change after the other that helps most: a rank
 * more, fewer, or a whole job anew on one node or several; until none helps. No more than one job
 * that is on several nodes on any of them.
 */
#ifndef SCHED_JOINT_POLLUX_H
#define SCHED_JOINT_POLLUX_H

#include "weir/cluster.h"

struct weir_pollux_problem {
    uint32_t jobs, nodes;
    const uint32_t *room;  /* GPUs by node */
    const uint32_t *least; /* ranks of a job, when it has any */
    const uint32_t *most;
    const uint32_t *gpus; /* of one rank of a job */
    const uint32_t *now;  /* jobs x nodes: ranks */
    /* How fast a job is with so many ranks on so many nodes, over one rank. */
    double (*speedup)(const void *state, uint32_t job, uint32_t ranks, uint32_t nodes);
    const void *state;
    double power;   /* of the mean of speeds: 1 = their sum, -1 = as fair as OSDI has it */
    double changed; /* what a job that is placed anew keeps of its speed */
};

/* `ranks`: jobs x nodes, out. *fitness: the power mean of the speeds (the sum when power is 1).
 * WEIR_ENOMEM. */
weir_status weir_pollux_search(const struct weir_allocator *allocator,
                               const struct weir_pollux_problem *problem, uint32_t *ranks,
                               double *fitness);
/* Of any placement; a job without ranks has a speed of `weir_pollux_none`. */
double weir_pollux_fitness(const struct weir_pollux_problem *problem, const uint32_t *ranks);
extern const double weir_pollux_none;

#endif
