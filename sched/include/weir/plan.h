/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan: what a decision wants done, in order, with reasons.
 *
 * The host owns the plan and hands it to the policy, which appends actions and notes. Worker ids of
 * new workers come from the plan. A plan is checked whole (check.c) before anything is applied.
 * Every applied action later comes back to the policy as an outcome.
 */
#ifndef WEIR_PLAN_H
#define WEIR_PLAN_H

#include "weir/work.h"

WEIR_BEGIN_DECLS

/* Append-only. */
#define WEIR_VERBS(X)                                                                              \
    X(WEIR_VERB_START, "start")                                                                    \
    X(WEIR_VERB_STOP, "stop")                                                                      \
    X(WEIR_VERB_MOVE, "move")                                                                      \
    X(WEIR_VERB_SET_SLOTS, "set_slots")                                                            \
    X(WEIR_VERB_ADMIT, "admit")                                                                    \
    X(WEIR_VERB_PREEMPT, "preempt")                                                                \
    X(WEIR_VERB_RESIZE, "resize")                                                                  \
    X(WEIR_VERB_REQUEST_NODE, "request_node")                                                      \
    X(WEIR_VERB_RELEASE_NODE, "release_node")                                                      \
    X(WEIR_VERB_DENY, "deny")                                                                      \
    X(WEIR_VERB_WAKE, "wake")                                                                      \
    X(WEIR_VERB_RESERVE, "reserve")                                                                \
    X(WEIR_VERB_CUT, "cut")                                                                        \
    X(WEIR_VERB_ANNOTATE, "annotate")

/* Who each verb is about, what the check demands of it (weir_plan_check), and the outcome that the
 * controller reports. "P" a pool, "J" a job, "-" nobody (index WEIR_NO_INDEX, or not looked at).
 *
 *   verb          of    the check demands                                   outcome
 *   START         P J   owner known and not removed; id new, or reused and  STARTED or REFUSED,
 *                       stopped before; node up; what is taken is free      one a worker
 *                       after the actions before, and covers the shape;
 *                       of a job: it has such a rank
 *   STOP          P J   the worker runs and is the owner's                  STOPPED
 *   MOVE          P J   as STOP, then as START                              STOPPED and STARTED
 *   SET_SLOTS     P     value 1 .. 2^32 - 1                                 none
 *   ADMIT         P J   owner known                                         none
 *   PREEMPT       P J   owner known; of a job: it holds something and was   STOPPED, one a worker
 *                       not preempted before, value (a grace) not below 0;
 *                       with value 0 what it holds is free after
 *   RESIZE        P J   owner known, value 0 .. 2^32 - 1                    as START and STOP
 *   REQUEST_NODE  -     value 0 .. 2^32 - 1                                 CAME, FAILED or REFUSED
 *   RELEASE_NODE  -     the node is there                                   GONE or REFUSED
 *   DENY          P J   owner known, a known reason                         none
 *   WAKE          -     value not before now                                none: a call with WAKE
 *   RESERVE       J     the job has such a rank, value not before now; of   none
 *                       a place: as what START takes, for nobody else in
 *                       this plan
 *   CUT           -     a GPU with a MIG table that nothing holds           CUT or UNCUT
 *   ANNOTATE      -     nothing                                             none
 *
 * A controller that cannot do what a verb says reports REFUSED for it; that is no error. A
 * controller without a supplier of nodes (weir/capacity.h) refuses them: WEIR_REASON_NO_SUPPLIER.
 */
#define WEIR_VERB_ENUM(name, text) name,
enum weir_verb { WEIR_VERBS(WEIR_VERB_ENUM) WEIR_VERB_COUNT };
#undef WEIR_VERB_ENUM
WEIR_API const char *weir_verb_name(uint32_t verb);

