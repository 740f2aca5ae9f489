/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs as a scheduler sees them, and queueing policies: who is next.
 *
 * A job is a gang of `members` equal workers that start together or not at all. What nobody said is
 * WEIR_UNKNOWN_TIME, 0 or NULL, as noted; a policy must cope with it. A view is valid during the
 * call it is passed to.
 */
#ifndef WEIR_JOB_H
#define WEIR_JOB_H

#include "weir/policy.h"

WEIR_BEGIN_DECLS

#define WEIR_UNKNOWN_TIME INT64_MIN

struct weir_job {
    uint64_t id;             /* in the order of submission */
    struct weir_shape shape; /* of one member */
    uint32_t members;        /* that start together, at least 1 */
    uint32_t ranks_min;      /* an elastic job runs with any number of members in this range */
    uint32_t ranks_max;
    uint32_t tenant;
    int32_t priority;  /* larger is more urgent */
    uint32_t attempts; /* starts so far */
    int64_t submit_ns;
    int64_t queued_ns;       /* since when it waits this time */
    int64_t estimate_ns;     /* of its run time, by its user */
    int64_t attained_ns;     /* it has run so far, times its GPUs (members without GPUs count 1) */
    int64_t restart_cost_ns; /* to start again from its last checkpoint */
    double round_share;      /* of the present round it is entitled to; 0 = no rounds */
    /* Steps per second on each GPU type (by index), relative to the first; NULL = all the same. */
    const double *throughput;
    uint32_t throughput_count;
    uint32_t reserved;
};

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
     * smaller id. NULL = the time of submission. */
    double (*key)(void *state, const struct weir_job *job, int64_t now_ns);
};

enum weir_queueing_flag {
    /* Jobs behind one that does not fit may start. Otherwise they wait behind it. */
    WEIR_QUEUEING_PASSES = 1,
    /* Keys of waiting jobs change with time: they are asked for anew at every pass. */
    WEIR_QUEUEING_AGES = 2
};

WEIR_API uint32_t weir_queueing_count(void);
WEIR_API const struct weir_queueing_ops *weir_queueing_at(uint32_t index);
WEIR_API const struct weir_queueing_ops *weir_queueing_find(const char *name); /* NULL = none */

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
