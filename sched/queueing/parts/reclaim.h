/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking back: which running jobs a plan preempts so that a waiting one finds a place.
 *
 * Candidates are the running jobs, the least urgent first, of equals the one that started last; a
 * policy says of each whether it may go, given those that go already. Lifted off the scratch one
 * after the other until the job fits; then those that are not needed after all stay, the last
 * chosen first. Whole jobs, or nobody; and nobody while those make room that
 * go already. Cost: O(running jobs) and one question of place each.
 */
#ifndef SCHED_QUEUEING_RECLAIM_H
#define SCHED_QUEUEING_RECLAIM_H

#include "sched/queueing/parts/walk.h"
#include "weir/tenant.h"

struct weir_reclaim {
    struct weir_allocator allocator;
    const struct weir_view *view;
    struct weir_placer *placer;
    void *state;
    /* Whether `victim` may go for `job`, and that it goes (+1) or stays after all (-1). */
    bool (*may_go)(void *state, const struct weir_job *victim, const struct weir_job *job);
    void (*count)(void *state, const struct weir_job *victim, int sign);
    /* Another order of all candidates, who should go first in front. NULL = as above. */
    void (*arrange)(void *state, struct weir_job *jobs, uint32_t count, const struct weir_job *job);
    int64_t grace_ns;      /* to save what they have done; 0 = they stop at once */
    struct weir_job *jobs; /* candidates; the first `chosen` go */
    uint32_t job_count, capacity;
};

/* WEIR_OK: the plan preempts some and the job fits; with a grace, once they have gone. WEIR_EBUSY:
 * nobody goes. */
weir_status weir_reclaim_for(struct weir_reclaim *reclaim, const struct weir_job *job,
                             struct weir_error *error);
void weir_reclaim_close(struct weir_reclaim *reclaim);

/* Somebody goes for the job, which then starts, or with a grace waits for what is kept for it, and
 * *is_over says that nobody else is offered a place before. */
weir_status weir_reclaim_start(struct weir_reclaim *reclaim, const struct weir_job *job,
                               bool *is_over, struct weir_error *error);
/* Offers a place to all who wait, in the order of the walk, with view and placer of the reclaim
 * given; `make_room` is asked about each that finds none, with the state of the reclaim. */
typedef weir_status weir_reclaim_room(void *state, const struct weir_job *job, bool *is_over,
                                      struct weir_error *error);
weir_status weir_reclaim_offer(struct weir_reclaim *reclaim, struct weir_walk *walk,
                               weir_reclaim_room *make_room, struct weir_error *error);

#endif
