/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one policy needs to work, whatever its kind: its parameter values and its state.
 */
#ifndef SCHED_INTERNAL_POLICY_STATE_H
#define SCHED_INTERNAL_POLICY_STATE_H

#include "weir/policy.h"

/* The part that the operations of all kinds have in common. */
struct weir_policy_table {
    const char *kind, *name; /* for messages: "queueing policy", "fcfs" */
    const struct weir_param *params;
    uint32_t count;
    weir_status (*create)(const struct weir_params *params, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error);
    void (*destroy)(void *state);
    uint32_t (*save)(const void *state, double *numbers, uint32_t capacity);
    weir_status (*restore)(void *state, const struct weir_view *view, const double *numbers,
                           uint32_t count, struct weir_error *error);
};
/* Whether a table of operations goes as far as this one: those of older modules are shorter. */
#define WEIR_OPS_HAVE(ops, member)                                                                 \
    ((size_t)((const char *)(&(ops)->member + 1) - (const char *)(ops)) <= (ops)->size)
#define WEIR_POLICY_TABLE(kind, ops)                                                               \
    ((struct weir_policy_table){ kind " policy", (ops)->name, (ops)->params, (ops)->param_count,   \
                                 (ops)->create, (ops)->destroy,                                    \
                                 WEIR_OPS_HAVE(ops, save) ? (ops)->save : NULL,                    \
                                 WEIR_OPS_HAVE(ops, restore) ? (ops)->restore : NULL })

struct weir_policy_state {
    double *values; /* of all parameters */
    void *state;
    void (*destroy)(void *state); /* NULL = nothing was created */
    uint32_t (*save)(const void *state, double *numbers, uint32_t capacity); /* NULL = no memory */
    weir_status (*restore)(void *state, const struct weir_view *view, const double *numbers,
                           uint32_t count, struct weir_error *error);
};

/* `given` NULL or empty = defaults. On failure nothing is held, and the message names the policy.
 */
weir_status weir_policy_state_open(struct weir_policy_state *policy,
                                   const struct weir_policy_table *table,
                                   const struct weir_params *given,
                                   const struct weir_allocator *allocator,
                                   struct weir_error *error);
void weir_policy_state_close(struct weir_policy_state *policy,
                             const struct weir_allocator *allocator);

/* A policy that no host has. */
struct weir_policy_alone {
    struct weir_allocator allocator;
    const void *ops; /* of its kind */
    struct weir_policy_state policy;
};
weir_status weir_policy_alone_create(const void *ops, const struct weir_policy_table *table,
                                     const struct weir_params *given,
                                     const struct weir_allocator *allocator, void **alone,
                                     struct weir_error *error);
void weir_policy_alone_destroy(struct weir_policy_alone *alone);

#endif
