/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a policy is told about the work: pools of pipelines, and jobs.
 *
 * A view is read-only and lives for one call. Structs grow at the end; lists are reached through
 * accessors so that a plug-in built against an older header still finds its fields.
 */
#ifndef WEIR_WORK_H
#define WEIR_WORK_H

#include "weir/measure.h"

WEIR_BEGIN_DECLS

/* A pool: one kind of worker. Counts are what the scheduler believes. */
struct weir_pool_view {
    const char *name;
    uint32_t pipeline;         /* index */
    int32_t requested_workers; /* manual count, or -1 for auto */
    struct weir_shape shape;
    uint32_t batch_size; /* items a task takes */
    uint32_t slots;      /* tasks a worker may hold, running one included */
    uint32_t workers;    /* holding devices, in any state */
    uint32_t ready;
    uint32_t busy;
    uint32_t finished;       /* 1 = no work will ever come again */
    uint64_t queued_items;   /* waiting in front of it */
    double over_provision;   /* divides the measured speed; 0 = none */
    double speed_hint_per_s; /* batches per worker and second told by the user, NAN = none */
    struct weir_estimate estimate;
};

/* A job or one of its gangs; complete from the first version of the interface. */
struct weir_job_view {
    uint64_t id;
    const char *name;
    uint32_t tenant;
    int32_t priority;
    struct weir_shape shape; /* of one rank */
    uint32_t ranks_min;
    uint32_t ranks_max;
    uint32_t ranks_now;
    uint32_t gang; /* 1 = all ranks or none */
    int64_t submit_ns;
    int64_t estimate_ns;     /* user's run-time estimate, -1 = none */
    int64_t attained_gpu_ns; /* service received so far */
    int64_t restart_cost_ns;
    double round_share;        /* fraction of the last round it ran */
    uint32_t throughput_count; /* entries below, by GPU type index */
    uint32_t reserved;
    const double *throughput_per_s; /* steps per second on each GPU type, NAN = unknown */
};

struct weir_view {
    int64_t now_ns;
    int64_t age_ns;    /* how old this view is */
    uint64_t seed;     /* for policies that draw: different for every decision, reproducible */
    uint64_t decision; /* counts from 0 */
    const struct weir_cluster *cluster;
    const struct weir_pool_view *pools; /* through weir_view_pool */
    const struct weir_job_view *jobs;   /* through weir_view_job */
    uint32_t pool_count;
    uint32_t job_count;
};

WEIR_API const struct weir_pool_view *weir_view_pool(const struct weir_view *view, uint32_t pool);
WEIR_API const struct weir_job_view *weir_view_job(const struct weir_view *view, uint32_t job);

WEIR_END_DECLS

#endif
