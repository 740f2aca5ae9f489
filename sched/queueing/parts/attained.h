/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attained service in queues: GPUs times time that a job has had, and the limits at which it goes
 * from one queue to the next (Gu et al., "Tiresias", NSDI 2019). Ranks without GPUs count as one
 * GPU. A policy that ranks by it asks to be woken when the next job has had enough of its queue:
 * at whole seconds of its run, as the published simulator counts.
 */
#ifndef SCHED_QUEUEING_ATTAINED_H
#define SCHED_QUEUEING_ATTAINED_H

#include "sched/queueing/parts/ranked.h"

enum { WEIR_ATTAINED_LIMITS = 2 };

struct weir_attained {
    double limit_ns[WEIR_ATTAINED_LIMITS]; /* GPU ns after which a job leaves the queue */
    double next_ns;                        /* the next job leaves its queue, from now */
    double woken_ns;                       /* a call was asked for; 0 = none */
    double due_ns; /* the next job leaves its queue, unless something else happens before */
};

#define WEIR_ATTAINED_FIRST                                                                        \
    WEIR_NUMBER("limit_1", "GPU s", 1e-3, 1e12, 3250,                                              \
                "service after which a job leaves the first queue")
#define WEIR_ATTAINED_SECOND                                                                       \
    WEIR_NUMBER("limit_2", "GPU s", 1e-3, 1e12, 7200, "service after which it leaves the second")

/* WEIR_EINVAL when the second limit is below the first. */
weir_status weir_attained_open(struct weir_attained *attained, double first_s, double second_s,
                               struct weir_error *error);
/* GPU ns that it has had, in whole ns of each run. */
double weir_attained_of(const struct weir_job *job, int64_t now_ns);
/* The queue of a job; what it had of `base_ns` does not count. Of one that runs: where it was at
 * `at_ns`, at its start at the earliest. */
uint32_t weir_attained_queue(const struct weir_attained *attained, const struct weir_job *job,
                             int64_t at_ns, double base_ns);

/* When one that runs came to that queue in this run: as soon as it could have been woken for it,
 * now at the latest. */
int64_t weir_attained_since(const struct weir_attained *attained, const struct weir_job *job,
                            int64_t now_ns, uint32_t queue, double base_ns);

/* This call was asked for by a job that has ended or given way since: nothing has happened. It asks
 * for the next one. */
bool weir_attained_is_idle(struct weir_attained *attained, const struct weir_view *view);
/* Before a pass; for every job that runs on or starts in it, whose queue it returns; and at its
 * end.
 */
void weir_attained_begin(struct weir_attained *attained);
uint32_t weir_attained_note(struct weir_attained *attained, const struct weir_job *job,
                            int64_t now_ns, double base_ns);
weir_status weir_attained_wake(struct weir_attained *attained, int64_t now_ns,
                               struct weir_plan *plan);

uint32_t weir_attained_save(const struct weir_attained *attained, double *numbers,
                            uint32_t capacity);
weir_status weir_attained_restore(struct weir_attained *attained, const double *numbers,
                                  uint32_t count, struct weir_error *error);

#endif
