/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The jobs a host knows: those that wait, start and run.
 *
 * Jobs of one tenant that ask for the same (rank groups, strategy, reservation, licences, and on
 * the same side of their thresholds) are one kind and interchangeable to limits and placement: when
 * one of them does not fit, none does until something is given back. So a pass over a long queue
 * asks once a kind, not once a job, and what a job asks for is stored once a kind. The waiting jobs
 * of a kind are a binary heap of records ordered by (key, submission, workload, id), and the kinds
 * of which somebody waits are a list in the order of their first records: the front. A kind is
 * settled when one of it did not fit since something was given back last; that something was given
 * back is one number, so it costs the same for one kind and for a thousand.
 *
 * Invariant: a record in use is in the table of ids; it is in its kind's heap exactly while it
 * waits; `counts` are the records by state; `held` is what those that start or run ask for.
 * A kind is in the front exactly while somebody of it waits and it is not set aside; all before
 * `front_next` are settled. Cost: submit and withdraw O(log waiting jobs), and where the first job
 * of a kind comes or goes O(kinds that it passes in the front); the rest O(1), the next job for all
 * of a pass together O(kinds).
 */
#ifndef SCHED_HOST_JOBS_H
#define SCHED_HOST_JOBS_H

#include "sched/cluster/id_table.h"
#include "sched/host/jobs_index.h"
#include "sched/host/licences.h"
#include "sched/host/memory_pools.h"
#include "sched/host/reservations.h"
#include "sched/host/tenants.h"
#include "weir/job.h"

/* Kept small: many may wait. */
struct weir_job_record {
    uint64_t id;
    double key;
    uint64_t seed;
    int64_t submit_ns;
    int64_t estimate_ns;
    uint32_t kind;
    uint32_t tenant;
    int32_t priority;
    uint32_t extra; /* index into what few jobs say, WEIR_NO_INDEX = nothing */
    /* While it waits its place in its kind's heap, or WEIR_NO_INDEX; later its index among those
     * that start or run; of free records the next free one. */
    uint32_t place;
    uint32_t workload : 20;
    uint32_t state : 2; /* enum weir_job_state */
    uint32_t is_used : 1;
};

/* What few jobs say. */
struct weir_job_extra {
    int64_t queued_ns;
    int64_t attained_ns;
    int64_t deadline_ns;
    int64_t restart_cost_ns;
    double round_share;
    const double *throughput;
    uint32_t throughput_count;
    uint32_t user;
    uint32_t reservation;
    uint32_t attempts; /* before it was submitted */
    int64_t done_ns;
    const struct weir_speedup *speedup;
    struct weir_traffic traffic;
    double step_s;
    double exchange;
    uint32_t next_free;
};

/* Of a job that starts or runs. */
struct weir_placed_job {
    int64_t start_ns;
    uint32_t attempts;
    uint32_t started;      /* ranks that hold places */
    uint32_t is_planned;   /* the present plan starts it */
    uint32_t is_preempted; /* a plan stops it */
    uint64_t first_worker; /* of its ranks, whose ids follow one another */
    uint32_t next_free;
};

struct weir_job_kind {
    struct weir_rank_group *groups;
    uint64_t hash;
    uint32_t group_count, ranks, strategy;
    uint32_t tenant;                      /* that is charged */
    uint32_t reservation;                 /* that its jobs name */
    uint32_t next_of_tenant;              /* another kind of the same, or WEIR_NO_INDEX */
    int64_t device_units;                 /* GPUs; ranks without any count one */
    uint32_t licences[WEIR_MAX_LICENCES]; /* that each of its jobs takes */
    uint32_t takes_licences;              /* 1 = any */
    uint32_t is_barred;                   /* below the threshold of one */
    /* What held the last one tried: tenant whose limit, WEIR_BY_LICENCE, or WEIR_NO_INDEX. */
    uint32_t blocked_by;
    uint64_t held_at;           /* limits kept it waiting, at that `given_back` */
    uint64_t held_turn;         /* and found so last, in that turn */
    uint64_t beyond_at;         /* it goes beyond a soft limit, in that turn */
    uint32_t turned_away;       /* by the plan that is made */
    uint32_t front;             /* its place in the front, or WEIR_NO_INDEX */
    uint64_t settled_at;        /* what was given back then, see `given_back` */
    struct weir_amounts need;   /* of all ranks */
    weir_status room;           /* WEIR_EINFEASIBLE = fits not even the empty cluster */
    uint32_t room_known;        /* 1 = room is of the cluster as it is */
    uint32_t is_aside;          /* who waits is not in the front, and cannot start */
    uint32_t is_refused;        /* in this pass */
    uint32_t refused;           /* record that was tried */
    uint32_t reason;            /* that binds, enum weir_reason */
    uint32_t told_reason;       /* plans said so, */
    uint64_t told_at;           /* at that `freed` */
    struct weir_choice refusal; /* what the nodes said; with explain off not kept */
    uint32_t *heap;             /* records */
    uint32_t count, capacity;
    uint32_t root; /* of its waiting jobs in jobs_index.c */
};

