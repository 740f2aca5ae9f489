/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How much GPU any scheduler could allocate at most, with these jobs on these nodes.
 *
 * Nodes of equal hardware are one group, jobs that ask for the same one kind; x(k, g) is how many
 * jobs of kind k run in group g. Maximise the GPUs they hold, subject to: no more jobs than
 * arrived, only groups whose empty nodes they fit, and for every group the GPUs, their memory, the
 * memory slots of those that are cut, and the CPUs and memory it has. That linear program lets jobs
 * be divided and nodes of a group be one; both make the value larger, never smaller, than what can
 * be placed. It is tightened by the same constraints with stretched sizes (dual_feasible.h), which
 * every real placement meets: a GPU cannot hold two shares of 0.6, a node of 8 CPUs no two jobs
 * of 5. Of GPUs with instances that stay as they are cut, jobs that can use some profiles alone are
 * no more than the instances of these (as in Hall's theorem). Both are added where the present
 * solution breaks them, until it breaks none.
 *
 * The value is not taken from the solver's objective but computed from its multipliers by weak
 * duality, with those below 0 set to 0: whatever the solver did, the result is a bound.
 *
 * The simple bound needs no solver: the least of what was asked for and, summed over the groups,
 * the least of the GPUs and what one resource allows when the jobs with the most GPU for it are
 * taken first.
 *
 * Jobs without GPUs are left out (a scheduler may refuse them), as are engines.
 */
#ifndef SIM_LAB_ALLOC_BOUND_H
#define SIM_LAB_ALLOC_BOUND_H

#include "sim/cluster/cluster.h"
#include "sim/lab/job_kinds.h"

struct sim_alloc_question {
    const struct sim_cluster *cluster; /* empty or not: only totals are looked at */
    const struct sim_job_kinds *kinds;
    const double *jobs;            /* at most, by kind */
    const double *worth;           /* of one of a kind; NULL = the GPUs that it asks for */
    struct sim_bound_shelf *shelf; /* where answers are kept (bound_shelf.h); NULL = nowhere */
};

struct sim_alloc_bound {
    double gpus;        /* or worth; never above simple_gpus */
    double simple_gpus; /* without the program */
    uint32_t groups, kinds, rounds;
};

/* Errors: WEIR_ENOMEM. */
weir_status sim_alloc_bound_compute(const struct sim_alloc_question *question,
                                    struct sim_alloc_bound *bound);

/* ---- shared by the two halves: the problem and its linear program ---- */

struct sim_alloc_group {
    uint32_t node; /* one of them */
    uint32_t nodes;
};

/* What a size is measured against: one GPU, its memory, its memory slots where it is cut, the GPUs
 * of a node, its CPUs, its memory. */
enum sim_alloc_measure {
    SIM_ALLOC_DEVICE,
    SIM_ALLOC_DEVICE_MEMORY,
    SIM_ALLOC_DEVICE_SLOTS,
    SIM_ALLOC_NODE_GPUS,
    SIM_ALLOC_CPU,
    SIM_ALLOC_MEMORY,
    SIM_ALLOC_MEASURES
};

struct sim_alloc_problem {
    const struct sim_cluster *cluster;
    struct sim_alloc_group *groups;
    uint32_t group_count;
    const struct weir_shape **shapes; /* kinds that ask for GPUs and arrived */
    double *jobs, *worth;
    uint32_t kind_count;
    bool *fits; /* by kind * group_count + group: an empty node carries one */
};

/* Bins of a measure in a group, their size, and how much of them one job of a kind takes:
 * `parts` pieces of `size` each. A whole of 0 means the measure does not count. */
struct sim_alloc_bins {
    double bins;
    int64_t whole;
};
struct sim_alloc_bins sim_alloc_bins_of(const struct sim_alloc_problem *problem, uint32_t group,
                                        enum sim_alloc_measure measure);
struct sim_alloc_piece {
    uint32_t parts;
    int64_t size;
};
struct sim_alloc_piece sim_alloc_piece_of(const struct sim_alloc_problem *problem, uint32_t kind,
                                          uint32_t group, enum sim_alloc_measure measure);

/* Where the GPUs of a group are cut for good, and all alike: bits of the profiles that a kind can
 * use there; instances of a node with one of these profiles. 0 elsewhere. */
uint32_t sim_alloc_profiles(const struct sim_alloc_problem *problem, uint32_t kind, uint32_t group);
uint32_t sim_alloc_instances(const struct sim_alloc_problem *problem, uint32_t group,
                             uint32_t profiles);

/* alloc_program.c: the value of the linear program. */
weir_status sim_alloc_program_solve(const struct sim_alloc_problem *problem, double *gpus,
                                    uint32_t *rounds);

#endif
