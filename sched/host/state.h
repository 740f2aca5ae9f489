/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host, for the files of this folder.
 *
 * There is one inventory: what was told. A decision works on it under a mark that no policy can
 * take away, and is rolled back before its plan is checked: nothing is copied, and nothing of it
 * stays.
 */
#ifndef SCHED_HOST_STATE_H
#define SCHED_HOST_STATE_H

#include "sched/host/jobs.h"
#include "sched/host/placer.h"
#include "sched/host/pools.h"
#include "sched/internal/policy_state.h"
#include "weir/group.h"
#include "weir/host.h"
#include "weir/partition.h"

/* One policy of each kind with its state and parameter values. */
struct weir_policy_set {
    const struct weir_placement_ops *placement;
    const struct weir_scaling_ops *scaling;
    const struct weir_queueing_ops *queueing;
    const struct weir_capacity_ops *capacity; /* NULL = nobody decides on nodes */
    struct weir_policy_state placed;          /* of the placement policy */
    struct weir_policy_state scaled;          /* of the scaling policy */
    struct weir_policy_state queued;          /* of the queueing policy */
    struct weir_policy_state grown;           /* of the capacity policy */
};

/* A job that came since the latest decision. */
struct weir_fresh_job {
    uint32_t workload;
    bool is_turned; /* the plan turns it away */
    uint64_t id;
};

/* A call that the next plan asks for; see wakes.c. */
struct weir_wake {
    int64_t at_ns;
    uint32_t causes; /* of the call, as of the action */
};

/* GPUs that are to be cut anew: closed until they are drained, then away while they are cut. */
struct weir_host_cuts {
    struct weir_partition_cut *pending;
    int64_t *away_ns; /* since when: the plan said CUT; WEIR_UNKNOWN_TIME = it did not yet */
    uint32_t count, pending_capacity, away_capacity;
    uint32_t chosen;                   /* by the present plan: the last ones of `pending` */
    struct weir_partition_cut *rested; /* GPUs that rest, see cuts.c; their cut is 0 */
    uint32_t rested_count, rested_capacity;
    uint64_t rested_at;                  /* they were cut since this change ... */
    int64_t rested_ns;                   /* ... and at this instant */
    struct weir_partition_cut *excluded; /* memory for a question */
    uint32_t excluded_capacity;
    struct weir_shape *shapes;
    uint64_t *waiting;
    uint32_t shape_capacity, waiting_capacity;
};

/* What the controller expects to come, for placement and for the measure of fragmentation. */
struct weir_host_mix {
    struct weir_shape *shapes;
    double *frequencies;
    uint32_t count;
};

/* What bounds the present decision; see limits.c. */
struct weir_host_limits {
    int64_t deadline_ns;  /* 0 = none */
    uint32_t max_actions; /* 0 = no cap */
    uint32_t cuts_before; /* pending when the decision began */
    bool was_late;
    bool is_cut_short; /* the plan asks at once for the call that decides the rest */
    bool is_open;      /* the plan was handed out, and no outcome was told since */
};

/* The latest decision about stages planned nothing; see repeat.c. */
struct weir_host_answer {
    bool is_kept;
    uint64_t changes, stamp; /* of the inventory then */
    uint64_t question;       /* the pools then, as a hash */
};

struct weir_gone_job {
    uint32_t record;
    uint64_t worker; /* one of its ranks */
    int32_t by;      /* -1 = it has gone, 1 = it was put there */
};

struct weir_host {
    struct weir_allocator allocator;
    struct weir_window window;
    uint64_t seed;
    uint32_t explain;
    int64_t (*clock_ns)(void *state);
    void *clock_state;
    struct weir_policy_set main;
    struct weir_policy_set fallback; /* scaling NULL = none */
    struct weir_cluster *inventory;
    struct weir_placer *placer;
    struct weir_plan *plan;
    struct weir_pools pools;
    struct weir_view view;
    uint64_t next_worker;
    int64_t now_ns; /* of the latest call */
    struct weir_jobs jobs;
    bool is_dirty;    /* a job may start that could not before */
    bool is_foreign;  /* keys of waiting jobs are of other policies than the main ones */
    uint64_t changes; /* of what jobs ask for and what is there, but for cuts; see cuts.c */
    struct weir_fresh_job *fresh; /* that may be turned away, in the order in which they came */
    uint32_t fresh_count, fresh_capacity;
    uint32_t *started; /* records that the present plan starts */
    uint32_t started_count, started_capacity;
    uint32_t *preempted; /* records that the present plan preempts */
    uint32_t preempted_count, preempted_capacity;
    struct weir_gone_job *gone; /* that the scratch has no more; see gone.c */
    uint32_t gone_count, gone_capacity;
    struct weir_gang_share *shares; /* members.c: gangs that wait, in their order, of that turn */
    uint32_t share_count, share_capacity;
    uint64_t shared_turn;
    struct weir_host_mix mix;
    struct weir_node_offer *offers; /* as they were told */
    uint32_t offer_count, offer_capacity;
    struct weir_host_cuts cuts;
    struct weir_host_limits limits;
    struct weir_wake *owed;
    uint32_t owed_count, owed_capacity;
    struct weir_host_answer answer;
    uint32_t group_by_policy, group_report, group_devices, cut_min_gain, hold_mode;
    bool keeps_infeasible;
    bool has_soft;      /* some pool prefers labels of nodes, or some kind of job */
    bool is_soft_stale; /* whether they are asked for is to be seen; labels.c */
    struct weir_host_stats stats;
};

