/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's insides, for host.c (policies and decisions), host_state.c (what the controller tells)
 * and export.c.
 *
 * The inventory is what was told. The scratch is a second inventory in the same state: outcomes
 * change both, a decision marks it and is rolled back afterwards, so that nothing is copied. When
 * anything is in doubt `is_stale` is set and the next decision copies the inventory over.
 */
#ifndef SCHED_INTERNAL_HOST_H
#define SCHED_INTERNAL_HOST_H

#include "sched/internal/policy_state.h"
#include "sched/placer.h"
#include "weir/host.h"

struct weir_host_pool {
    struct weir_estimator *estimator;
    struct weir_estimate given; /* valid while has_given */
    char *name;
    bool has_given;
};

/* One placement and one scaling policy with their states and parameter values. */
struct weir_policy_pair {
    const struct weir_placement_ops *placement;
    const struct weir_scaling_ops *scaling;
    struct weir_policy_state placed; /* of the placement policy */
    struct weir_policy_state scaled; /* of the scaling policy */
};

struct weir_host {
    struct weir_allocator allocator;
    struct weir_window window;
    uint64_t seed;
    uint32_t explain;
    int64_t (*clock_ns)(void *state);
    void *clock_state;
    struct weir_policy_pair main;
    struct weir_policy_pair fallback; /* scaling NULL = none */
    struct weir_cluster *inventory;
    struct weir_cluster *scratch;
    bool is_stale;
    struct weir_placer *placer;
    struct weir_plan *plan;
    struct weir_host_pool *pools;
    struct weir_pool_view *views; /* the same pools as policies see them */
    uint32_t pool_count, pool_capacity, view_capacity;
    struct weir_view view;
    uint64_t next_worker;
    struct weir_host_stats stats;
};

weir_status weir_policy_pair_create(struct weir_policy_pair *pair,
                                    const struct weir_host_config *config,
                                    const struct weir_allocator *allocator,
                                    struct weir_error *error);
void weir_policy_pair_destroy(struct weir_policy_pair *pair,
                              const struct weir_allocator *allocator);

/* Frees the pools. */
void weir_host_clear_pools(struct weir_host *host);

#endif
