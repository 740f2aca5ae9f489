/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parameter tables of policies: whether a table is sound, and values made complete and checked.
 */
#ifndef SCHED_INTERNAL_PARAMS_H
#define SCHED_INTERNAL_PARAMS_H

#include "weir/policy.h"

/* One row of a table, by the kind of the parameter. `last` is the index of the last of `words`. */
#define WEIR_PARAM(title, its_unit, its_kind, least, most, value, words, text)                     \
    {                                                                                              \
        .name = (title), .unit = (its_unit), .kind = (its_kind), .min = (least), .max = (most),    \
        .initial = (value), .choices = (words), .help = (text)                                     \
    }
#define WEIR_NUMBER(name, unit, min, max, initial, help)                                           \
    WEIR_PARAM(name, unit, WEIR_PARAM_NUMBER, min, max, initial, NULL, help)
#define WEIR_COUNT(name, unit, min, max, initial, help)                                            \
    WEIR_PARAM(name, unit, WEIR_PARAM_COUNT, min, max, initial, NULL, help)
#define WEIR_DURATION(name, min, max, initial, help)                                               \
    WEIR_PARAM(name, "s", WEIR_PARAM_DURATION, min, max, initial, NULL, help)
#define WEIR_FLAG(name, initial, help)                                                             \
    WEIR_PARAM(name, "", WEIR_PARAM_FLAG, 0, 1, initial, NULL, help)
#define WEIR_CHOICE(name, words, last, initial, help)                                              \
    WEIR_PARAM(name, "", WEIR_PARAM_CHOICE, 0, last, initial, words, help)

#define WEIR_LIST(name, unit, most, help)                                                          \
    WEIR_PARAM(name, unit, WEIR_PARAM_LIST, 0, most, 0, NULL, help)
#define WEIR_TEXT(name, most, help) WEIR_PARAM(name, "", WEIR_PARAM_TEXT, 0, most, 0, NULL, help)

/* Names present and unique, min <= initial <= max, known kinds, choices that match their range. */
weir_status weir_params_check_table(const struct weir_param *table, uint32_t count,
                                    struct weir_error *error);

/* Values as they are given, which were checked before, then the defaults of the others. */
void weir_params_read(const struct weir_param *table, uint32_t count,
                      const struct weir_params *given, double *values);

/* Writes `count` values: the given ones, or the defaults when none are given. Errors: WEIR_EINVAL
 * with the parameter named (wrong number of values, NaN, out of range, not whole). Of a list its
 * length is written; weir_params_list has the numbers. */
weir_status weir_params_resolve(const struct weir_param *table, uint32_t count,
                                const struct weir_params *given, double *values,
                                struct weir_error *error);

#endif
