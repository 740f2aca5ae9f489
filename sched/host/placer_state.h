/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of a placer, for placer.c (workers of pools) and place_job.c (ranks of jobs).
 */
#ifndef SCHED_HOST_PLACER_STATE_H
#define SCHED_HOST_PLACER_STATE_H

#include "sched/host/placer.h"
#include "sched/internal/stopped.h"

struct weir_stopped_list {
    struct weir_worker *workers;
    uint32_t first, count, capacity;
};

struct weir_placer_pool {
    struct weir_stopped_list list; /* for most policies */
    struct weir_stopped stopped;   /* for those that follow it; one of both is empty */
    struct weir_choice refusal;
    uint64_t round;      /* in which it was asked about last; what follows is of that round */
    uint32_t is_refused; /* 1 = the last try was refused */
    uint32_t refused_at; /* where it is in `refused` */
    uint32_t has_seed;
    uint64_t seed;    /* of its name, once asked for */
    uint64_t placed;  /* starts and stops of all plans before */
    uint64_t planned; /* and of this one */
    /* After how many removals, + 1, no place of its stopped workers was free; 0 = not looked. */
    uint64_t no_way_back;
};

struct weir_placer {
    struct weir_allocator allocator;
    struct weir_placer_binding bound;
    struct weir_placer_pool *pools; /* memory of lists stays; all of pool_capacity are valid */
    struct weir_shape *shapes;
    double *frequencies;
    uint32_t *asked; /* pools, in this round */
    uint32_t
        *refused; /* pools, in the order in which refusals in a row began; some got one since */
    uint32_t pool_count, pool_capacity, shape_capacity, frequency_capacity;
    uint32_t asked_count, asked_capacity, shape_count;
    uint32_t refused_count, refused_capacity;
    uint32_t has_mix;     /* `frequencies` are of this round */
    uint32_t wanted_type; /* of GPUs of the job that is placed, as in a shape; 0 = any it accepts */
    const uint32_t *wanted_nodes; /* of its first ranks; NULL = wherever the policy says */
    uint32_t wanted_node_count;
    int64_t at_ns;      /* questions are about jobs that start then; 0 = now */
    int64_t blocked_ns; /* the first reservation that kept the last job out, INT64_MAX = none */
    uint64_t round;
    struct weir_placer_counts counts;
    struct weir_shape *bundles; /* of the placement group that is asked about */
    struct weir_alloc *allocs;
    struct weir_group_part *parts; /* of a group that was placed */
    uint32_t bundle_capacity, alloc_capacity, part_capacity;
    struct weir_place_answer answer; /* large: not on the stack of every call */
};

/* A worker that starts fresh, on scratch and plan, at the answer. */
struct weir_placer_start {
    struct weir_owner owner;
    uint32_t rank;
    const struct weir_alloc *alloc;
    const struct weir_choice *choice; /* NULL = not known */
    int64_t until_ns;                 /* of a reservation */
};
weir_status weir_placer_start_fresh(struct weir_placer *placer,
                                    const struct weir_placer_start *start,
                                    struct weir_error *error);
/* The same place for a rank that waits: nobody else gets it in this decision. */
weir_status weir_placer_reserve(struct weir_placer *placer, const struct weir_placer_start *start,
                                struct weir_error *error);
/* Asks the placement policy; the answer of the placer has the place. */
weir_status weir_placer_ask(struct weir_placer *placer, const struct weir_place_query *query,
                            struct weir_error *error);
struct weir_mix weir_placer_mix(struct weir_placer *placer);
/* For the random choices of the next start or stop of a pool. */
uint64_t weir_placer_seed(struct weir_placer *placer, uint32_t index);
/* Who is denied, and why. */
struct weir_denied {
    struct weir_owner owner;
    uint32_t reason;
    uint32_t is_apart; /* every rank wants a node of its own */
};
/* holders.c: adds who holds what comes nearest to having room for this shape. */
weir_status weir_note_holders(struct weir_plan *plan, const struct weir_cluster *cluster,
                              const struct weir_shape *shape, const struct weir_denied *denied);
/* Of a job: what comes nearest to having room for its first rank that finds none. The scratch is as
 * before. */
weir_status weir_note_job_holders(struct weir_plan *plan, struct weir_cluster *scratch,
                                  const struct weir_job_kind *kind,
                                  const struct weir_denied *denied);
/* The reason most nodes gave. */
uint32_t weir_choice_reason(const struct weir_choice *choice);

#endif
