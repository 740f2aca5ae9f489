/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tenants: whose jobs they are, what each may have, and what each has had.
 *
 * Tenants form a tree. Number 0 is the root: all jobs, and those that belong to nobody. The others
 * are counted from 1 in the order in which they were told; a job says its number
 * (weir_job_spec.tenant). What a tenant uses is what its jobs ask for that start or run, its own
 * and those of the tenants below it; the host keeps the sums, O(depth) a change.
 *
 * Limits hold whatever the queueing policy: a job that would take a tenant above it beyond a *hard*
 * limit, or beyond guarantee + *borrow*, waits with WEIR_REASON_QUOTA, and so does one that would
 * leave another tenant less than the part of its guarantee that it does not *lend*. Jobs that go
 * beyond a *soft* limit are offered a place when all others have been. A guarantee by itself keeps
 * nothing free: policies read it (quota_queues, cohorts). A *pool* of GPU memory does: what its
 * tenant does not use of it nobody else finds free.
 */
#ifndef WEIR_TENANT_H
#define WEIR_TENANT_H

#include "weir/job.h"

WEIR_BEGIN_DECLS

struct weir_host; /* weir/host.h */

enum { WEIR_MAX_TENANTS = 1 << 16, WEIR_MAX_TENANT_DEPTH = 16 };

/* Amounts of the resources that limits know. Frozen. */
struct weir_quota {
    int64_t gpu_units;
    int64_t cpu_units;
    int64_t ram_bytes;
};
#define WEIR_NO_QUOTA INT64_MAX /* of one resource: no limit */

/* A tenant as told. */
struct weir_tenant_spec {
    uint32_t size;   /* sizeof */
    uint32_t parent; /* number of a tenant told before; 0 = the root */
    const char *name;
    double weight;               /* its claim beside its siblings; 0 = only its guarantee */
    double tickets;              /* of policies that draw or take turns; 0 = as its weight */
    struct weir_quota guarantee; /* 0 = none */
    struct weir_quota hard;
    struct weir_quota soft;
    struct weir_quota borrow; /* above the guarantee */
    struct weir_quota lend;   /* of the guarantee */
    /* Of the memory of every GPU so much is kept for its jobs and those of the tenants below it
     * that have no pool of their own; they may use more. 0 = none. */
    int64_t gpu_pool_bytes;
    int32_t priority; /* its band beside its siblings: quota_queues; within +-1e6. From 2.3 on */
    uint32_t reserved;
};

/* Everything unlimited, weight 1. */
WEIR_API struct weir_tenant_spec weir_tenant_default(void);
/* *number = what its jobs say. Jobs that came before keep what they are charged to: tell tenants
 * first. Errors: WEIR_EINVAL (no name, a number that is none, a negative amount), WEIR_EDUPLICATE
 * (the name), WEIR_ENOTFOUND (the parent), WEIR_ERANGE (too many, too deep). */
WEIR_API weir_status weir_host_add_tenant(struct weir_host *host,
                                          const struct weir_tenant_spec *tenant, uint32_t *number,
                                          struct weir_error *error);
/* Another weight and other limits of a tenant; name and parent stay. What runs goes on. Errors: as
 * above, WEIR_ENOTFOUND. */
WEIR_API weir_status weir_host_set_tenant(struct weir_host *host, uint32_t number,
                                          const struct weir_tenant_spec *tenant,
                                          struct weir_error *error);
/* Past use counts half after so long; 0 (at first) = in full for ever. Before the first job. */
WEIR_API weir_status weir_host_set_half_life(struct weir_host *host, int64_t half_life_ns);
/* Past use fades at whole periods since time 0 alone, by Slurm's formula; 0 (at first) = all the
 * time. Before the first job. From 2.3 on. */
WEIR_API weir_status weir_host_set_usage_period(struct weir_host *host, int64_t period_ns);
/* What is counted of the past. SUM: device-seconds, as above. AVERAGE: devices, a moving average
 * that a sample is added to at every whole period (so one is needed), and alpha times the devices
 * of a job that starts at once, with alpha = 1 - 2^(-period / half-life): the admission fair
 * sharing of Kueue (v0.12, local queue usage). Then `device_s` are devices. At first SUM. Before
 * the first job. Errors: WEIR_EINVAL (no rule). From 2.3 on. */
