/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a policy with parameters is made and unmade: one way for all.
 *
 * The state begins with the allocator that it came from; somewhere in it lie the values of the
 * policy's table. All else in it is zero at first.
 */
#ifndef SCHED_QUEUEING_MADE_H
#define SCHED_QUEUEING_MADE_H

#include "weir/policy.h"

#include <stddef.h>

struct weir_made {
    size_t size;   /* of the state */
    size_t values; /* where in it the values lie */
    const struct weir_param *params;
    uint32_t count;
};

#define WEIR_MADE(type, table, number)                                                             \
    {                                                                                              \
        sizeof(type), offsetof(type, values), (table), (number)                                    \
    }

/* Errors: WEIR_ENOMEM, WEIR_EINVAL (a value); then nothing is held. */
weir_status weir_made_create(const struct weir_made *made, const struct weir_params *given,
                             const struct weir_allocator *allocator, void **state,
                             struct weir_error *error);
/* What the state holds beside itself is given back before. */
void weir_made_destroy(void *state);

#endif
