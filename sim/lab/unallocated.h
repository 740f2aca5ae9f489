/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Why GPUs stay unallocated although jobs were refused, and what would help.
 *
 * Causes. Each refused job looks at each node and names the first thing that keeps it away: no GPU
 * of a model it accepts, GPUs with too little left or too few of them, GPU memory, CPUs, memory.
 * The node's free GPU goes to that cause; where its GPUs are the cause, what lies on GPUs too small
 * for it is "fraction", the rest "gang". Jobs count by their GPU demand, and the shares are spread
 * over all unallocated GPUs. Where less was asked for than there is, the difference has the cause
 * "no demand", so that the causes always add up to what is unallocated.
 *
 * Changes. The refused jobs are asked again with one thing changed, everything else as it is: more
 * CPUs or memory on all nodes of one GPU model (the least amount that reaches 90 % of what any
 * amount would), any model accepted, gangs over several nodes, the free parts of a node's GPUs
 * joined. They are placed largest first on the first node that fits; the GPUs they then hold are
 * what the change frees.
 */
#ifndef SIM_LAB_UNALLOCATED_H
#define SIM_LAB_UNALLOCATED_H

#include "sim/lab/free_room.h"

/* X(name, metric, text for charts) */
#define SIM_UNALLOCATED_CAUSES(X)                                                                  \
    X(SIM_CAUSE_MODEL, "unalloc.model_pct")                                                        \
    X(SIM_CAUSE_FRACTION, "unalloc.fraction_pct")                                                  \
    X(SIM_CAUSE_GANG, "unalloc.gang_pct")                                                          \
    X(SIM_CAUSE_GPU_MEM, "unalloc.gpumem_pct")                                                     \
    X(SIM_CAUSE_CPU, "unalloc.cpu_pct")                                                            \
    X(SIM_CAUSE_MEMORY, "unalloc.mem_pct")                                                         \
    X(SIM_CAUSE_POLICY, "unalloc.policy_pct")                                                      \
    X(SIM_CAUSE_NO_DEMAND, "unalloc.no_demand_pct")

#define SIM_CAUSE_ENUM(name, metric) name,
enum sim_cause { SIM_UNALLOCATED_CAUSES(SIM_CAUSE_ENUM) SIM_CAUSES };
#undef SIM_CAUSE_ENUM

enum { SIM_CHANGES = 32, SIM_CHANGE_TEXT = 80 };

struct sim_change {
    char text[SIM_CHANGE_TEXT]; /* "+8 CPUs on 134 p100 nodes" */
    uint32_t nodes;
    double gpus_freed;
};

struct sim_unallocated_question {
    const struct sim_scenario *scenario; /* for the names of models */
    const struct sim_cluster *cluster;
    const struct sim_job_kinds *kinds;
    const uint64_t *refused; /* jobs by kind */
    double arrived_gpus;     /* asked for, placed or not */
};

struct sim_unallocated {
    double gpus[SIM_CAUSES];
    struct sim_change changes[SIM_CHANGES]; /* those that free GPUs, most first */
    uint32_t change_count;
};

weir_status sim_unallocated_compute(const struct sim_unallocated_question *question,
                                    struct sim_unallocated *unallocated);

/* placement_change.c: the second half, tried out in `room`. */
weir_status sim_placement_changes(const struct sim_unallocated_question *question,
                                  struct sim_free_room *room, struct sim_unallocated *unallocated);

#endif
