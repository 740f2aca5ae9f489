/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What libweir knows of work, and how a policy sees it.
 *
 * A **pool** is a set of equal workers whose number somebody chooses: a stage of a pipeline, the
 * replicas of a service, a role of actors. A **job** is a set of ranks that somebody starts and
 * that ends by itself:
 *
 *   submit -> WAITING -- a plan starts it --> STARTING -- all ranks started --> RUNNING -> ended
 *                ^                               |
 *                +------ truth refused it -------+
 *
 * The host keeps both and is told what changes; a view is a look at them during one call and costs
 * nothing to make. What nobody said is WEIR_UNKNOWN_TIME, 0 or NULL, as noted; a policy must cope
 * with it. Structs that the caller fills begin with `size` (sizeof) and grow at the end; structs
 * that the library fills for the caller have `size` set by the caller, and no more is filled. Lists
 * are reached through accessors, so that a module built against an older header still finds its
 * fields.
 */
#ifndef WEIR_WORK_H
#define WEIR_WORK_H

#include "weir/measure.h"
#include "weir/speedup.h"

WEIR_BEGIN_DECLS

#define WEIR_UNKNOWN_TIME INT64_MIN

/* ---- pools ----------------------------------------------------------------------------------- */

/* Append-only. */
enum weir_pool_finish {
    WEIR_POOL_FINISHED = 1,
    WEIR_POOL_REMOVED = 2 /* the index names nothing any more: 0 workers, none may start */
};

/* Counts are what the scheduler believes. */
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
    uint32_t finished;       /* enum weir_pool_finish; not 0 = no work will ever come again */
    uint64_t queued_items;   /* waiting in front of it */
    double over_provision;   /* divides the measured speed; 0 = none */
    double speed_hint_per_s; /* batches per worker and second told by the user, NAN = none */
    struct weir_estimate estimate;
    /* Labels that are only preferred, whether the shape was told with them or not: it asks for them
     * while a node that is up and has them could hold a worker if it were empty. From 2.3 on. */
    uint32_t soft_labels;
    uint32_t reserved;
};

/* ---- jobs ------------------------------------------------------------------------------------ */

/* Ranks that ask for the same. Frozen. */
struct weir_rank_group {
    uint32_t ranks;     /* that start together, at least 1 */
    uint32_t ranks_min; /* the job runs with any number from here ... */
    /* ... to here; both equal to `ranks` = not elastic. While a job runs with fewer in its first
     * group, ranks that find a place join it, before anybody who waits. */
    uint32_t ranks_max;
    uint32_t soft_labels;    /* of the shape, as of weir_pool_view; from 2.3 on */
    struct weir_shape shape; /* of one rank; not SPMD_MULTI */
};

enum { WEIR_MAX_RANKS = 1 << 20, WEIR_MAX_STRATEGY = 4, WEIR_MAX_LICENCES = 16 };

/* What a worker takes of the memory system of every GPU that it uses. From 2.3 on. Frozen. */
struct weir_traffic {
    double bandwidth; /* when it is alone, as a part of the GPU's; 0 = none, or not known */
    double bound;     /* part of its time that waits for memory, 0 to 1 */
};

/* A job as its submitter describes it. Ids are below 2^44 (else WEIR_ERANGE) and unique within
 * their workload while the job is known; order and random choices are named by workload and id, so
 * that one workload never changes what is drawn for another. */
