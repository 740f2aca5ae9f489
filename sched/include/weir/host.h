/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host: runs one scheduler the way a controller would.
 *
 * It keeps the inventory and one estimator a pool, builds the view, calls the scaling policy with
 * a placer on a scratch copy, checks the plan whole, counts and times, and hands the plan out. The
 * controller (or the simulator) applies the plan and reports every outcome back; only outcomes
 * change the inventory, so the host believes nothing that nobody told it.
 *
 * A rejected plan never leaves the host: in production it falls back to the named default for that
 * decision and goes on; otherwise the call fails with WEIR_EPOLICY.
 *
 * One thread a host; several hosts may live side by side.
 */
#ifndef WEIR_HOST_H
#define WEIR_HOST_H

#include "weir/job.h"

WEIR_BEGIN_DECLS

struct weir_host;

struct weir_host_config {
    uint32_t size;                          /* sizeof */
    uint32_t explain;                       /* enum weir_explain */
    const struct weir_allocator *allocator; /* NULL = malloc; must outlive the host */
    const struct weir_placement_ops *placement;
    struct weir_params placement_params; /* count 0 = defaults; values are copied */
    const struct weir_scaling_ops *scaling;
    struct weir_params scaling_params;
    const struct weir_queueing_ops *queueing; /* NULL = the first of the registry */
    struct weir_params queueing_params;
    const struct weir_scaling_ops *fallback; /* NULL = a rejected plan is an error */
    struct weir_window window;               /* zero = 180 s and 5 points */
    uint64_t seed;
    int64_t (*clock_ns)(void *state); /* wall clock for timing; NULL = not timed */
    void *clock_state;
    uint32_t group_by_policy; /* 1 = bundles of placement groups go where the placement policy says,
                                 0 = where Ray's own scorer does */
    uint32_t group_report;    /* enum weir_group_report */
    uint32_t cut_min_gain;    /* slices that cutting a GPU anew must win; 0 = GPUs are never cut */
    uint32_t reserved;
};

WEIR_API weir_status weir_host_create(const struct weir_host_config *config,
                                      struct weir_host **host, struct weir_error *error);
WEIR_API void weir_host_destroy(struct weir_host *host);

/* Hot swap: replaces the policies, keeps inventory and estimators, and lets the new one adopt. */
WEIR_API weir_status weir_host_replace(struct weir_host *host,
                                       const struct weir_host_config *config,
                                       struct weir_error *error);

/* ---- what the controller tells ---- */
WEIR_API weir_status weir_host_add_node(struct weir_host *host, const struct weir_node_spec *spec,
                                        uint32_t *node, struct weir_error *error);
/* Down: its workers are gone from the inventory; up again: empty. */
WEIR_API weir_status weir_host_set_node(struct weir_host *host, uint32_t node, uint32_t flags,
                                        int64_t now_ns);

/* A pool as told once; live counts come through weir_host_update_pool. `name` is copied. The
 * fields finished, workers, ready, busy, queued_items, estimate are ignored. */
WEIR_API weir_status weir_host_add_pool(struct weir_host *host, const struct weir_pool_view *pool,
                                        uint32_t *index, struct weir_error *error);
struct weir_pool_update {
    uint32_t ready;
    uint32_t busy;
    uint32_t finished;
    uint32_t slots;
    uint64_t queued_items;
    int32_t requested_workers; /* may change while running; -1 = auto */
    uint32_t reserved;
};
WEIR_API weir_status weir_host_update_pool(struct weir_host *host, uint32_t pool,
                                           const struct weir_pool_update *update);
/* ---- jobs ---- */
/* A source of jobs: a trace, a queue, a user's stream. Its name names the random choices made for
 * its jobs. */
WEIR_API weir_status weir_host_add_workload(struct weir_host *host, const char *name,
                                            uint32_t *index, struct weir_error *error);
/* A job waits from now on. It is asked for at the next decision whose causes say JOBS. Errors:
 * WEIR_EINVAL, WEIR_EDUPLICATE, WEIR_ENOTFOUND (workload), WEIR_EINFEASIBLE: it would not fit the
 * cluster even if all nodes were up and empty; it is then not kept. O(log waiting jobs). */
WEIR_API weir_status weir_host_submit(struct weir_host *host, const struct weir_job_spec *job,
                                      struct weir_error *error);
