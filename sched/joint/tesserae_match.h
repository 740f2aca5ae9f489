/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The real nodes of a plan that was made anew, so that as little as possible moves (Bian et al.,
 * "Tesserae").
 *
 * A plan says which ranks stand together on a node; which of several equal nodes that is does not
 * matter to it. So every node of the plan gets one of its class: a part of the ranks of a job that
 * stays where it is gains that part, and the heaviest matching says which. Jobs that hold nothing
 * yet gain nothing.
 */
#ifndef SCHED_JOINT_TESSERAE_MATCH_H
#define SCHED_JOINT_TESSERAE_MATCH_H

#include "weir/cluster.h"

/* One rank. */
struct weir_seat {
    uint32_t job, node;
    uint64_t worker;
};

struct weir_seats {
    struct weir_seat *all;
    uint32_t count, capacity;
};

/* Seats are by job, then by node; `classes`: of each node the first one that is like it. */
struct weir_match {
    const struct weir_seats *planned, *held;
    const uint32_t *classes;
    uint32_t nodes;
};

/* `real`: of every node of the plan. Of equal answers the one found first. WEIR_ENOMEM.
 * It costs as matching.h says; edges join the nodes that a job is planned on and those it holds. */
weir_status weir_seats_match(const struct weir_allocator *allocator, const struct weir_match *match,
                             uint32_t *real);

#endif
