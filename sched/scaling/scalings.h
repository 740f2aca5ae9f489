/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The built-in scaling policies, one file each, for the registry.
 */
#ifndef SCHED_SCALING_SCALINGS_H
#define SCHED_SCALING_SCALINGS_H

#include "weir/policy.h"

extern const struct weir_scaling_ops weir_scaling_contune;
extern const struct weir_scaling_ops weir_scaling_ds2;
extern const struct weir_scaling_ops weir_scaling_equal_split;
extern const struct weir_scaling_ops weir_scaling_fixed;
extern const struct weir_scaling_ops weir_scaling_hpa;
extern const struct weir_scaling_ops weir_scaling_inverse_speed;
extern const struct weir_scaling_ops weir_scaling_pool_feedback;
extern const struct weir_scaling_ops weir_scaling_pool_optimum;
extern const struct weir_scaling_ops weir_scaling_profile_then_scale;
extern const struct weir_scaling_ops weir_scaling_raydata;
extern const struct weir_scaling_ops weir_scaling_saturation_aware;
extern const struct weir_scaling_ops weir_scaling_weir;
extern const struct weir_scaling_ops weir_scaling_xenna;
extern const struct weir_scaling_ops weir_scaling_xenna_n;
extern const struct weir_scaling_ops weir_scaling_xenna_c;

#endif
