/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A number worked out by an expression that a user wrote: "(wait / estimate)^3 * devices".
 *
 * It knows numbers, the variables it is given, + - * / ^ and parentheses, and the functions of
 * expression.c; nothing else can be said in it, and nothing that it does is felt outside. At most
 * WEIR_EXPRESSION_STEPS numbers, names and operations; no recursion, so nesting is bounded by that.
 * The text is translated once; to work it out costs O(steps).
 */
#ifndef SCHED_QUEUEING_EXPRESSION_H
#define SCHED_QUEUEING_EXPRESSION_H

#include "weir/status.h"

#include <stdint.h>

enum { WEIR_EXPRESSION_STEPS = 64, WEIR_EXPRESSION_TEXT = 512 };

struct weir_expression_step {
    uint32_t operation; /* of expression.c */
    uint32_t variable;
    double number;
};

/* In the order in which a stack of numbers works it out. */
struct weir_expression {
    uint32_t count;
    struct weir_expression_step steps[WEIR_EXPRESSION_STEPS];
};

/* `names`: of the variables. WEIR_EINVAL says at which character what is wrong, and a name that is
 * near to one that is not known. */
weir_status weir_expression_read(struct weir_expression *expression, const char *text,
                                 const char *const *names, uint32_t count,
                                 struct weir_error *error);
/* NaN when a part of it is none. */
double weir_expression_value(const struct weir_expression *expression, const double *variables);

#endif