enum weir_usage_rule { WEIR_USAGE_SUM, WEIR_USAGE_AVERAGE };
WEIR_API weir_status weir_host_set_usage_rule(struct weir_host *host, enum weir_usage_rule rule);
/* Past use, as another host had counted it at `now_ns`, for a host that goes on where that one
 * stopped; after its jobs were restored. Each tenant by itself: that of a parent is told, too.
 * Errors: WEIR_EINVAL (no number >= 0), WEIR_ENOTFOUND. */
WEIR_API weir_status weir_host_restore_usage(struct weir_host *host, uint32_t number,
                                             double device_s, int64_t now_ns);

/* A tenant as a policy sees it. */
struct weir_tenant {
    uint32_t size;                  /* set by the caller */
    uint32_t number, parent, depth; /* the root: depth 0 */
    const char *name;
    double weight, tickets;
    double share; /* weight over those of it and its siblings; 0 when all are 0; of the root 1 */
    struct weir_quota guarantee, hard, soft, borrow, lend;
    struct weir_amounts used;   /* asked for by jobs that start or run, its own and those below */
    struct weir_amounts wanted; /* by jobs that wait */
    uint32_t running, waiting;  /* jobs, likewise */
    double devices;             /* GPUs in use; ranks without GPUs count 1 each */
    double device_s;            /* of the past, with the half-life, up to now */
    /* What its jobs that start or run take of their GPUs, in GPUs: of the bandwidth of their memory
     * (weir_traffic), and of the time of their links (weir_job_spec.exchange). From 2.3 on. */
    double bandwidth, links;
    int32_t priority; /* likewise */
    uint32_t reserved;
};

/* The root included: 0 when there is no host behind the view, 1 when it knows no tenant. */
WEIR_API uint32_t weir_view_tenants(const struct weir_view *view);
/* False when there is none of this number. O(1). */
WEIR_API bool weir_view_tenant(const struct weir_view *view, uint32_t number,
                               struct weir_tenant *tenant);
/* The tenant's own job that is next by the keys of the policy and was not refused in this pass;
 * those beyond a soft limit only when `beyond_soft`. False when none is left. O(kinds of jobs that
 * the tenant ever had). */
WEIR_API bool weir_view_tenant_job(const struct weir_view *view, uint32_t number, bool beyond_soft,
                                   struct weir_job *job);
/* Why the job waits as things are planned so far, and is in nobody's way: a limit holds it
 * (WEIR_REASON_QUOTA, or those of licences, weir/licence.h), WEIR_REASON_INFEASIBLE, no nodes there
 * are hold it; or WEIR_REASON_NONE. */
WEIR_API uint32_t weir_view_quota_reason(const struct weir_view *view, const struct weir_job *job);
/* For `pass`: the job is not tried in this decision, for a reason of the policy; nor are jobs of
 * its tenant that ask for the same. WEIR_ENOTFOUND unless it waits. */
WEIR_API weir_status weir_placer_deny_job(struct weir_placer *placer, uint32_t workload,
                                          uint64_t id, uint32_t reason);
/* What a job asks for, over all its ranks; and in GPUs, ranks without any counting 1. */
WEIR_API struct weir_amounts weir_job_amounts(const struct weir_job *job);
WEIR_API double weir_job_devices(const struct weir_job *job);
/* The largest part that `amounts` are of the cluster's, over GPUs, CPUs, memory, GPU memory,
 * decoders and encoders. What the cluster has none of is left out. */
WEIR_API double weir_view_dominant_share(const struct weir_view *view,
                                         const struct weir_amounts *amounts);
/* The same of what a tenant uses, bandwidth and links of its GPUs among it. */
WEIR_API double weir_view_tenant_share(const struct weir_view *view,
                                       const struct weir_tenant *tenant);

WEIR_END_DECLS

#endif