struct weir_job_spec {
    uint32_t size;
    uint32_t workload; /* see weir_host_add_workload */
    uint64_t id;
    const struct weir_rank_group *groups; /* ranks are numbered over them in this order */
    uint32_t group_count;
    uint32_t strategy; /* enum weir_group_strategy + 1; 0 = any places, all or none */
    uint32_t tenant;
    uint32_t user;
    int32_t priority;     /* larger is more urgent */
    uint32_t attempts;    /* starts before */
    uint32_t reservation; /* it may use, index + 1; 0 = none */
    uint32_t throughput_count;
    int64_t submit_ns;       /* for the first time */
    int64_t queued_ns;       /* since when it waits this time */
    int64_t estimate_ns;     /* of its run time, by its user; WEIR_UNKNOWN_TIME = none */
    int64_t deadline_ns;     /* WEIR_UNKNOWN_TIME = none */
    int64_t attained_ns;     /* it has run so far, times its GPUs (ranks without GPUs count 1) */
    int64_t restart_cost_ns; /* to start again from its last checkpoint */
    double round_share;      /* of the present round it is entitled to; 0 = no rounds */
    /* Steps per second on each GPU type (by index), relative to the first; NULL = all the same.
     * Must stay valid while the job is known. */
    const double *throughput;
    uint64_t
        seed; /* of the random choices of its next start; 0 = named by workload, id, attempts */
    int64_t done_ns; /* of its estimate, and kept: it need not be done again. From 2.3 on */
    /* How fast it is with other numbers of ranks; NULL = only with these. Must stay valid while the
     * job is known. */
    const struct weir_speedup *speedup;
    struct weir_traffic traffic; /* what each of its ranks takes */
    double step_s; /* of its estimate that one step is; 0 = it has none. From 2.3 on */
    /* Part of a step in which its ranks exchange bytes over the links of their GPUs when nobody
     * else does, 0 to 1; 0 = none, or not known. From 2.3 on. */
    double exchange;
    uint32_t licences[WEIR_MAX_LICENCES]; /* that it takes, by number (weir/licence.h); likewise */
};

enum weir_job_state { WEIR_JOB_WAITING, WEIR_JOB_STARTING, WEIR_JOB_RUNNING };

/* A job as a policy sees it. */
struct weir_job {
    uint32_t size; /* set by the caller of an accessor */
    uint32_t workload;
    uint64_t id;
    const struct weir_rank_group *groups;
    uint32_t group_count;
    uint32_t strategy;
    uint32_t ranks; /* over all groups */
    uint32_t kind;  /* jobs of one kind ask for the same; a small number */
    uint32_t tenant;
    uint32_t user;
    int32_t priority;
    uint32_t attempts; /* starts so far */
    uint32_t reservation;
    uint32_t state; /* enum weir_job_state */
    int64_t submit_ns;
    int64_t queued_ns;
    int64_t start_ns; /* of this run, while STARTING or RUNNING */
    int64_t estimate_ns;
    int64_t deadline_ns;
    int64_t attained_ns;
    int64_t restart_cost_ns;
    double round_share;
    const double *throughput;
    uint32_t throughput_count;
    uint32_t reserved;
    int64_t done_ns;       /* as of its spec. From here on 2.3 */
    double key;            /* that it has in the queue, as of this pass; 0 unless it waits */
    uint32_t is_preempted; /* a plan has said so; it is on its way out */
    uint32_t reserved2;
    const struct weir_speedup *speedup; /* as of its spec */
    struct weir_traffic traffic;        /* likewise */
    double step_s;                      /* likewise */
    double exchange;                    /* likewise */
};

/* What is left of its estimate, without what it has run this time; INT64_MAX = not known. */
WEIR_API int64_t weir_job_left_ns(const struct weir_job *job);
/* When it ends if its estimate holds: one that runs longer than that ends now; INT64_MAX = not
 * known. Of a job that starts or runs. */
WEIR_API int64_t weir_job_end_ns(const struct weir_job *job, int64_t now_ns);

/* ---- the view -------------------------------------------------------------------------------- */

/* Why a decision is asked for; bits. The host calls the kinds of policies that they concern. */
enum weir_cause {
    WEIR_CAUSE_TIMER = 1,    /* an interval of the controller is over */
    WEIR_CAUSE_WAKE = 2,     /* a policy asked for it */
    WEIR_CAUSE_JOBS = 4,     /* a job came, ended or left, a cut was made, or a reservation began
                                or ended */
    WEIR_CAUSE_NODES = 8,    /* capacity came or went */
    WEIR_CAUSE_WORKERS = 16, /* workers of a pool were lost */
    WEIR_CAUSE_CAPACITY = 32 /* the capacity policy asked for it */
};

struct weir_jobs;       /* the host's */
struct weir_pools;      /* the host's */
struct weir_node_offer; /* see weir/capacity.h */

