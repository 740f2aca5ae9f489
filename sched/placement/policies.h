/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The built-in placement policies, one file each; registry.c lists them.
 */
#ifndef SCHED_PLACEMENT_POLICIES_H
#define SCHED_PLACEMENT_POLICIES_H

#include "sched/placement/grades.h"

extern const struct weir_placement_ops weir_placement_fgd;
extern const struct weir_placement_ops weir_placement_fgd_xenna;
extern const struct weir_placement_ops weir_placement_weir;
extern const struct weir_placement_ops weir_placement_fgd_n;
extern const struct weir_placement_ops weir_placement_fgd_c;
extern const struct weir_placement_ops weir_placement_ray_hybrid;
extern const struct weir_placement_ops weir_placement_first_fit;
extern const struct weir_placement_ops weir_placement_best_fit;
extern const struct weir_placement_ops weir_placement_worst_fit;
extern const struct weir_placement_ops weir_placement_random;
extern const struct weir_placement_ops weir_placement_spread;
extern const struct weir_placement_ops weir_placement_dot_product;
extern const struct weir_placement_ops weir_placement_gpu_packing;
extern const struct weir_placement_ops weir_placement_gpu_clustering;
extern const struct weir_placement_ops weir_placement_alignment;
extern const struct weir_placement_ops weir_placement_power;
extern const struct weir_placement_ops weir_placement_weighted;

/* The rules of those that grade nodes by their parameters alone: parts of `weighted`. */
extern const struct weir_graded_kind weir_graded_best_fit;
extern const struct weir_graded_kind weir_graded_dot_product;
extern const struct weir_graded_kind weir_graded_gpu_packing;
extern const struct weir_graded_kind weir_graded_gpu_clustering;
extern const struct weir_graded_kind weir_graded_alignment;
extern const struct weir_graded_kind weir_graded_power;

#endif
