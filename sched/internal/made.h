/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the state of a policy is made and unmade: one way for all.
 *
 * The state begins with the allocator that it came from; somewhere in it lie the values of the
 * policy's table. All else in it is zero at first.
 */
#ifndef SCHED_INTERNAL_MADE_H
#define SCHED_INTERNAL_MADE_H

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

/* Of a policy without parameters. */
#define WEIR_MADE_BARE(type)                                                                       \
    {                                                                                              \
        sizeof(type), 0, NULL, 0                                                                   \
    }

/* Errors: WEIR_ENOMEM, WEIR_EINVAL (a value); then nothing is held. */
weir_status weir_made_create(const struct weir_made *made, const struct weir_params *given,
                             const struct weir_allocator *allocator, void **state,
                             struct weir_error *error);
/* Once it has what it holds beside itself, or that went wrong: then nothing is held, and what only
 * says WEIR_ENOMEM gets its sentence. Returns `status`. */
weir_status weir_made_end(weir_status status, void (*destroy)(void *state), void **state,
                          struct weir_error *error);
/* What the state holds beside itself is given back before. */
void weir_made_destroy(void *state);

#endif