struct weir_view {
    int64_t now_ns;
    int64_t age_ns;    /* how old this view is */
    uint64_t seed;     /* for policies that draw: different for every decision, reproducible */
    uint64_t decision; /* counts from 0 */
    const struct weir_cluster *cluster; /* with what was planned so far, as the placer's scratch */
    const struct weir_pool_view *pools; /* through weir_view_pool */
    const struct weir_jobs *jobs;       /* through weir_view_job and its like; NULL = none */
    uint32_t pool_count;
    uint32_t causes; /* enum weir_cause */
    /* What makes a pool current when it is read; NULL = they are what `pools` says. */
    struct weir_pools *live;
    const struct weir_node_offer *offers; /* through weir_view_offer; from 2.3 on */
    uint32_t offer_count;
    uint32_t reserved;
};

WEIR_API const struct weir_pool_view *weir_view_pool(const struct weir_view *view, uint32_t pool);

/* What pools may share: all that is up, less what jobs hold. */
WEIR_API struct weir_amounts weir_view_supply(const struct weir_view *view);

/* Jobs that wait, start or run. */
WEIR_API uint32_t weir_view_jobs(const struct weir_view *view);
WEIR_API uint32_t weir_view_waiting_jobs(const struct weir_view *view);
/* One after the other: `cursor` begins at 0; in no order that means anything, the same in every
 * run. False at the end. O(1) a job. */
WEIR_API bool weir_view_next_job(const struct weir_view *view, uint32_t *cursor,
                                 struct weir_job *job);
/* False when there is no such job; `job` may be NULL. O(1). */
WEIR_API bool weir_view_job(const struct weir_view *view, uint32_t workload, uint64_t id,
                            struct weir_job *job);

/* Jobs that wait and ask for the same; from 2.3 on. */
struct weir_waiting {
    uint32_t size; /* set by the caller */
    uint32_t jobs; /* how many */
    uint32_t tenant;
    uint32_t strategy; /* of each, as in weir_job_spec */
    const struct weir_rank_group *groups;
    uint32_t group_count, ranks;
    struct weir_amounts need; /* of one job, all its ranks */
};
/* In the order of the first of each in the queue; false when there are no more. O(1). */
WEIR_API bool weir_view_waiting(const struct weir_view *view, uint32_t index,
                                struct weir_waiting *waiting);

/* ---- for a queueing policy with a `pass` of its own (others find nothing); from 2.3 on ---- */

/* Asks for the first waiting job, in the order of the queue: key, submission, workload, id. */
struct weir_waiting_query {
    uint32_t size;
    uint32_t kind;                /* WEIR_NO_INDEX = of any */
    int64_t most_ns;              /* of which no more is left than this; INT64_MAX = any */
    const struct weir_job *after; /* behind this one as it was when it waited; NULL = the first */
};
/* False when there is none. O(log waiting jobs); of any kind O(kinds that wait) times that. */
WEIR_API bool weir_view_find_waiting(const struct weir_view *view,
                                     const struct weir_waiting_query *query, struct weir_job *job);
/* Kinds of which somebody waits, and one of them, in the order of their first jobs. O(1). */
WEIR_API uint32_t weir_view_waiting_kinds(const struct weir_view *view);
WEIR_API uint32_t weir_view_waiting_kind(const struct weir_view *view, uint32_t index);
/* Jobs that start or run by the end that is expected of them, then workload and id; `after` NULL =
 * the first. Those that a plan preempts are there until they are gone. O(log running jobs). */
WEIR_API bool weir_view_next_running(const struct weir_view *view, const struct weir_job *after,
                                     struct weir_job *job);
/* How often something was given back, taken or lost otherwise than the ends of running jobs say:
 * while it is the same, what was worked out of them holds. */
WEIR_API uint64_t weir_view_surprises(const struct weir_view *view);

/* What one rank of a job asks for; NULL when there is no such rank. O(groups). */
WEIR_API const struct weir_shape *weir_view_rank_shape(const struct weir_view *view,
                                                       const struct weir_owner *job, uint32_t rank);

WEIR_END_DECLS

#endif