/* Why a place or a pool was passed over. Append-only. */
#define WEIR_REASONS(X)                                                                            \
    X(WEIR_REASON_NONE, "none")                                                                    \
    X(WEIR_REASON_NODE_DOWN, "node is down or cordoned")                                           \
    X(WEIR_REASON_CPU, "too few CPUs")                                                             \
    X(WEIR_REASON_RAM, "too little memory")                                                        \
    X(WEIR_REASON_NO_GPU, "no GPU")                                                                \
    X(WEIR_REASON_GPU_TYPE, "no GPU of the type")                                                  \
    X(WEIR_REASON_GPU_FREE, "too little free on a GPU")                                            \
    X(WEIR_REASON_GPU_WHOLE, "too few free GPUs")                                                  \
    X(WEIR_REASON_GPU_MEM, "too little GPU memory")                                                \
    X(WEIR_REASON_NVDEC, "no free NVDEC")                                                          \
    X(WEIR_REASON_NVENC, "no free NVENC")                                                          \
    X(WEIR_REASON_SCORE, "scored worse")                                                           \
    X(WEIR_REASON_NOT_BOTTLENECK, "not the bottleneck")                                            \
    X(WEIR_REASON_TARGET, "over-allocation target reached")                                        \
    X(WEIR_REASON_MANUAL, "count is fixed by the user")                                            \
    X(WEIR_REASON_BUDGET, "share of the pool is used up")                                          \
    X(WEIR_REASON_MIN_POINTS, "speed not measured yet")                                            \
    X(WEIR_REASON_GRACE, "grace period")                                                           \
    X(WEIR_REASON_NO_DONOR, "no stage can give a worker up")                                       \
    X(WEIR_REASON_TRUTH, "refused by the cluster")                                                 \
    X(WEIR_REASON_FINISHED, "stage has no more work")                                              \
    X(WEIR_REASON_MIG, "no free MIG instance")                                                     \
    X(WEIR_REASON_QUEUE_FULL, "too many wait already")                                             \
    X(WEIR_REASON_NODE_GONE, "node was removed")                                                   \
    X(WEIR_REASON_NO_SUPPLIER, "no supplier of nodes")                                             \
    X(WEIR_REASON_CANCELLED, "the plan was cancelled")                                             \
    X(WEIR_REASON_QUOTA, "a limit of its tenant is reached")                                       \
    X(WEIR_REASON_RESERVED, "nodes are reserved for others")                                       \
    X(WEIR_REASON_NO_NODES, "no more nodes of the type")                                           \
    X(WEIR_REASON_NODE_USED, "node is in use")                                                     \
    X(WEIR_REASON_LAUNCH, "node did not start")                                                    \
    X(WEIR_REASON_INFEASIBLE, "fits no nodes there are, even empty ones")                          \
    X(WEIR_REASON_PRIO_THRESHOLD, "its priority is below the threshold of a licence")              \
    X(WEIR_REASON_CUSTOM_LIMIT, "too few of a licence are left")                                   \
    X(WEIR_REASON_LABEL, "no such label on the node")                                              \
    X(WEIR_REASON_KEPT, "node is kept for others")                                                 \
    X(WEIR_REASON_GROUP, "what its group holds of a GPU is broken up")

#define WEIR_REASON_ENUM(name, text) name,
enum weir_reason { WEIR_REASONS(WEIR_REASON_ENUM) WEIR_REASON_COUNT };
enum { WEIR_REASON_ROOM = 40 }; /* places for reasons in struct weir_choice; more than there are */
#undef WEIR_REASON_ENUM
WEIR_API const char *weir_reason_text(uint32_t reason);

/* How one place was chosen: who was looked at and why the others lost. Scores: smaller is better,
 * compared first by `primary`, then by `secondary`, then by order. */
struct weir_choice {
    uint32_t nodes_seen;
    uint32_t candidates;     /* places that fit */
    uint32_t ties;           /* candidates equal to the best, it included; at least */
    uint32_t runner_up_node; /* WEIR_NO_INDEX = none */
    double primary, secondary;
    double runner_up_primary, runner_up_secondary;
    uint32_t rejected[WEIR_REASON_ROOM]; /* nodes by reason */
};