/* Who waits may hold what it found, from decision to decision. */
static inline bool weir_host_holds(const struct weir_host *host)
{
    return host->hold_mode != WEIR_HOLD_NONE || host->group_devices == WEIR_GROUP_DEVICES_GROUP;
}

weir_status weir_policy_set_create(struct weir_policy_set *set,
                                   const struct weir_host_config *config,
                                   const struct weir_allocator *allocator,
                                   struct weir_error *error);
void weir_policy_set_destroy(struct weir_policy_set *set, const struct weir_allocator *allocator);

/* host.c: a decision begins, after a look at its call; the policy that a plan is blamed on, the
 * last one that was asked; a plan that holds becomes the caller's. */
weir_status weir_host_begin_call(struct weir_host *host, const struct weir_call *call,
                                 struct weir_error *error);
weir_status weir_host_blame_plan(const struct weir_host *host, const struct weir_policy_set *set,
                                 weir_status status, struct weir_error *error);
void weir_host_hand_out(struct weir_host *host, const struct weir_plan **plan);
/* A status that decide() may return, with a sentence; anything else breaks the contract. */
weir_status weir_host_judge_status(weir_status status, struct weir_error *error);

/* nodes.c: whether the capacity policy has a say; it is asked, after all others. */
bool weir_host_may_grow(const struct weir_host *host, const struct weir_policy_set *set);
weir_status weir_host_ask_capacity(struct weir_host *host, const struct weir_policy_set *set,
                                   struct weir_error *error);
/* What became of what it asked for. */
weir_status weir_host_node_outcome(struct weir_host *host, const struct weir_outcome *outcome,
                                   struct weir_error *error);

/* repeat.c: the plan is empty. Whether this decision, about stages alone, is the one that was
 * answered with nothing; then the plan is there still. Keeps the answer of one that holds, if it is
 * nothing. */
void weir_host_clear_plan(struct weir_host *host);
bool weir_host_is_answered(const struct weir_host *host, const struct weir_policy_set *set);
void weir_host_keep_answer(struct weir_host *host, const struct weir_policy_set *set);

/* The state of one of its policies, an enum weir_policy_part. */
struct weir_policy_state *weir_host_policy(struct weir_host *host, uint32_t part);

/* Frees the pools. */
void weir_host_clear_pools(struct weir_host *host);

/* labels.c: somebody was told who prefers such labels. Then, which of these are asked for as the
 * nodes are: O(pools and kinds of jobs) after a change of nodes. */
void weir_host_note_soft(struct weir_host *host, uint32_t soft_labels);
void weir_host_note_kind(struct weir_host *host, uint32_t kind);
void weir_host_settle_labels(struct weir_host *host);
/* The same, which is no news to the jobs that wait. */
void weir_host_restore_labels(struct weir_host *host);

/* told_jobs.c: whether a rank of the job can have been started, and the kind it is of then. */
weir_status weir_host_job_may_start(struct weir_host *host, const struct weir_owner *owner,
                                    uint32_t *kind, struct weir_error *error);
/* What an outcome means for the job whose rank it is about; STARTED: the kind that it is of now. */
weir_status weir_host_job_outcome(struct weir_host *host, const struct weir_outcome *outcome,
                                  uint32_t kind, struct weir_error *error);

/* told_jobs.c: jobs that no nodes there are can hold are out of the queue, if they are kept, and
 * no others. O(kinds), and what it costs to find out, once a kind since nodes changed. */
weir_status weir_host_set_aside(struct weir_host *host);

/* pass.c: offers waiting jobs a place, on the placer's scratch and plan. Jobs that the plan starts
 * leave the queue; what the plan comes to is said afterwards. */
/* Puts a record into the queue under its present key. */
weir_status weir_host_queue_job(struct weir_host *host, uint32_t record, struct weir_error *error);
/* Asks for the keys of all waiting jobs anew. They stay a queue whatever comes. */
weir_status weir_host_rekey(struct weir_host *host, const struct weir_policy_set *set,
                            struct weir_error *error);
weir_status weir_host_pass(struct weir_host *host, const struct weir_policy_set *set,
                           struct weir_error *error);
/* The plan starts it: it leaves the queue. */
weir_status weir_host_note_started(struct weir_host *host, uint32_t record);
/* members.c: whether the hold mode is for it. It has several ranks, and how many is not for the
 * policy to choose: it would ask again with others, while what it found the first time is kept. */
bool weir_host_may_hold(const struct weir_host *host, uint32_t record);
/* A gang whose members are placed by themselves starts when all have a place; else
 * WEIR_EBUSY, and why. */
weir_status weir_host_try_members(struct weir_host *host, uint32_t record, uint32_t *reason,
                                  struct weir_error *error);
