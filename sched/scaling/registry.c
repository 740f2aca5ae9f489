/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scaling policies this library brings. The first is the default and the fallback; the others
 * follow from most to least informed. A new policy is one file and one line here.
 */
#include "sched/scaling/scalings.h"

#include "sched/internal/registry.h"

static const struct weir_scaling_ops *const SCALINGS[] = {
    &weir_scaling_xenna,         &weir_scaling_pool_optimum,
    &weir_scaling_inverse_speed, &weir_scaling_equal_split,
    &weir_scaling_fixed,         &weir_scaling_xenna_n,
    &weir_scaling_xenna_c,       &weir_scaling_saturation_aware,
    &weir_scaling_weir,          &weir_scaling_ds2,
    &weir_scaling_contune,       &weir_scaling_raydata,
    &weir_scaling_pool_feedback, &weir_scaling_profile_then_scale,
    &weir_scaling_hpa,
};

WEIR_REGISTRY(scaling, SCALINGS)