struct weir_action {
    uint32_t size;           /* sizeof */
    uint32_t verb;           /* enum weir_verb */
    uint32_t reason;         /* DENY: enum weir_reason */
    struct weir_owner owner; /* index WEIR_NO_INDEX = nobody's (WAKE, CUT, nodes) */
    uint32_t phase;          /* of the policy's algorithm, 0 = none */
    uint32_t rank;           /* START of a job: which of its ranks */
    uint32_t node; /* CUT, RELEASE_NODE; PREEMPT and STOP of who is sent away from a node */
    uint32_t gpu;  /* CUT: index within the node */
    /* START: new or reused id; STOP, MOVE: existing id; RESERVE: as whose the plan's holders name
     * the place, never a worker */
    uint64_t worker;
    /* SET_SLOTS: slots; WAKE: time in ns; RESIZE: ranks; REQUEST_NODE: node type; CUT: the layout;
     * RESERVE: until when, in ns; PREEMPT: time to save what was done, in ns, 0 = none; ANNOTATE: a
     * number of the policy */
    int64_t value;
    /* WAKE: enum weir_cause of the call at that time, 0 = WEIR_CAUSE_WAKE; PREEMPT, STOP: set by
     * the host to WEIR_CAUSE_CAPACITY where a node is emptied */
    uint32_t causes;
    uint32_t reused; /* START: 1 = a worker stopped earlier in this plan that is kept after all */
    uint32_t choice; /* index into the plan's choices, WEIR_NO_INDEX = not kept */
    struct weir_alloc alloc; /* START, MOVE; RESERVE, nothing in it = no place yet */
    /* START: the first id of workers that start together, all or none; 0 = alone. They follow each
     * other in the plan: a group that is one worker (SPMD_MULTI), or the ranks of a job. */
    uint64_t group;
};

/* The numbers behind a decision, one line a pool. */
struct weir_pool_note {
    uint32_t workers_before;
    uint32_t workers_after;
    uint32_t started;
    uint32_t stopped;
    uint32_t binding;        /* enum weir_reason: why it got no more */
    uint32_t pool_optimum;   /* count of the fluid or integer optimum, 0 = not computed */
    double speed_per_s;      /* batches per worker and second that was assumed */
    double throughput_per_s; /* of the pool after the plan, in items of the source */
};

/* With OFF nodes are not asked why they have no room for jobs that lack free GPUs or CPUs in all:
 * the reason of their DENY is that, where the other levels say what most nodes say. */
enum weir_explain {
    WEIR_EXPLAIN_OFF,    /* no choices */
    WEIR_EXPLAIN_COUNTS, /* choices: counts, reasons, the best two scores */
    WEIR_EXPLAIN_TOP,    /* candidates: the chosen place and the runner-up */
    WEIR_EXPLAIN_FULL    /* candidates: every place with its score; steps */
};

/* One place that a worker might have got (kept from level TOP on). Of places that differ only by
 * GPUs in the same state the first stands for all. */
struct weir_candidate {
    uint32_t choice; /* filled by the plan: the choice it belongs to */
    uint32_t node;
    uint32_t is_chosen;
    uint32_t reserved;
    uint64_t gpu_mask; /* GPUs of the node; 0 = none, or not kept (the runner-up at TOP) */
    double primary, secondary;
};

/* Who holds what a denied pool or job asked for: a worker on the device that comes nearest to
 * having room for it, of the plan as it is. A few for each DENY, kept from level COUNTS on. */
struct weir_holder {
    struct weir_owner denied; /* of the DENY */
    struct weir_owner owner;  /* whose worker it is */
    uint64_t worker;
    uint32_t node;
    uint32_t gpu; /* within the node; WEIR_NO_INDEX = its CPUs or memory */
};

/* One step of an algorithm that can be replayed against a reference (kept at level FULL). */
struct weir_step {
    uint32_t phase;
    uint32_t pool;
    uint32_t is_removal; /* 0 = tried to place */
    uint32_t placed;
    uint32_t reused;
    uint32_t reserved;
    uint64_t worker; /* placed or removed */
};

struct weir_plan;

WEIR_API weir_status weir_plan_create(const struct weir_allocator *allocator,
                                      struct weir_plan **plan);
WEIR_API void weir_plan_destroy(struct weir_plan *plan);
/* Empties it and keeps its memory; new worker ids count from `next_worker`. */
WEIR_API void weir_plan_reset(struct weir_plan *plan, uint64_t next_worker, uint32_t explain);

WEIR_API uint64_t weir_plan_new_worker(struct weir_plan *plan); /* a fresh id */
WEIR_API uint64_t weir_plan_next_worker(const struct weir_plan *plan);
WEIR_API uint32_t weir_plan_explain(const struct weir_plan *plan);

/* Verbs for policies. They fail only with WEIR_ENOMEM. `choice` may be NULL. */
WEIR_API weir_status weir_plan_start(struct weir_plan *plan, struct weir_owner owner,
                                     uint64_t worker, const struct weir_alloc *alloc,
                                     const struct weir_choice *choice);
WEIR_API weir_status weir_plan_stop(struct weir_plan *plan, struct weir_owner owner,
                                    uint64_t worker);
