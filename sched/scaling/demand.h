/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scaling to a demand: what ds2 and contune share.
 *
 * The demand of a pipeline, in items of its source per second, is what arrives, and what waits in
 * front of its first pool divided by `catch_up`. A policy says how many workers a pool wants for
 * it; when that does not fit all pools get the same part of their demands. Counts follow a
 * demand on a timer alone, once every pool was measured, and not in the `warmup` decisions after a
 * change; a pool that has fewer workers than were planned was lost some, and is served at once.
 *
 * Arrivals are counted over the time between two timers: what waits more, and what was taken.
 */
#ifndef SCHED_SCALING_DEMAND_H
#define SCHED_SCALING_DEMAND_H

#include "sched/scaling/history.h"
#include "sched/scaling/run.h"

/* The parameters of a policy that scales to a demand, first in its table, in this order. */
#define WEIR_DEMAND_PARAMS                                                                         \
    WEIR_RUN_PARAMS,                                                                               \
        WEIR_NUMBER("source_rate", "items/s", 0, 1e12, 0,                                          \
                    "demand of each pipeline; 0 = what arrives, and what waits over catch_up"),    \
        WEIR_DURATION("catch_up", 1, 1e9, 300,                                                     \
                      "in which what waits in front of the first stage is to be worked off"),      \
        WEIR_COUNT("warmup", "", 0, 1e6, 1, "decisions after a change that watch only")

enum { WEIR_DEMAND_PARAM_COUNT = WEIR_RUN_PARAM_COUNT + 3 };

struct weir_demand_pool {
    double per_s;   /* items of the source it is to serve */
    double arrived; /* of the first pool of a pipeline: items a second, between two timers */
    double taken;   /* items that its tasks took since the last timer */
    double waiting; /* at the last timer */
    uint32_t planned;
    struct weir_history history; /* of a policy that looks back */
};

struct weir_demand {
    struct weir_run run; /* first: see WEIR_RUN_POLICY */
    /* How many workers a pool wants for its demand. */
    uint32_t (*count)(struct weir_demand *demand, uint32_t pool);
    double source_rate_per_s, catch_up_s;
    uint32_t warmup;
    struct weir_demand_pool *pools;
    uint32_t pool_count, pool_capacity;
    uint32_t watches; /* decisions left that change nothing */
    bool has_timer;   /* there was one */
    int64_t timer_ns; /* the last one */
};

/* A policy's state of `size` bytes, which begins with a demand. */
weir_status weir_demand_create(size_t size, uint32_t (*count)(struct weir_demand *, uint32_t pool),
                               const struct weir_params *params,
                               const struct weir_allocator *allocator, void **state,
                               struct weir_error *error);

/* DS2: the fewest workers whose true rates meet the demand, at least one (Kalavri et al., OSDI
 * 2018, equation 7). */
uint32_t weir_demand_ds2(const struct weir_demand *demand, uint32_t pool);

/* The operations of a policy whose state begins with a demand, and its descriptor. */
void weir_demand_destroy(void *state);
weir_status weir_demand_decide(void *state, const struct weir_view *view,
                               struct weir_placer *placer, struct weir_plan *plan,
                               struct weir_error *error);
weir_status weir_demand_measured(void *state, const struct weir_measurement *task);
uint32_t weir_demand_save(const void *state, double *numbers, uint32_t capacity);
weir_status weir_demand_restore(void *state, const struct weir_view *view, const double *numbers,
                                uint32_t count, struct weir_error *error);

#define WEIR_DEMAND_POLICY(title, table, creates, text)                                            \
    {                                                                                              \
        .size = sizeof(struct weir_scaling_ops), .abi = WEIR_ABI_MAJOR, .name = (title),           \
        .summary = (text), .params = (table), .param_count = sizeof(table) / sizeof((table)[0]),   \
        .create = (creates), .destroy = weir_demand_destroy, .decide = weir_demand_decide,         \
        .measured = weir_demand_measured, .save = weir_demand_save, .restore = weir_demand_restore \
    }

#endif
