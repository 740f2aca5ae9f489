/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A walk over the waiting jobs in the order of the queue: for policies with a pass of their own.
 *
 * A binary heap has the next job of every kind that is walked; what is asked of the view is one job
 * at a time. A kind can be left behind: when one of it finds no place, none does. Jobs that start
 * on the way are no longer there; the walk goes on behind them.
 * Cost: O(kinds) to begin, O(log kinds + log waiting jobs) a step.
 */
#ifndef SCHED_QUEUEING_WALK_H
#define SCHED_QUEUEING_WALK_H

#include "weir/licence.h"
#include "weir/tenant.h"

/* weir_view_quota_reason where there are limits at all. */
static inline uint32_t weir_walk_limit(const struct weir_view *view, const struct weir_job *job)
{
    return weir_view_tenants(view) > 1 || weir_view_licences(view) > 0
               ? weir_view_quota_reason(view, job)
               : (uint32_t)WEIR_REASON_NONE;
}

struct weir_walk {
    struct weir_allocator allocator;
    const struct weir_view *view;
    struct weir_job *heads; /* a heap: the first is next */
    uint32_t count, capacity;
};

void weir_walk_open(struct weir_walk *walk, const struct weir_allocator *allocator);
void weir_walk_close(struct weir_walk *walk);

/* At the first job of every kind with at most `most_ns` left. WEIR_ENOMEM. */
weir_status weir_walk_begin(struct weir_walk *walk, const struct weir_view *view, int64_t most_ns);
/* The job that is next, valid until the walk goes on; NULL at the end. */
static inline const struct weir_job *weir_walk_job(const struct weir_walk *walk)
{
    return walk->count == 0 ? NULL : &walk->heads[0];
}
/* The same, past the kinds that a limit of their tenant holds now: they are denied for that, and
 * hold up nobody behind them. */
const struct weir_job *weir_walk_free_job(struct weir_walk *walk, struct weir_placer *placer);
/* On to the next one; the kind of this one goes on with jobs that have at most `most_ns` left. */
void weir_walk_next(struct weir_walk *walk, int64_t most_ns);
/* On without the kind of this one. */
void weir_walk_leave_kind(struct weir_walk *walk);

/* Which of two waiting jobs is first in the queue. */
bool weir_walk_is_before(const struct weir_job *left, const struct weir_job *right);

#endif
