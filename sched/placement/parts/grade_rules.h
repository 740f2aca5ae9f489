/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the graded policies differ in: what each calls a good node, and where its parameters stand.
 * The table of graded.h makes policies of them.
 */
#ifndef SCHED_PLACEMENT_GRADE_RULES_H
#define SCHED_PLACEMENT_GRADE_RULES_H

#include "sched/placement/parts/grades.h"

/* Places of the parameters, policy by policy: values keep their places for ever. */
enum {
    BEST_FIT_MEASURE,
    BEST_FIT_CPU_SCALE,
    BEST_FIT_GPU_SCALE,
    BEST_FIT_STEPS,
    BEST_FIT_DEVICE,
    BEST_FIT_TIE,
    BEST_FIT_ORDER,
    BEST_FIT_COUNT
};
enum {
    WORST_FIT_MEASURE,
    WORST_FIT_CPU_SCALE,
    WORST_FIT_GPU_SCALE,
    WORST_FIT_STEPS,
    WORST_FIT_DEVICE,
    WORST_FIT_TIE,
    WORST_FIT_ORDER,
    WORST_FIT_COUNT
};
enum { FIRST_FIT_DEVICE, FIRST_FIT_TIE, FIRST_FIT_ORDER, FIRST_FIT_SLOTS, FIRST_FIT_COUNT };
enum {
    DOT_PRODUCT_CPU_SCALE,
    DOT_PRODUCT_GPU_SCALE,
    DOT_PRODUCT_STEPS,
    DOT_PRODUCT_DEVICE,
    DOT_PRODUCT_TIE,
    DOT_PRODUCT_ORDER,
    DOT_PRODUCT_COUNT
};
enum {
    GPU_PACKING_DEVICE,
    GPU_PACKING_STEPS,
    GPU_PACKING_TIE,
    GPU_PACKING_ORDER,
    GPU_PACKING_COUNT
};
enum {
    GPU_CLUSTERING_GPU_SCALE,
    GPU_CLUSTERING_DEVICE,
    GPU_CLUSTERING_STEPS,
    GPU_CLUSTERING_TIE,
    GPU_CLUSTERING_ORDER,
    GPU_CLUSTERING_COUNT
};
enum {
    ALIGNMENT_SCALE,
    ALIGNMENT_CPU_SCALE,
    ALIGNMENT_GPU_SCALE,
    ALIGNMENT_RAM_SCALE,
    ALIGNMENT_STEPS,
    ALIGNMENT_DEVICE,
    ALIGNMENT_TIE,
    ALIGNMENT_ORDER,
    ALIGNMENT_COUNT
};
enum {
    POWER_CPU_POWER,
    POWER_SOCKET_CORES,
    POWER_SOCKET_IDLE,
    POWER_SOCKET_FULL,
    POWER_GPU_IDLE,
    POWER_GPU_FULL,
    POWER_STEPS,
    POWER_DEVICE,
    POWER_TIE,
    POWER_ORDER,
    POWER_COUNT
};
enum { ALIGNMENT_NODE, ALIGNMENT_COMMON }; /* of ALIGNMENT_SCALE */

/* Grades; `values` are the policy's parameters (const double *). */
#define GRADE_RULE(policy)                                                                         \
    struct weir_grade weir_grade_##policy(const void *values, const struct weir_grade_site *site)

/* The least left of CPUs and GPUs, on a scale common to all nodes (Weng et al., ATC 2023). */
GRADE_RULE(best_fit);
/* The most left. */
GRADE_RULE(worst_fit);
/* All nodes are equal: tie rule and order decide. Instances of a GPU that is cut begin at the
 * lowest slot, as one would do naively, so that small ones stand where large ones could begin;
 * `slots: high` fills from above. */
GRADE_RULE(first_fit);
/* Free CPUs and GPUs that are least aligned with what is asked for, so that what is plentiful stays
 * (Weng et al., ATC 2023). */
GRADE_RULE(dot_product);
/* GPUs that are in use already, then free GPUs of nodes in use, an empty node last (Weng et al.,
 * ATC 2023): 50 to 100, 33 to 50, and below; 0 for work without GPUs. */
GRADE_RULE(gpu_packing);
/* Work of one kind together. Kinds are "a share of a GPU" and "k whole GPUs". Best is a node with
 * this kind alone, then one with this kind among others, then one without GPU work; fuller nodes
 * first (Weng et al., ATC 2023); 0 for work without GPUs. */
GRADE_RULE(gpu_clustering);
/* Free CPUs, GPUs and memory that are most aligned with what is asked for, so that a node is
 * emptied evenly (Grandl et al., SIGCOMM 2014, section 3.2): the mean over CPU, GPU and memory of
 * (free / scale) * (request / scale), free before the placement. The scale is what the node has in
 * all, as in the paper, or common to all nodes; a resource the node has nothing of counts 0. */
GRADE_RULE(alignment);
/* Power before - power after, in watts, so 0 or less (PWR: Lettich et al., CCGrid 2025). A GPU
 * draws its idle power while nothing is on it and its full power otherwise; a share therefore goes
 * to a GPU in use where there is one. Of CPUs, two make a core; cores fill one socket after the
 * other, and a socket draws its idle or its full power. What the inventory does not know of a GPU,
 * and all of the CPUs, comes from the parameters: by default the sockets of a Xeon 8163. */
GRADE_RULE(power);

#endif
