/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tenants a host knows, and what each uses.
 *
 * Invariant: sums of a tenant are over its own jobs and those of the tenants below it, so those of
 * the root are over all jobs (weir_tenants_check recomputes them); `kept` of a tenant is what the
 * others have to leave free for it and those below it. Cost: O(depth) a job that comes, starts,
 * ends or goes.
 */
#ifndef SCHED_HOST_TENANTS_H
#define SCHED_HOST_TENANTS_H

#include "sched/internal/amounts.h"
#include "weir/tenant.h"

enum { TENANT_GPU, TENANT_CPU, TENANT_RAM, TENANT_RESOURCES };

struct weir_tenant_entry {
    char *name;
    uint32_t parent, depth;
    int32_t priority;
    double weight, tickets;
    double weights_below; /* of its children */
    struct weir_quota guarantee, hard, soft, borrow, lend;
    int64_t gpu_pool_bytes;
    struct weir_amounts used, wanted;
    uint32_t running, waiting;
    int64_t device_units;                 /* in use */
    int64_t bandwidth_units, link_units;  /* of them */
    double device_s;                      /* of the past, up to `since_ns` */
    int64_t since_ns;                     /* WEIR_UNKNOWN_TIME = nothing was counted yet */
    int64_t kept[TENANT_RESOURCES];       /* by it and those below it */
    int64_t kept_below[TENANT_RESOURCES]; /* sum over its children */
    uint32_t first_kind;                  /* of its own jobs, WEIR_NO_INDEX = none */
};

struct weir_tenants {
    struct weir_tenant_entry *all; /* from the root on */
    uint32_t count, capacity;
    int64_t now_ns, half_life_ns;
    int64_t period_ns; /* past use fades at whole ones; 0 = all the time */
    enum weir_usage_rule rule;
    uint64_t turn; /* of passes: jobs that a soft limit puts off */
    bool has_limits, has_soft, has_pools;
};

/* What changes when a job does. */
struct weir_tenant_change {
    const struct weir_amounts *need;
    int64_t device_units, bandwidth_units, link_units; /* in use by one of these jobs */
    int32_t running, waiting;                          /* jobs more */
};

weir_status weir_tenants_open(struct weir_tenants *tenants, const struct weir_allocator *allocator);
void weir_tenants_close(struct weir_tenants *tenants, const struct weir_allocator *allocator);
/* Time goes on. */
void weir_tenants_at(struct weir_tenants *tenants, int64_t now_ns);
void weir_tenants_change(struct weir_tenants *tenants, uint32_t number,
                         const struct weir_tenant_change *change);
/* Device-seconds of the past, up to now. */
double weir_tenants_past(const struct weir_tenants *tenants, uint32_t number);
/* What the others have to leave free, counted anew after limits changed. */
void weir_tenants_keep(struct weir_tenants *tenants);
/* Who is charged for a job that says this number. */
static inline uint32_t weir_tenants_of(const struct weir_tenants *tenants, uint32_t number)
{
    return number < tenants->count ? number : 0;
}
/* So many more (fewer) such needs are used; nothing else is counted. */
void weir_tenants_count(struct weir_tenants *tenants, uint32_t number,
                        const struct weir_amounts *need, int32_t by);
/* The tenant whose limit so much more would break, or WEIR_NO_INDEX; `free` = of the cluster. */
uint32_t weir_tenants_blocked(const struct weir_tenants *tenants, uint32_t number,
                              const struct weir_amounts *need, const struct weir_amounts *free);
/* Whether so much more goes beyond a soft limit. */
bool weir_tenants_is_beyond_soft(const struct weir_tenants *tenants, uint32_t number,
                                 const struct weir_amounts *need);
/* The tenant whose pool of GPU memory it may use: itself, or the nearest above that has one; 0 =
 * nobody's. */
uint32_t weir_tenants_pool(const struct weir_tenants *tenants, uint32_t number);
/* Of the memory of a GPU, what the pools of others are. */
int64_t weir_tenants_pooled(const struct weir_tenants *tenants, uint32_t number);
/* Whether `number` is `above`, or below it. */
bool weir_tenants_is_within(const struct weir_tenants *tenants, uint32_t number, uint32_t above);
/* GPU units of a job; ranks without any count one. */
int64_t weir_rank_group_devices(const struct weir_rank_group *groups, uint32_t count);

#endif
