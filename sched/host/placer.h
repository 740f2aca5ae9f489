/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The placer: a placement policy bound to the scratch cluster and the plan of one decision.
 *
 * Starting and stopping go through it, so that scratch and plan always say the same. It remembers
 * per pool the workers stopped so far (they may be kept after all), the last refusal, and the
 * steps. It is made once and bound anew for every decision; its memory stays.
 */
#ifndef SCHED_PLACER_H
#define SCHED_PLACER_H

#include "sched/host/jobs.h"
#include "weir/policy.h"

/* What a placer works on during one decision. */
struct weir_placer_binding {
    const struct weir_placement_ops *ops;
    void *state;
    const struct weir_view *view;
    struct weir_cluster *scratch;
    struct weir_plan *plan;
    struct weir_host *host;     /* whose jobs they are; NULL = there are none */
    struct weir_jobs *jobs;     /* NULL = none */
    const struct weir_mix *mix; /* the work that is expected, for ranks of jobs */
    uint32_t group_by_policy, group_report, group_devices;
    uint64_t seed; /* of all random choices for pools, with their names */
};

struct weir_placer_counts {
    uint64_t tried;
    uint64_t failed;
    uint64_t reused;
    uint64_t removed;
};

weir_status weir_placer_create(const struct weir_allocator *allocator, struct weir_placer **placer);
void weir_placer_destroy(struct weir_placer *placer);

/* Starts a decision. The mix is what runs now (or was requested by hand), all equal when nothing
 * does, until the scaling policy sets another. */
weir_status weir_placer_begin(struct weir_placer *placer,
                              const struct weir_placer_binding *binding);
/* Ends it, while the scratch is as the plan leaves it: writes one DENY for every pool whose last
 * try was refused, in the order in which that began, and who holds what it wants. */
weir_status weir_placer_finish(struct weir_placer *placer);

/* The plan counts: its starts and stops have used up their names. */
void weir_placer_accept(struct weir_placer *placer);

/* The decision from its beginning, for a policy that took back all it did to scratch and plan.
 * What was tried stays counted. */
weir_status weir_placer_restart(struct weir_placer *placer);

/* Of the current or last decision. */
struct weir_placer_counts weir_placer_counts(const struct weir_placer *placer);
/* Why the last start of a pool was refused: the most frequent reason of its nodes, or
 * WEIR_REASON_NONE when it was not refused. */
uint32_t weir_placer_refusal(const struct weir_placer *placer, uint32_t pool);

/* How many starts and stops of a pool all plans so far have had. */
uint64_t weir_placer_placed(const struct weir_placer *placer, uint32_t pool);
weir_status weir_placer_set_placed(struct weir_placer *placer, uint32_t pool, uint64_t placed);

/* What it keeps of a pool was of another name or shape. */
void weir_placer_change_pool(struct weir_placer *placer, uint32_t pool,
                             const struct weir_shape *shape);

/* Stops this worker of a pool, chosen by the caller; of a group he stops all members, which do not
 * come back. */
weir_status weir_placer_stop_worker(struct weir_placer *placer, uint32_t pool, uint64_t id,
                                    struct weir_error *error);

/* Starts one worker of a pool at a place chosen by the caller, who found it free; one that this
 * plan stopped there stays instead. The members of a group in a row, see weir_plan_set_group. */
weir_status weir_placer_start_at(struct weir_placer *placer, uint32_t pool,
                                 const struct weir_alloc *alloc, struct weir_error *error);

/* What the next worker of a pool held that this plan has stopped, from number *cursor on (first 0);
 * false = there is no more. */
bool weir_placer_next_stopped(const struct weir_placer *placer, uint32_t pool, uint32_t *cursor,
                              struct weir_alloc *alloc);

/* Whether this plan stopped a worker of a pool at this place: who is started there is that one. */
bool weir_placer_was_there(const struct weir_placer *placer, uint32_t pool,
                           const struct weir_alloc *alloc);

/* Lets a worker of a pool stay after all that this plan stopped and whose place is free.
 * WEIR_EBUSY: there is none. O(its stopped workers). */
weir_status weir_placer_start_back(struct weir_placer *placer, uint32_t pool,
                                   struct weir_error *error);

/* repack.c: how many of `count` pools would have a worker if all of theirs were stopped and they
 * got their first one anew, in this order. Scratch and plan are left as they were. */
weir_status weir_placer_try_anew(struct weir_placer *placer, const uint32_t *pools, uint32_t count,
                                 uint32_t *served, struct weir_error *error);

/* place_job.c: the begin of the first reservation that kept the job out that was tried last;
 * INT64_MAX = none did. */
int64_t weir_placer_blocked(const struct weir_placer *placer);
/* Starts all ranks of a waiting job, or leaves all as it was. WEIR_EBUSY and WEIR_EINFEASIBLE keep
 * the refusal with its kind. */
weir_status weir_placer_start_record(struct weir_placer *placer, uint32_t record,
                                     struct weir_error *error);
/* Whether it could; nothing is changed, and nobody refused. Put: its places stay taken. */
weir_status weir_placer_fits_record(struct weir_placer *placer, uint32_t record, bool is_put,
                                    struct weir_error *error);
/* The same job, after WEIR_EBUSY: reserves what its ranks find, when it has several; of a placement
 * group all, when only the GPUs of its members are wanting (enum weir_group_devices). */
weir_status weir_placer_reserve_record(struct weir_placer *placer, uint32_t record,
                                       int64_t until_ns, struct weir_error *error);
/* One of its ranks alone, for this decision. WEIR_EBUSY, WEIR_EINFEASIBLE: none is free, and the
 * reason of most nodes. */
weir_status weir_placer_reserve_rank(struct weir_placer *placer, uint32_t record, uint32_t rank,
                                     struct weir_error *error);
uint32_t weir_placer_last_reason(const struct weir_placer *placer);

#endif
