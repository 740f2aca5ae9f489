/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queueing policies: in which order waiting jobs are offered a place, and who may pass whom.
 *
 * The cheap way is `key`: one number a job; the host keeps the jobs of one kind in the order of
 * their keys and asks the first of every kind, so a pass costs what may change, not what waits.
 * Flags say whether jobs may pass one that does not fit. The full way is `pass`: the policy walks
 * over the jobs itself (reservations, backfill, rounds) and tries places through the placer, with
 * marks on its scratch.
 */
#ifndef WEIR_JOB_H
#define WEIR_JOB_H

#include "weir/policy.h"

WEIR_BEGIN_DECLS

struct weir_queueing_ops {
    uint32_t size, abi;
    const char *name;
    const char *summary;
    const struct weir_param *params;
    uint32_t param_count;
    uint32_t flags; /* enum weir_queueing_flag */
    /* NULL = stateless. */
    weir_status (*create)(const struct weir_params *params, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error);
    void (*destroy)(void *state);
    /* The key of a waiting job: the smallest is next; of equals the one submitted first, then the
     * smaller workload, then the smaller id. NULL = the time of submission. */
    double (*key)(void *state, const struct weir_job *job, int64_t now_ns);
    /* One pass of its own instead of the host's. NULL = the host's, by key. */
    weir_status (*pass)(void *state, const struct weir_view *view, struct weir_placer *placer,
                        struct weir_plan *plan, struct weir_error *error);
    uint32_t (*save)(const void *state, double *numbers, uint32_t capacity); /* as of scaling */
    weir_status (*restore)(void *state, const struct weir_view *view, const double *numbers,
                           uint32_t count, struct weir_error *error);
};

enum weir_queueing_flag {
    /* Jobs behind one that does not fit may start. Otherwise they wait behind it. */
    WEIR_QUEUEING_PASSES = 1,
    /* Keys of waiting jobs change with time: they are asked for anew at every pass. */
    WEIR_QUEUEING_AGES = 2,
    /* It decides how many ranks a job has: its pass is asked for also when nobody waits. From 2.3
     * on. */
    WEIR_QUEUEING_RESIZES = 4,
    /* It remembers what ended when: its pass is asked for after every change of jobs or nodes, also
     * when nobody waits or runs. From 2.3 on. */
    WEIR_QUEUEING_FOLLOWS = 8
};

WEIR_API uint32_t weir_queueing_count(void);
WEIR_API const struct weir_queueing_ops *weir_queueing_at(uint32_t index);
WEIR_API const struct weir_queueing_ops *weir_queueing_find(const char *name); /* NULL = none */

/* For `pass`: starts all ranks of a waiting job, all or none. WEIR_EBUSY when it does not fit now
 * (a DENY of its kind is kept with the counts), WEIR_EINFEASIBLE when it cannot on the nodes that
 * are up. Cost: that of its ranks' placements. */
WEIR_API weir_status weir_placer_start_job(struct weir_placer *placer, uint32_t workload,
                                           uint64_t id, struct weir_error *error);

/* The rest is from 2.3 on. Whether it could start as the scratch is now: WEIR_OK, or the errors of
 * weir_placer_start_job. Nothing is changed or counted. */
WEIR_API weir_status weir_placer_fits_job(struct weir_placer *placer, uint32_t workload,
                                          uint64_t id, struct weir_error *error);
/* Takes the places that a waiting job finds, on the scratch and nowhere else, as above under a
 * mark: to ask what would still fit if it started. Errors as of weir_placer_fits_job. */
WEIR_API weir_status weir_placer_put_job(struct weir_placer *placer, uint32_t workload, uint64_t id,
                                         struct weir_error *error);
/* As weir_placer_start_job, on GPUs of this type alone (an index), or of these that a rank accepts
 * (a set, WEIR_GPU_TYPE_SET). WEIR_EINVAL when a rank does not accept the one, WEIR_EUNSUPPORTED
 * for a placement group. */
WEIR_API weir_status weir_placer_start_job_on(struct weir_placer *placer, uint32_t workload,
                                              uint64_t id, uint32_t gpu_type,
                                              struct weir_error *error);
/* How a job with a speed by ranks is to start. */
struct weir_job_start {
    uint32_t size;         /* sizeof */
    uint32_t ranks;        /* in its first group; 0 = as many as it says */
    uint32_t gpu_type;     /* as in a shape: index + 1 or a set; 0 = any it accepts */
    uint32_t node_count;   /* 0 = the placement policy finds the places */
    const uint32_t *nodes; /* for every rank of the first group in turn; others are placed */
};
/* As weir_placer_start_job, in that way: which ranks a job has is then as if it had been submitted
 * so. WEIR_EINVAL when the job does not run with so many ranks or takes no GPU of the type,
 * WEIR_EUNSUPPORTED for a placement group; else as weir_placer_start_job. */
WEIR_API weir_status weir_placer_start_job_as(struct weir_placer *placer, uint32_t workload,
                                              uint64_t id, const struct weir_job_start *start,
                                              struct weir_error *error);
/* Takes what a job that starts or runs holds off the scratch, and off nothing else: to ask what
 * would fit if it had ended. Under a mark of the policy, which it rolls back before it returns.
 * WEIR_EINVAL without such a mark, WEIR_ENOTFOUND when no such job holds anything. O(its ranks). */
WEIR_API weir_status weir_placer_lift_job(struct weir_placer *placer, uint32_t workload,
                                          uint64_t id, struct weir_error *error);
/* The plan stops all ranks of a job (PREEMPT); what they hold is free for the rest of the plan. The
 * controller tells of each rank STOPPED, then that the job ended, and submits it again. Not under a
 * mark that is rolled back. WEIR_ENOTFOUND when no such job holds anything, WEIR_EDUPLICATE when a
 * plan has preempted it already. O(its ranks). */
WEIR_API weir_status weir_placer_preempt_job(struct weir_placer *placer, uint32_t workload,
                                             uint64_t id, struct weir_error *error);
/* The same, with time to save what it has done: it keeps what it holds until it has, or until
 * `grace_ns` (> 0) are over. */
WEIR_API weir_status weir_placer_warn_job(struct weir_placer *placer, uint32_t workload,
                                          uint64_t id, int64_t grace_ns, struct weir_error *error);
/* What the ranks of a waiting job find now is nobody else's for the rest of this decision, and the
 * plan says that it is reserved until `until_ns`. A placement group reserves nothing. */
WEIR_API weir_status weir_placer_reserve_job(struct weir_placer *placer, uint32_t workload,
                                             uint64_t id, int64_t until_ns,
                                             struct weir_error *error);

/* One queueing policy by itself, with its state. `params` NULL or empty = defaults; copied. */
struct weir_ranker;

WEIR_API weir_status weir_ranker_create(const struct weir_queueing_ops *ops,
                                        const struct weir_params *params,
                                        const struct weir_allocator *allocator,
                                        struct weir_ranker **ranker, struct weir_error *error);
WEIR_API void weir_ranker_destroy(struct weir_ranker *ranker);
/* WEIR_EPOLICY when the policy gives no number. */
WEIR_API weir_status weir_ranker_key(struct weir_ranker *ranker, const struct weir_job *job,
                                     int64_t now_ns, double *key, struct weir_error *error);

WEIR_END_DECLS

#endif
