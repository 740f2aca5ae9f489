/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host: runs one scheduler the way a controller would.
 *
 * It keeps the inventory and one estimator a pool, builds the view, calls the scaling policy with
 * a placer on the inventory as a scratch, rolls it back, checks the plan whole, counts and times,
 * and hands the plan out. The controller (or the simulator) applies the plan and reports every
 * outcome back; only outcomes change the inventory, so the host believes nothing that nobody told
 * it.
 *
 * A rejected plan never leaves the host: in production it falls back to the named default for that
 * decision and goes on; otherwise the call fails with WEIR_EPOLICY.
 *
 * One thread a host; several hosts may live side by side.
 */
#ifndef WEIR_HOST_H
#define WEIR_HOST_H

#include "weir/capacity.h"
#include "weir/job.h"

WEIR_BEGIN_DECLS

struct weir_host;

/* What a gang, a job of several ranks, has while not all of them find a place. Reserve: its ranks
 * keep what they find from whoever is asked after it, jobs and pools alike; found anew at every
 * decision, each a RESERVE of the plan. Jobs before it in the queue go first, so that two gangs
 * never wait for each other; placement groups reserve nothing (but see enum weir_group_devices).
 * Members (from 2.3 on): the gangs
 * that wait take turns, a rank each, as where nobody knows that ranks belong together; two of them
 * can keep what the other needs for ever, and weir_placer_fits_job says no of each, so that nobody
 * is preempted for one. Jobs with a speed-up hold nothing under a policy that
 * chooses their ranks (WEIR_QUEUEING_RESIZES). */
enum weir_hold_mode { WEIR_HOLD_NONE, WEIR_HOLD_RESERVE, WEIR_HOLD_MEMBERS };

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
    /* Clock for timing, read when a decision begins and when it ends; NULL = not timed. Negative at
     * the begin: this decision is not timed (from 2.3 on), and it is not read at its end. */
    int64_t (*clock_ns)(void *state);
    void *clock_state;
    uint32_t group_by_policy; /* 1 = bundles of placement groups go where the placement policy says,
                                 0 = where Ray's own scorer does */
    uint32_t group_report;    /* enum weir_group_report */
    uint32_t cut_min_gain;    /* slices that cutting a GPU anew must win; 0 = GPUs are never cut */
    uint32_t hold_mode;       /* enum weir_hold_mode */
    const struct weir_capacity_ops *capacity; /* NULL = the first of the registry; from 2.3 on */
    struct weir_params capacity_params;
    uint32_t group_devices; /* enum weir_group_devices */
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
/* Gone for good: its workers are lost, GPUs of it that were to be cut are forgotten. Its id may
 * come again (weir_cluster_add_node says under which index). WEIR_ENOTFOUND. */
WEIR_API weir_status weir_host_remove_node(struct weir_host *host, uint32_t node, int64_t now_ns);
/* Other amounts of CPUs and memory; as weir_cluster_resize_node. */
WEIR_API weir_status weir_host_change_node(struct weir_host *host, uint32_t node, int64_t cpu_units,
                                           int64_t ram_bytes, struct weir_error *error);
/* Health of one GPU; as weir_cluster_set_gpu_health. */
WEIR_API weir_status weir_host_set_gpu_health(struct weir_host *host, uint32_t node, uint32_t gpu,
                                              bool is_healthy);

/* Nodes of a type may be asked for, or as things stand now: replaces what was said of the type.
 * Errors: WEIR_EINVAL (min above max), WEIR_ENOMEM. From 2.3 on. */
WEIR_API weir_status weir_host_offer_nodes(struct weir_host *host,
                                           const struct weir_node_offer *offer,
                                           struct weir_error *error);

/* A pool as told once; fields mean what they mean in weir_pool_view. `name` is copied. */
struct weir_pool_spec {
    uint32_t size; /* sizeof */
    uint32_t pipeline;
    const char *name;
    struct weir_shape shape;
    int32_t requested_workers;
    uint32_t batch_size;
    uint32_t slots;
    uint32_t soft_labels; /* from 2.3 on */
    double over_provision;
    double speed_hint_per_s;
};
/* It gets the next index, or its old one when a pool of this pipeline and name was removed. Errors:
 * WEIR_EINVAL (an impossible value), WEIR_EDUPLICATE, WEIR_ERANGE (too many). */
