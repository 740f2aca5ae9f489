/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All waiting jobs in an order of a policy's own: for passes that must see every job anyway, or in
 * another order than that of their keys. Cost: O(waiting log waiting) a list.
 *
 * Where all who wait have the priority 0 and have waited since they came (weir_view_is_by_age), and
 * of jobs of one kind the one that came first is never behind, the list is made as far as it is
 * read: a heap has the next job of every kind. Cost: O(log kinds + log waiting) a job that is read.
 */
#ifndef SCHED_QUEUEING_LISTED_H
#define SCHED_QUEUEING_LISTED_H

#include "weir/tenant.h"

struct weir_listed_job {
    struct weir_job job;
    double rank; /* the smallest first; of equals the one submitted first, then workload and id */
};

typedef double (*weir_listed_rank)(const void *state, const struct weir_job *job, int64_t now_ns);

struct weir_listed {
    struct weir_allocator allocator;
    struct weir_listed_job *all; /* those in front, in order */
    uint32_t count, capacity;
    /* Of a list that is made as it is read. */
    const struct weir_view *view;
    weir_listed_rank rank;
    const void *state;
    struct weir_listed_job *heads; /* a heap */
    uint32_t head_count, head_capacity;
};

void weir_listed_open(struct weir_listed *listed, const struct weir_allocator *allocator);
void weir_listed_close(struct weir_listed *listed);
/* Of every waiting job, all ranks 0. WEIR_ENOMEM. */
weir_status weir_listed_fill(struct weir_listed *listed, const struct weir_view *view);
/* All by their ranks; is_by_age: in a kind the one that came first is never behind, but for its
 * priority and the time since when it waits. */
weir_status weir_listed_begin(struct weir_listed *listed, const struct weir_view *view,
                              weir_listed_rank rank, const void *state, bool is_by_age);
/* The job at this place, as far as the list was read or one further; *found NULL at the end. It
 * stays where it is until the next call. */
weir_status weir_listed_at(struct weir_listed *listed, uint32_t place,
                           struct weir_listed_job **found);
/* No more jobs of this kind are read, where the list is made as it is read. O(kinds). */
void weir_listed_leave_kind(struct weir_listed *listed, uint32_t kind);
/* By their ranks. */
void weir_listed_sort(struct weir_listed *listed);

#endif
