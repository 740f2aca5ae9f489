/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pass of policies that choose a tenant first and then its next job.
 *
 * Of all tenants with a job that was not refused yet the one of the least rank is next, level by
 * level from the root of the tree: at the level where two of them part, the ranks of the two
 * branches decide. Ranks within 1e-9 of each other are equal, then the secondary rank decides, then
 * the order of the tenants, or of arrival. Within a tenant the most urgent job is next, then the
 * one submitted first. Jobs beyond a soft limit come when no other is left. Cost: O(tenants x
 * depth) a job that is tried.
 */
#ifndef SCHED_QUEUEING_BY_TENANT_H
#define SCHED_QUEUEING_BY_TENANT_H

#include "weir/tenant.h"

struct weir_by_tenant {
    void *state;
    const struct weir_view *view;
    struct weir_placer *placer;
    /* Smaller is next. `job` is next of those of the tenant and below it. */
    struct weir_score (*rank)(void *state, const struct weir_view *view,
                              const struct weir_tenant *tenant, const struct weir_job *job);
    /* Before every choice. NULL = nothing to do. */
    void (*choose)(void *state);
    /* Why the chosen job is not even tried, enum weir_reason. NULL = every job is. */
    uint32_t (*refuse)(void *state, const struct weir_view *view, const struct weir_job *job);
    /* It found no place, and no limit is in its way: the plan may preempt others for it. WEIR_OK
     * when there is room now, WEIR_EBUSY when not. NULL = nobody makes room. */
    weir_status (*make_room)(void *state, const struct weir_job *job, struct weir_error *error);
    /* It started. NULL = nothing to do. */
    void (*started)(void *state, const struct weir_view *view, const struct weir_job *job);
    bool makes_room_of_quota; /* make_room is asked for jobs that `refuse` refuses, too */
    bool is_by_arrival;       /* of equal tenants the one whose job is first in the queue */
    bool is_blocking; /* while the chosen job finds no place, all wait; limits block nobody */
};

weir_status weir_by_tenant_pass(const struct weir_by_tenant *rule, struct weir_error *error);

/* The key of these policies: the most urgent first. */
double weir_by_tenant_key(void *state, const struct weir_job *job, int64_t now_ns);

/* What the tables of these policies begin with. */
#define WEIR_BY_TENANT                                                                             \
    .size = sizeof(struct weir_queueing_ops), .abi = WEIR_ABI_MAJOR,                               \
    .flags = WEIR_QUEUEING_PASSES, .key = weir_by_tenant_key

#endif