WEIR_API weir_status weir_host_add_pool(struct weir_host *host, const struct weir_pool_spec *pool,
                                        uint32_t *index, struct weir_error *error);
/* Another description of a pool. What runs keeps what it holds; measurements are kept. Errors as
 * above (nothing changes), WEIR_ENOTFOUND. */
WEIR_API weir_status weir_host_change_pool(struct weir_host *host, uint32_t pool,
                                           const struct weir_pool_spec *spec,
                                           struct weir_error *error);
/* It asks for nothing more. Its index stays and names nothing: policies see a finished pool of 0
 * workers, plans for it are rejected. Errors: WEIR_ENOTFOUND, WEIR_EBUSY while it has workers. */
WEIR_API weir_status weir_host_remove_pool(struct weir_host *host, uint32_t pool,
                                           struct weir_error *error);
/* What changes while it runs. */
struct weir_pool_update {
    uint32_t size; /* sizeof */
    uint32_t ready;
    uint32_t busy;
    uint32_t finished; /* not 0 = no work will ever come again */
    uint64_t queued_items;
    uint32_t slots;
    int32_t requested_workers; /* may change while running; -1 = auto */
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
/* Whether such a job is kept from now on and waits for nodes that it fits, as with Ray and
 * Kubernetes, instead of being refused: it holds nothing, is in nobody's way, and plans deny it
 * with WEIR_REASON_INFEASIBLE. From 2.3 on. */
WEIR_API weir_status weir_host_keep_infeasible(struct weir_host *host, bool is_kept);
/* How many jobs of a workload may wait; UINT64_MAX (at first) = all. Of those that came since the
 * decision before and cannot start, the last are turned away: a DENY with WEIR_REASON_QUEUE_FULL
 * says so, and they are known no more. A plan that max_actions or the deadline cuts short turns
 * nobody away; the next one does. */
WEIR_API weir_status weir_host_set_queue_limit(struct weir_host *host, uint32_t workload,
                                               uint64_t limit);
/* It waits no more: its submitter took it back, or lost patience. One that a plan starts, of which
 * no rank has STARTED, is forgotten too: the controller carries its start out no more, and may say
 * REFUSED of it. WEIR_ENOTFOUND unless it waits or is started so. */
WEIR_API weir_status weir_host_withdraw(struct weir_host *host, uint32_t workload, uint64_t id);
/* A job that runs goes on with so many ranks in its first group, after ranks of it were LOST or
 * STOPPED: it is charged for these. Up to `ranks_max` plans give ranks back to it, a START each of
 * rank 0, before anybody who waits starts; each that is STARTED is one more that it has. Errors:
 * WEIR_ENOTFOUND unless it runs, WEIR_EINVAL below its ranks_min or above `ranks_max`,
 * WEIR_EUNSUPPORTED for a placement group. From 2.3 on. */
WEIR_API weir_status weir_host_resize_job(struct weir_host *host, uint32_t workload, uint64_t id,
                                          uint32_t ranks, uint32_t ranks_max,
                                          struct weir_error *error);
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
 * nothing. `alloc` is needed for STARTED only. Errors, with which nothing has changed: WEIR_EINVAL
 * (the worker is not this owner's), WEIR_ENOTFOUND, WEIR_EDUPLICATE, WEIR_EOVERCOMMIT,
 * WEIR_ENOMEM. */
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
    /* By the host's clock (weir_host_config.clock_ns), 0 = none. Looked at between jobs and before
     * the stages are asked; a policy that is at work is not interrupted. What there was no time for
     * is decided by the next call, for which the plan has a WAKE at now_ns beside those that it has
     * anyway. */
    int64_t deadline_ns;
    /* Actions that the controller has to carry out, at most; 0 = no cap. Ranks of a job, and
     * members of a group, come together even when they are more. The rest as above. */
    uint32_t max_actions;
    uint32_t reserved;
};

/* One decision: queueing when a job may start that could not before, scaling when its interval is
 * over, it asked for it, or workers or nodes changed, and capacity last. The plan is the host's and
 * lives until the next call. WEIR_OK whenever there is a plan: what could not be done is in it
 * (weir_plan_shortage, a DENY for each pool or job, weir_plan_holder_at). WEIR_EPOLICY: the
 * policy's plan was rejected (and no fallback); WEIR_EMANUAL, WEIR_EMINIMUM, WEIR_EINFEASIBLE: a
 * policy that fails whole says so (error->phase and pool are set). */
WEIR_API weir_status weir_host_decide(struct weir_host *host, const struct weir_call *call,
                                      const struct weir_plan **plan, struct weir_error *error);

/* A plan as lists, to carry it over a border between processes. */
struct weir_plan_lists {
    uint32_t size; /* sizeof */
    uint32_t action_count, choice_count, note_count;
    uint32_t step_count, candidate_count, holder_count;
    uint32_t reserved;
    uint64_t next_worker;              /* weir_plan_next_worker */
    const struct weir_action *actions; /* as weir_plan_action says; likewise the others */
    const struct weir_choice *choices;
    const struct weir_pool_note *notes; /* by pool */
    const uint32_t *noted;              /* by pool: not 0 = it has a note */
    const struct weir_step *steps;
    const struct weir_candidate *candidates;
    const struct weir_holder *holders;
};

/* A decision that another host made, which was told the same as this one and has its settings: the
 * policies here are not asked. The plan is checked as one of theirs, and taken over: jobs that it
 * starts are starting, ids of workers go on. Who is turned away and which GPUs are cut, in which
 * policies have no say, is worked out here. `lists` NULL: the other host made no plan of the call;
 * then *plan stays as it is. For policies that one does not want in one's own process. From 2.3
 * on. */
WEIR_API weir_status weir_host_follow(struct weir_host *host, const struct weir_call *call,
                                      const struct weir_plan_lists *lists,
                                      const struct weir_plan **plan, struct weir_error *error);

/* The plan handed out last will not be applied, and no outcome of it was told: jobs it starts wait
 * again, GPUs it closed for a cut give out instances again, and the policy learns that each start
 * and each request of a node was refused (WEIR_REASON_CANCELLED). The plan is empty afterwards; the
 * calls that it asked for (WAKE) are asked for by the next plan. WEIR_ENOTFOUND when there is none,
 * or an outcome was told since. */
WEIR_API weir_status weir_host_cancel(struct weir_host *host, struct weir_error *error);

struct weir_host_stats {
    uint64_t decisions, rejected, fallbacks;
    uint64_t started, stopped, denied, refused, lost;
    uint64_t placements_tried, placements_failed;
    int64_t wall_total_ns, wall_max_ns, wall_last_ns; /* the last: -1 = it was not timed */
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
/* All that the decision of this call would start from, as the JSON document that `weir decide`
 * reads: nodes, workers, pools, jobs, cuts, policies with parameters and memory, seeds, counts. A
 * host that is told all of it makes the same plan. Of a deadline the time that is left is written.
 * O(all of it). */
WEIR_API weir_status weir_host_export_call(struct weir_host *host, const struct weir_call *call,
                                           const struct weir_sink *sink);
/* The same for a call at `now_ns` because a timer ran out. */
WEIR_API weir_status weir_host_export(struct weir_host *host, int64_t now_ns,
                                      const struct weir_sink *sink);

/* ---- a host that goes on where another one stopped ----
 * Nodes, pools, workloads and workers (adopted) are told as ever, estimates and mix are set; then
 * the following, in this order; then it decides as the other one would have. */

/* So many starts and stops of this pool were planned: they name its random choices. */
WEIR_API weir_status weir_host_restore_pool(struct weir_host *host, uint32_t pool,
                                            uint64_t planned);
/* What jobs ask for, kind by kind as they were known. Settled: one of them found no place, and
 * nothing was given back since. */
struct weir_kind_past {
    uint32_t size; /* sizeof */
    uint32_t is_settled;
    const struct weir_rank_group *groups;
    uint32_t group_count;
    uint32_t strategy;    /* as in weir_job_spec */
    uint32_t tenant;      /* likewise; from 2.3 on */
    uint32_t reservation; /* likewise */
    uint32_t denied;      /* enum weir_reason that a plan gave since then, NONE = no plan did */
    uint32_t is_barred;   /* their priority is below the threshold of a licence; from 2.3 on */
    uint32_t licences[WEIR_MAX_LICENCES]; /* as in weir_job_spec */
};
WEIR_API weir_status weir_host_restore_kind(struct weir_host *host,
                                            const struct weir_kind_past *past,
                                            struct weir_error *error);
/* A job that waited, started or ran. It is not asked whether it can ever fit. Errors: as
 * weir_host_submit. */
struct weir_job_past {
    uint32_t size;    /* sizeof */
    uint32_t state;   /* enum weir_job_state */
    uint32_t started; /* ranks that hold places */
    uint32_t reserved;
    int64_t start_ns;      /* of this run, unless it waits */
    uint32_t is_preempted; /* a plan stops it; from 2.3 on */
    uint32_t reserved2;
};
WEIR_API weir_status weir_host_restore_job(struct weir_host *host, const struct weir_job_spec *job,
                                           const struct weir_job_past *past,
                                           struct weir_error *error);
/* Jobs that came since the latest decision and may be turned away, in their order. WEIR_ENOTFOUND.
 */
WEIR_API weir_status weir_host_restore_fresh(struct weir_host *host, uint32_t workload,
                                             uint64_t id);
/* A GPU that is to be cut, or was cut at the present instant. */
struct weir_cut_past {
    uint32_t size; /* sizeof */
    uint32_t node;
    uint32_t gpu;
    uint32_t is_over;
    weir_mig_layout cut; /* it is to have */
    int64_t since_ns;    /* the plan said CUT; WEIR_UNKNOWN_TIME = not yet */
};
WEIR_API weir_status weir_host_restore_cut(struct weir_host *host, const struct weir_cut_past *past,
                                           struct weir_error *error);
/* What a policy remembered (weir_scaling_ops.save). WEIR_EUNSUPPORTED when it remembers nothing. */
enum weir_policy_part {
    WEIR_POLICY_PLACEMENT,
    WEIR_POLICY_SCALING,
    WEIR_POLICY_QUEUEING,
    WEIR_POLICY_FALLBACK,
    WEIR_POLICY_CAPACITY, /* from 2.3 on */
    WEIR_POLICY_PART_COUNT
};
WEIR_API weir_status weir_host_restore_policy(struct weir_host *host, uint32_t part,
                                              const double *numbers, uint32_t count,
                                              struct weir_error *error);
/* A call that no plan has asked for yet, although a policy or a reservation needs it: the next plan
 * does. `causes` as of the WAKE. From 2.3 on. */
WEIR_API weir_status weir_host_restore_wake(struct weir_host *host, int64_t at_ns, uint32_t causes);
/* Last: what it had counted. */
struct weir_host_past {
    uint32_t size;     /* sizeof */
    uint32_t is_dirty; /* not 0 = a job may start that could not before */
    uint64_t decisions;
    uint64_t next_worker; /* id of the next new worker */
    int64_t now_ns;       /* of the latest decision; WEIR_UNKNOWN_TIME = none */
    uint64_t surprises;   /* see weir_view_surprises; from 2.3 on */
    /* Not 0 = kinds that are settled found no place by the view alone: the truth refused none of
     * their jobs. From 2.3 on. */
    uint32_t none_refused;
    uint32_t reserved;
    uint64_t begun, ended; /* workers that ever came and went, 0 = as restored; from 2.3 on */
};
WEIR_API weir_status weir_host_restore(struct weir_host *host, const struct weir_host_past *past,
                                       struct weir_error *error);

WEIR_END_DECLS

#endif