/* How many jobs of a workload may wait; UINT64_MAX (at first) = all. Of those that came since the
 * decision before and cannot start, the last are turned away: a DENY with WEIR_REASON_QUEUE_FULL
 * says so, and they are known no more. */
WEIR_API weir_status weir_host_set_queue_limit(struct weir_host *host, uint32_t workload,
                                               uint64_t limit);
/* It waits no more: its submitter took it back, or lost patience. WEIR_ENOTFOUND unless it waits.
 */
WEIR_API weir_status weir_host_withdraw(struct weir_host *host, uint32_t workload, uint64_t id);
/* It is over, however it ended; outcomes have said before that its ranks are gone (else
 * WEIR_EBUSY). WEIR_ENOTFOUND unless it starts or runs. To come again it is submitted again. O(1).
 */
WEIR_API weir_status weir_host_ended(struct weir_host *host, uint32_t workload, uint64_t id,
                                     struct weir_error *error);
/* The work that is expected (for policies that plan for it, and for the measure of fragmentation):
 * shapes and how often each comes. Copied. */
WEIR_API weir_status weir_host_set_mix(struct weir_host *host, const struct weir_mix *mix);

WEIR_API weir_status weir_host_measure(struct weir_host *host, const struct weir_measurement *task);
/* STARTED adds the worker with its allocation, STOPPED and LOST remove it, REFUSED changes
 * nothing. `alloc` is needed for STARTED only. */
WEIR_API weir_status weir_host_outcome(struct weir_host *host, const struct weir_outcome *outcome,
                                       const struct weir_alloc *alloc, struct weir_error *error);
WEIR_API weir_status weir_host_set_worker_state(struct weir_host *host, uint64_t worker,
                                                uint32_t state, int64_t since_ns);
/* A worker that ran before this host existed. */
WEIR_API weir_status weir_host_adopt_worker(struct weir_host *host, uint64_t worker,
                                            struct weir_owner owner, const struct weir_alloc *alloc,
                                            struct weir_error *error);

/* Replaces what the estimator of a pool says until its next measurement (initial state, replays).
 */
WEIR_API weir_status weir_host_set_estimate(struct weir_host *host, uint32_t pool,
                                            struct weir_estimate estimate);

/* ---- decisions ---- */
struct weir_call {
    uint32_t size;   /* sizeof */
    uint32_t causes; /* enum weir_cause, at least one */
    int64_t now_ns;  /* never before that of an earlier call */
};

/* One decision: queueing when a job may start that could not before, scaling when its interval is
 * over, it asked for it, or workers or nodes changed. The plan is the host's and lives until the
 * next call. WEIR_OK whenever there is a plan: what could not be done is in it (weir_plan_shortage,
 * a DENY for each pool or job, weir_plan_holder_at). WEIR_EPOLICY: the policy's plan was rejected
 * (and no fallback); WEIR_EMANUAL, WEIR_EMINIMUM, WEIR_EINFEASIBLE: a policy that fails whole says
 * so (error->phase and pool are set). */
WEIR_API weir_status weir_host_decide(struct weir_host *host, const struct weir_call *call,
                                      const struct weir_plan **plan, struct weir_error *error);

struct weir_host_stats {
    uint64_t decisions, rejected, fallbacks;
    uint64_t started, stopped, denied, refused, lost;
    uint64_t placements_tried, placements_failed;
    int64_t wall_total_ns, wall_max_ns, wall_last_ns;
};
WEIR_API struct weir_host_stats weir_host_stats(const struct weir_host *host);
WEIR_API const struct weir_cluster *weir_host_cluster(const struct weir_host *host);
/* The view a decision at `now_ns` would see; valid until the next call. */
WEIR_API const struct weir_view *weir_host_view(struct weir_host *host, int64_t now_ns);

/* ---- flight recorder ---- */
/* Receives text in pieces; anything but WEIR_OK stops the writer with that status. */
struct weir_sink {
    weir_status (*write)(void *state, const char *text, size_t length);
    void *state;
};
/* The state a decision at `now_ns` would start from, as the JSON document that `weir decide` reads:
 * nodes, workers, pools, slots, estimates, policy names and parameters. */
WEIR_API weir_status weir_host_export(struct weir_host *host, int64_t now_ns,
                                      const struct weir_sink *sink);

WEIR_END_DECLS

#endif