/* Starts it, or reserves what it finds where gangs do. */
weir_status weir_host_try_job(struct weir_host *host, uint32_t record, struct weir_error *error);
/* That the plan starts and preempts the jobs of this pass, and no others. O(actions). */
weir_status weir_host_pass_check(const struct weir_host *host, struct weir_error *error);
void weir_host_pass_accepted(struct weir_host *host);
weir_status weir_host_pass_dropped(struct weir_host *host);
/* One DENY for every kind of job that was refused in the pass. */
weir_status weir_host_deny_jobs(struct weir_host *host);

/* The jobs can be walked in their order, if this policy walks. */
weir_status weir_host_index_jobs(struct weir_host *host, const struct weir_policy_set *set,
                                 struct weir_error *error);

/* resize.c: jobs that run and lack ranks get them, where there are places. One comes: of which kind
 * the job is with it, found before its worker is entered, because that may take memory; it came. */
weir_status weir_host_heal(struct weir_host *host, struct weir_error *error);
weir_status weir_host_rank_may_come(struct weir_host *host, uint32_t record, uint32_t *kind,
                                    struct weir_error *error);
void weir_host_rank_came(struct weir_host *host, uint32_t record, uint32_t kind);

/* gone.c: before a job goes from the scratch, those that are back there are forgotten. It has gone,
 * and had this worker. Whether limits let a job start as the scratch is: WEIR_NO_INDEX, else
 * WEIR_BY_LICENCE or the tenant as of weir_tenants_blocked. */
void weir_host_drop_back(struct weir_host *host);
weir_status weir_host_note_gone(struct weir_host *host, uint32_t record, uint64_t worker);
/* The same for one that was put there, which tenants then have more; whether one has gone and was
 * not put back. O(those that have gone). */
weir_status weir_host_note_put(struct weir_host *host, uint32_t record, uint64_t worker);
bool weir_host_is_gone(struct weir_host *host, uint32_t record);
uint32_t weir_host_blocked(struct weir_host *host, const struct weir_job_kind *kind);

/* preempt.c: the plan stops this job; it will not after all. */
weir_status weir_host_note_preempted(struct weir_host *host, uint32_t record);
/* Its ranks with ids below `before` are gone from the scratch: one that the same plan gives back to
 * it is there until the plan is carried out. *worker = one that is gone, UINT64_MAX = none was
 * there. */
weir_status weir_host_lift(struct weir_cluster *scratch, const struct weir_jobs *jobs,
                           uint32_t record, uint64_t before, uint64_t *worker,
                           struct weir_error *error);
void weir_host_spare_job(struct weir_host *host, const struct weir_owner *job);
/* holders.c: a job waits for a limit: ranks of the jobs that use it up. */
weir_status weir_note_limit_holders(struct weir_host *host, const struct weir_job_kind *kind,
                                    struct weir_owner denied);

/* admission.c: a job came; who is turned away by the plan; the plan holds. */
weir_status weir_host_note_fresh(struct weir_host *host, uint32_t record);
weir_status weir_host_turn_away(struct weir_host *host);
void weir_host_turned_away(struct weir_host *host);

/* limits.c: begins a decision; whether its time is over; drops what is too much of the plan, after
 * the policies and before the check. Whether this action, of the plan of a call with bounds, says
 * that it is cut short. */
void weir_host_limits_begin(struct weir_host *host, const struct weir_call *call);
bool weir_host_is_late(struct weir_host *host);
bool weir_host_says_cut_short(const struct weir_host *host, const struct weir_action *action);
weir_status weir_host_limit_plan(struct weir_host *host);

/* wakes.c: room for those of a plan that may fail for memory; whether a WAKE is owed; from now on
 * it is; those of a plan that nobody will see are; whether one is to be asked for; the plan asks;
 * it was handed out. */
weir_status weir_host_reserve_wakes(struct weir_host *host);
bool weir_host_owes_wake(const struct weir_host *host, const struct weir_wake *wake);
weir_status weir_host_owe_wake(struct weir_host *host, const struct weir_wake *wake);
weir_status weir_host_owe_wakes(struct weir_host *host);
bool weir_host_must_wake(const struct weir_host *host);
weir_status weir_host_ask_wakes(struct weir_host *host);
void weir_host_asked_wakes(struct weir_host *host);

/* cuts.c: chooses GPUs to cut anew and appends CUT for those that are drained; after the pass,
 * while its starts are there. Then as for the pass. */
weir_status weir_host_cuts_choose(struct weir_host *host);
weir_status weir_host_cuts_accepted(struct weir_host *host);
void weir_host_cuts_dropped(struct weir_host *host);
weir_status weir_host_cuts_outcome(struct weir_host *host, const struct weir_outcome *outcome,
                                   struct weir_error *error);
/* Whether some GPU could be cut so that the shape fits it. */
bool weir_host_cuts_serve(const struct weir_host *host, const struct weir_shape *shape);
void weir_host_cuts_free(struct weir_host *host);
/* Whether GPUs that were cut lately rest still. */
bool weir_host_cuts_rest(const struct weir_host *host);

#endif