WEIR_API weir_status weir_plan_set_slots(struct weir_plan *plan, uint32_t pool, uint32_t slots);
WEIR_API weir_status weir_plan_deny(struct weir_plan *plan, struct weir_owner owner,
                                    uint32_t reason, const struct weir_choice *choice);
WEIR_API weir_status weir_plan_wake(struct weir_plan *plan, int64_t at_ns);
/* Any other verb, and full control over the fields. */
WEIR_API weir_status weir_plan_append(struct weir_plan *plan, const struct weir_action *action);
/* The number of an algorithm's phase; later actions and steps carry it. */
WEIR_API void weir_plan_set_phase(struct weir_plan *plan, uint32_t phase);
WEIR_API weir_status weir_plan_note(struct weir_plan *plan, uint32_t pool,
                                    const struct weir_pool_note *note);
WEIR_API weir_status weir_plan_step(struct weir_plan *plan, const struct weir_step *step);

/* A candidate of the next choice that is kept; below level TOP nothing happens. */
WEIR_API weir_status weir_plan_candidate(struct weir_plan *plan,
                                         const struct weir_candidate *candidate);

/* Holders of one denied owner follow each other, in the order of the denials. */
WEIR_API weir_status weir_plan_holder(struct weir_plan *plan, const struct weir_holder *holder);
WEIR_API uint32_t weir_plan_holder_count(const struct weir_plan *plan);
WEIR_API const struct weir_holder *weir_plan_holder_at(const struct weir_plan *plan,
                                                       uint32_t index);

/* The shortage that binds first: the first DENY. Of pools it is the one that was refused first and
 * got nothing after, so a missing first worker before one more. NULL when nothing is denied. */
WEIR_API const struct weir_action *weir_plan_shortage(const struct weir_plan *plan);

/* Takes back the latest STOP of this worker (it is kept after all). False when there is none. */
WEIR_API bool weir_plan_unstop(struct weir_plan *plan, uint64_t worker);

WEIR_API uint32_t weir_plan_count(const struct weir_plan *plan);
WEIR_API const struct weir_action *weir_plan_action(const struct weir_plan *plan, uint32_t index);
WEIR_API const struct weir_choice *weir_plan_choice(const struct weir_plan *plan, uint32_t index);
/* NULL when the policy left no note on the pool. */
WEIR_API const struct weir_pool_note *weir_plan_pool_note(const struct weir_plan *plan,
                                                          uint32_t pool);
WEIR_API uint32_t weir_plan_step_count(const struct weir_plan *plan);
WEIR_API const struct weir_step *weir_plan_step_at(const struct weir_plan *plan, uint32_t index);

/* Ascending by choice. */
WEIR_API uint32_t weir_plan_candidate_count(const struct weir_plan *plan);
WEIR_API const struct weir_candidate *weir_plan_candidate_at(const struct weir_plan *plan,
                                                             uint32_t index);

/* check.c: whether the plan fits the view it was made from: capacity per device in plan order
 * (stops free what they held), codec engines, duplicates, unknown workers and pools, slots >= 1.
 * WEIR_EPOLICY with a sentence that names action, worker, device and excess. */
WEIR_API weir_status weir_plan_check(const struct weir_plan *plan, const struct weir_view *view,
                                     struct weir_error *error);

/* What became of an action in the real cluster. */
enum weir_outcome_kind {
    WEIR_OUTCOME_STARTED,
    WEIR_OUTCOME_REFUSED, /* the plan fitted the view, not the truth */
    WEIR_OUTCOME_STOPPED,
    WEIR_OUTCOME_LOST,   /* worker or node died */
    WEIR_OUTCOME_CUT,    /* the GPU has its new layout */
    WEIR_OUTCOME_UNCUT,  /* it could not be cut and keeps the old one */
    WEIR_OUTCOME_CAME,   /* a node that was asked for is there */
    WEIR_OUTCOME_FAILED, /* a node that was asked for will not come */
    WEIR_OUTCOME_GONE    /* a node was given back */
};

struct weir_outcome {
    uint32_t size; /* sizeof */
    uint32_t kind;
    uint32_t reason; /* REFUSED, FAILED: enum weir_reason */
    uint32_t node;   /* CAME, GONE, and of whom it is about; else WEIR_NO_INDEX */
    struct weir_owner owner;
    uint32_t gpu; /* CUT */
    uint32_t reserved;
    uint64_t worker;
    int64_t time_ns;
};

WEIR_END_DECLS

#endif
