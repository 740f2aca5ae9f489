/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of xenna's saturation-aware scheduler, without the pass that they surround.
 *
 * Each cycle: weir_saturation_observe turns queue depths and finished tasks into capacities, the
 * bottleneck, targets and floors; the caller runs a pass of version N with `solver_speed_per_s`;
 * then weir_saturation_cap says how many of the proposed workers of a pool may start and
 * weir_saturation_deletions how many may stop. Speeds are batches per second used as items per
 * second, as in the reference.
 */
#ifndef SCHED_SCALING_SATURATION_H
#define SCHED_SCALING_SATURATION_H

#include "sched/internal/memory.h"

/* What defaults to weir_saturation_config_default. */
struct weir_saturation_config {
    double headroom;      /* above the bottleneck's rate */
    double window_s;      /* of task durations */
    uint32_t least_tasks; /* before a speed is trusted */
    uint32_t most_kept;   /* tasks kept although they are older than the window */
    double alpha_up, alpha_down;
    double stale_multiple; /* of the mean duration without a completion */
    uint32_t stale_growth;
    double least_task_s;
    uint32_t warmup_growth;
    uint32_t release_cycles;
    double release_slowdown;
    uint32_t reclaim_cycles;
};

struct weir_saturation_config weir_saturation_config_default(void);

enum weir_queue_state {
    WEIR_QUEUE_STARVED,
    WEIR_QUEUE_BALANCED,
    WEIR_QUEUE_BUFFERED,
    WEIR_QUEUE_BOTTLENECK
};

struct weir_task_time {
    double start_s, length_s;
};

/* One pool: what the caller says of a cycle, what is remembered, and what follows. */
struct weir_saturation_pool {
    /* of the cycle */
    double workers, queue_items, pool_tasks, inflight, batch;
    int32_t is_manual, uses_cpu, uses_gpu;
    /* remembered */
    struct weir_task_time *tasks;
    uint32_t task_count, task_capacity;
    uint64_t samples;
    double returns; /* NAN = none yet */
    double last_completion_s;
    double speed_memory, peak, arrivals; /* NAN = none yet */
    double active_since_s;               /* NAN = nothing to do */
    uint32_t dry_cycles;
    double held, shrink_to; /* NAN = none */
    uint32_t shrink_streak, benefit_streak;
    /* of the cycle: what follows */
    double pending, active, ready, chain, stock;
    double speed_per_s; /* NAN = not trusted */
    bool is_stale, is_real, is_releasing, is_stocked;
    double target_speed, capacity, sustain, target, multiplier, solver_speed_per_s, floor;
    uint32_t queue; /* enum weir_queue_state */
};

struct weir_saturation {
    struct weir_allocator allocator;
    struct weir_saturation_config config;
    struct weir_saturation_pool *pools;
    uint32_t count;
    int32_t bottleneck, candidate; /* -1 = none */
    uint32_t streak;
    int32_t was_queue_regime; /* -1 = never decided */
    double rate, next_rate;
    bool is_warming;
};

weir_status weir_saturation_create(const struct weir_allocator *allocator,
                                   const struct weir_saturation_config *config, uint32_t count,
                                   struct weir_saturation **saturation);
void weir_saturation_destroy(struct weir_saturation *saturation);

/* One finished task of a pool. */
weir_status weir_saturation_task(struct weir_saturation *saturation, uint32_t pool, double start_s,
                                 double end_s, double returns);

/* Everything that follows from the cycle's inputs, which the caller has written. */
void weir_saturation_observe(struct weir_saturation *saturation, double now_s);

/* Speeds as they are measured, and nothing of the arrivals, floors and bottleneck that were found
 * on a cluster that is no more. After weir_saturation_observe, before the pass. */
void weir_saturation_forget(struct weir_saturation *saturation);

/* The most workers a pool may grow to, INFINITY for no bound; `*reason` names the rule. */
double weir_saturation_cap(const struct weir_saturation *saturation, uint32_t pool, double now_s,
                           const char **reason);

/* saturation_memory.c: all that is remembered. */
void weir_saturation_remember(struct weir_saturation *rules, struct weir_memory *memory);
/* The same of a loss of nodes: what was up, and the cycles left that follow it. */
void weir_saturation_remember_loss(struct weir_memory *memory, uint32_t *cycles,
                                   struct weir_amounts *up);

/* How many of the proposed stops may be carried out when `started` workers start. */
uint32_t weir_saturation_deletions(const struct weir_saturation *saturation, uint32_t pool,
                                   uint32_t started, uint32_t proposed);

#endif