/* No tenant: licences keep it waiting. */
#define WEIR_BY_LICENCE (WEIR_NO_INDEX - 1)

/* enum weir_reason of what blocks a job of this kind. */
static inline uint32_t weir_job_kind_limit(const struct weir_job_kind *kind, uint32_t blocked_by)
{
    if (blocked_by == WEIR_NO_INDEX)
        return WEIR_REASON_NONE;
    if (blocked_by != WEIR_BY_LICENCE)
        return WEIR_REASON_QUOTA;
    return kind->is_barred != 0 ? WEIR_REASON_PRIO_THRESHOLD : WEIR_REASON_CUSTOM_LIMIT;
}

/* Several ranks that are placed one by one; the bundles of a placement group are placed whole. */
static inline bool weir_job_kind_is_gang(const struct weir_job_kind *kind)
{
    return kind->ranks > 1 && kind->strategy == 0;
}

struct weir_workload {
    char *name;
    uint64_t seed;        /* of its name */
    uint64_t queue_limit; /* so many may wait */
    uint64_t waiting;
    uint64_t turned_away; /* by the plan that is made */
};

struct weir_jobs {
    struct weir_allocator allocator;
    uint64_t seed; /* of the host */
    struct weir_workload *workloads;
    struct weir_job_kind *kinds;
    uint32_t *kind_order; /* kinds by what they ask for, whichever came first */
    struct weir_job_record *records;
    struct weir_job_extra *extras;
    struct weir_placed_job *placed;
    struct weir_id_table ids;      /* workload and id to record */
    struct weir_id_table kind_ids; /* hash to the first kind that has it */
    uint32_t workload_count, workload_capacity;
    uint32_t kind_count, kind_capacity, order_capacity;
    uint32_t record_count, record_capacity, record_free;
    uint32_t extra_count, extra_capacity, extra_free;
    uint32_t placed_count, placed_capacity, placed_free;
    uint32_t counts[WEIR_JOB_RUNNING + 1];
    uint64_t given_back; /* how often something was, or is to be asked for as if; from 1 on */
    uint64_t freed;      /* how often something was given back; from 1 on */
    uint32_t *front;     /* kinds */
    uint32_t *refused;   /* kinds, in this pass */
    uint32_t front_count, front_next, refused_count;
    uint32_t front_capacity, refused_capacity;
    struct weir_amounts held;        /* asked for by jobs that start or run */
    struct weir_index_place *places; /* by record; jobs_index.c */
    uint32_t place_count, place_capacity, running_root;
    bool is_indexed;
    bool has_refused;     /* the truth somebody, since something was given back: a node that is lost
                           * may be why, and they find another */
    bool puts_off;        /* who goes beyond a soft limit, until all others were offered a place */
    uint32_t odd_waiting; /* that have a priority, or came to wait again */
    uint32_t short_count; /* jobs that run and lack ranks of their first group */
    uint64_t surprises;   /* how often something came or went otherwise than was expected */
    struct weir_tenants tenants;
    struct weir_licences licences;
    struct weir_reservations reservations;
    struct weir_memory_pools memory_pools;
};

weir_status weir_jobs_open(struct weir_jobs *jobs, const struct weir_allocator *allocator);
void weir_jobs_close(struct weir_jobs *jobs);

weir_status weir_jobs_add_workload(struct weir_jobs *jobs, const char *name, uint32_t *index,
                                   struct weir_error *error);

/* Whether a job that ends may let others start beside the places that it had. */
static inline bool weir_jobs_has_limits(const struct weir_jobs *jobs)
{
    return jobs->tenants.count > 1 || jobs->licences.count > 0;
}

/* jobs_alike.c: equal for all jobs of a kind; and whether the job is one of it. */
uint64_t weir_job_kind_hash(const struct weir_job_spec *spec, uint32_t tenant);
bool weir_job_kind_is(const struct weir_jobs *jobs, const struct weir_job_kind *kind,
                      const struct weir_job_spec *spec, uint32_t tenant);
/* The kind of jobs like this one, made when there was none. O(1) but for kinds of equal hash. */
weir_status weir_jobs_find_kind(struct weir_jobs *jobs, const struct weir_job_spec *spec,
                                uint32_t *index, struct weir_error *error);
/* Checks it, finds its kind, and makes a record that waits; it is not in the queue yet. */
weir_status weir_jobs_add(struct weir_jobs *jobs, const struct weir_job_spec *given,
                          uint32_t *record, struct weir_error *error);
