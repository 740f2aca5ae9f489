/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much is asked of the nodes that there are: the five numbers that capacity policies look at.
 *
 * Shares are of what is assigned, as the plan leaves it, in what is up or on its way: a node that
 * was asked for is not asked for again while it boots. Waiting is that of jobs, and of tasks in
 * front of stages: how long the last of them waits at the measured speed of the ready workers.
 */
#ifndef SCHED_CAPACITY_PARTS_LOAD_H
#define SCHED_CAPACITY_PARTS_LOAD_H

#include "weir/capacity.h"

enum weir_load_metric {
    WEIR_LOAD_CPU,
    WEIR_LOAD_GPU,
    WEIR_LOAD_RAM,
    WEIR_LOAD_QUEUE, /* jobs and tasks that wait */
    WEIR_LOAD_WAIT,  /* seconds that the longest of them has waited, or will */
    WEIR_LOAD_COUNT
};

struct weir_load {
    double of[WEIR_LOAD_COUNT];
    uint32_t nodes;    /* of all offers, up or on their way */
    int64_t oldest_ns; /* since when the job waits that has waited longest; INT64_MAX = none */
};

/* Jobs that had waited longest when all were walked last, the oldest first: whoever came later has
 * waited less, so they are the oldest until the last of them is gone. All zero at first. */
struct weir_oldest {
    struct {
        uint64_t id;
        int64_t queued_ns;
        uint32_t workload;
    } jobs[64];
    uint32_t count, next;
};

/* Without `oldest` (NULL) WAIT is 0. O(offers + pools), with it O(jobs) once in 64 of the oldest
 * jobs that start or go. */
void weir_load_look(const struct weir_view *view, struct weir_oldest *oldest,
                    struct weir_load *load);

#endif
