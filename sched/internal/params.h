/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parameter tables of policies: whether a table is sound, and values made complete and checked.
 */
#ifndef SCHED_INTERNAL_PARAMS_H
#define SCHED_INTERNAL_PARAMS_H

#include "weir/policy.h"

/* Names present and unique, min <= initial <= max, known kinds, choices that match their range. */
weir_status weir_params_check_table(const struct weir_param *table, uint32_t count,
                                    struct weir_error *error);

/* Number of words in `choices`. */
uint32_t weir_param_choice_count(const char *choices);

/* Writes `count` values: the given ones, or the defaults when none are given. Errors: WEIR_EINVAL
 * with the parameter named (wrong number of values, NaN, out of range, not whole). */
weir_status weir_params_resolve(const struct weir_param *table, uint32_t count,
                                const struct weir_params *given, double *values,
                                struct weir_error *error);

#endif
