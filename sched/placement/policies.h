/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The built-in placement policies, one file each but for those that differ in their grade alone;
 * registry.c lists them.
 */
#ifndef SCHED_PLACEMENT_POLICIES_H
#define SCHED_PLACEMENT_POLICIES_H

#include "sched/placement/parts/grades.h"

extern const struct weir_placement_ops weir_placement_fgd;
extern const struct weir_placement_ops weir_placement_fgd_xenna;
extern const struct weir_placement_ops weir_placement_weir;
extern const struct weir_placement_ops weir_placement_fgd_n;
extern const struct weir_placement_ops weir_placement_fgd_p;
extern const struct weir_placement_ops weir_placement_fgd_c;
extern const struct weir_placement_ops weir_placement_ray_hybrid;
extern const struct weir_placement_ops weir_placement_random;
extern const struct weir_placement_ops weir_placement_spread;
extern const struct weir_placement_ops weir_placement_weighted;
extern const struct weir_placement_ops weir_placement_topology;
extern const struct weir_placement_ops weir_placement_apart;
extern const struct weir_placement_ops weir_placement_lifetime_aware;
extern const struct weir_placement_ops weir_placement_power_balance;

/* Those that differ in their grade alone: rows of one table (graded_policies.c). */
enum weir_graded_policy {
    WEIR_GRADED_BEST_FIT,
    WEIR_GRADED_WORST_FIT,
    WEIR_GRADED_FIRST_FIT,
    WEIR_GRADED_DOT_PRODUCT,
    WEIR_GRADED_GPU_PACKING,
    WEIR_GRADED_GPU_CLUSTERING,
    WEIR_GRADED_ALIGNMENT,
    WEIR_GRADED_POWER,
    WEIR_GRADED_COUNT
};
extern const struct weir_placement_ops weir_placement_graded[WEIR_GRADED_COUNT];
/* Their rules, also parts of `weighted`. */
extern const struct weir_graded_kind weir_graded_kinds[WEIR_GRADED_COUNT];

#endif