/* Forgets it; it must not be in the queue. */
void weir_jobs_remove(struct weir_jobs *jobs, uint32_t record);
/* The record, or WEIR_NO_INDEX. */
uint32_t weir_jobs_find(const struct weir_jobs *jobs, uint32_t workload, uint64_t id);
/* What a rank asks for; NULL when there are fewer ranks. */
const struct weir_shape *weir_job_kind_shape(const struct weir_job_kind *kind, uint32_t rank);
/* Whether a job like this may have more ranks than it has. */
static inline bool weir_job_kind_is_short(const struct weir_job_kind *kind)
{
    return kind->groups[0].ranks < kind->groups[0].ranks_max;
}
/* Whether a plan may give ranks to this job beside those it has: it runs and lacks some. */
static inline bool weir_jobs_may_grow(const struct weir_jobs *jobs, uint32_t record)
{
    return record != WEIR_NO_INDEX && jobs->records[record].state == WEIR_JOB_RUNNING &&
           weir_job_kind_is_short(&jobs->kinds[jobs->records[record].kind]);
}
/* A job that waits is to start with so many ranks in its first group, no more and no less. The key
 * that it has in the queue stays. Errors as of weir_jobs_find_kind. */
weir_status weir_jobs_set_ranks(struct weir_jobs *jobs, uint32_t record, uint32_t ranks,
                                struct weir_error *error);
/* A job that runs has other ranks: it is of this kind from now on. */
void weir_jobs_change_kind(struct weir_jobs *jobs, uint32_t record, uint32_t kind);
/* The same of one that waits and is not in the queue. */
void weir_jobs_change_waiting(struct weir_jobs *jobs, uint32_t record, uint32_t kind);
/* Room for one more job that starts, and for one more of a kind that waits. */
weir_status weir_jobs_reserve_placed(struct weir_jobs *jobs);
weir_status weir_jobs_reserve_waiting(struct weir_jobs *jobs, uint32_t kind);
/* Of a job that is not in the queue. To start or run takes room that was reserved. */
void weir_jobs_set_state(struct weir_jobs *jobs, uint32_t record, enum weir_job_state state);
static inline struct weir_placed_job *weir_jobs_placed(const struct weir_jobs *jobs,
                                                       uint32_t record)
{
    return &jobs->placed[jobs->records[record].place];
}
/* A job that starts or runs began then. */
/* What its ranks take of the memory of GPUs; zeros when nobody said. */
struct weir_traffic weir_jobs_traffic(const struct weir_jobs *jobs, uint32_t record);
void weir_jobs_set_start(struct weir_jobs *jobs, uint32_t record, int64_t start_ns);
/* How often it has run. */
uint32_t weir_jobs_attempts(const struct weir_jobs *jobs, uint32_t record);
void weir_jobs_describe(const struct weir_jobs *jobs, uint32_t record, struct weir_job *job);

/* Which of two comes first in the queue; they need not be of one kind. */
bool weir_jobs_is_before(const struct weir_jobs *jobs, uint32_t left, uint32_t right);

/* The queue. `key` of the record is set by the caller. */
weir_status weir_jobs_push(struct weir_jobs *jobs, uint32_t record);
void weir_jobs_take_out(struct weir_jobs *jobs, uint32_t record);
/* A job that was to start waits again. */
weir_status weir_jobs_push_back(struct weir_jobs *jobs, uint32_t record);
/* The next one: the first of those kinds that are neither settled nor held nor put off, or
 * WEIR_NO_INDEX. Strict: the first of those that are neither held nor put off, also when its kind
 * is settled: the caller asks whether a limit holds it by now. */
uint32_t weir_jobs_first(struct weir_jobs *jobs, bool is_strict);
/* Something was given back: every kind may fit again. */
void weir_jobs_unsettle(struct weir_jobs *jobs);
/* Nothing was, but every kind is to be asked about again. */
void weir_jobs_ask_again(struct weir_jobs *jobs);
/* One of this kind did not fit. */
void weir_jobs_settle(struct weir_jobs *jobs, uint32_t kind);
/* No job of this kind is offered a place, or in anybody's way; or they are again. O(kinds). */
void weir_jobs_set_aside(struct weir_jobs *jobs, uint32_t kind, bool is_aside);
/* A limit of its tenant holds this kind: it is in nobody's way. */
void weir_jobs_hold(struct weir_jobs *jobs, uint32_t kind);
/* It is in nobody's way either, until all others were offered a place. */
void weir_jobs_put_off(struct weir_jobs *jobs, uint32_t kind);
/* Those that were put off may be asked about. */
void weir_jobs_let_go(struct weir_jobs *jobs);
static inline bool weir_jobs_is_settled(const struct weir_jobs *jobs, uint32_t kind)
{
    return jobs->kinds[kind].settled_at == jobs->given_back;
}
/* One of this kind found no place in the present pass. */
void weir_jobs_refuse(struct weir_jobs *jobs, uint32_t kind, uint32_t record);
/* A pass begins: nobody was refused yet. */
void weir_jobs_begin_pass(struct weir_jobs *jobs);
/* Orders a kind anew after its keys were changed in place. */
void weir_jobs_reorder(struct weir_jobs *jobs, uint32_t kind);

/* The invariant, recomputed, of the queue and of all; for tests. */
weir_status weir_jobs_check_queue(const struct weir_jobs *jobs, struct weir_error *error);
weir_status weir_jobs_check(const struct weir_jobs *jobs, struct weir_error *error);

#endif
