/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers that a policy keeps for every pool from one decision to the next: learned, saved and
 * restored in one way. The state of such a policy begins with a struct weir_kept.
 */
#ifndef SCHED_SCALING_KEPT_H
#define SCHED_SCALING_KEPT_H

#include "sched/scaling/run.h"

struct weir_kept {
    struct weir_run run; /* first: see weir_run_make */
    double *numbers;     /* pool after pool */
    uint32_t width;      /* of each; set when the policy is made */
    uint32_t pools, capacity;
    double initial; /* of every number of a pool that is new */
};

static inline double *weir_kept_of(const struct weir_kept *kept, uint32_t pool)
{
    return &kept->numbers[(size_t)pool * kept->width];
}

/* Numbers for the pools that it does not know yet. WEIR_ENOMEM. */
weir_status weir_kept_learn(struct weir_kept *kept, const struct weir_view *view,
                            struct weir_error *error);
/* The operations of the policy. */
void weir_kept_destroy(void *state);
uint32_t weir_kept_save(const void *state, double *numbers, uint32_t capacity);
weir_status weir_kept_restore(void *state, const struct weir_view *view, const double *numbers,
                              uint32_t count, struct weir_error *error);

/* Its descriptor. */
#define WEIR_KEPT_POLICY(title, table, creates, decides, text)                                     \
    {                                                                                              \
        .size = sizeof(struct weir_scaling_ops), .abi = WEIR_ABI_MAJOR, .name = (title),           \
        .summary = (text), .params = (table), .param_count = sizeof(table) / sizeof((table)[0]),   \
        .create = (creates), .destroy = weir_kept_destroy, .decide = (decides),                    \
        .save = weir_kept_save, .restore = weir_kept_restore                                       \
    }

#endif
