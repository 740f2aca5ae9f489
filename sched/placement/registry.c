/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The built-in placement policies. The order is the order of `weir policies` and of sweeps: the
 * recommended one first, then the classical fits, those for shared GPUs, then the two baselines.
 * Append in this sense.
 */
#include "sched/placement/policies.h"

#include "sched/internal/registry.h"

static const struct weir_placement_ops *const placements[] = {
    &weir_placement_fgd,
    &weir_placement_fgd_xenna,
    &weir_placement_weir,
    &weir_placement_graded[WEIR_GRADED_BEST_FIT],
    &weir_placement_graded[WEIR_GRADED_FIRST_FIT],
    &weir_placement_graded[WEIR_GRADED_WORST_FIT],
    &weir_placement_graded[WEIR_GRADED_DOT_PRODUCT],
    &weir_placement_graded[WEIR_GRADED_GPU_PACKING],
    &weir_placement_graded[WEIR_GRADED_GPU_CLUSTERING],
    &weir_placement_spread,
    &weir_placement_random,
    &weir_placement_ray_hybrid,
    &weir_placement_fgd_n,
    &weir_placement_fgd_c,
    &weir_placement_fgd_p,
    &weir_placement_graded[WEIR_GRADED_ALIGNMENT],
    &weir_placement_graded[WEIR_GRADED_POWER],
    &weir_placement_weighted,
    &weir_placement_topology,
    &weir_placement_apart,
    &weir_placement_lifetime_aware,
    &weir_placement_power_balance,
};

WEIR_REGISTRY(placement, placements)
