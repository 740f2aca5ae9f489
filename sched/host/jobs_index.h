/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs in an order that a policy can walk: those that wait, kind by kind in the order of the queue,
 * and those that start or run by the end that is expected of them.
 *
 * Search trees whose shape is drawn from the number of the record (treaps), so that it depends on
 * nothing but the jobs that are there. Each place of a tree of waiting jobs knows the least that is
 * left of any job below it: the first job behind another one that is short enough is O(log n).
 *
 * Kept only for a policy with a pass of its own: the heaps of jobs.h are cheaper where the first of
 * a kind is all that is asked for.
 *
 * Invariant: while it is kept, every waiting job in the queue and every job that starts or runs is
 * in exactly one tree, in order, and its place is below no smaller priority.
 */
#ifndef SCHED_HOST_JOBS_INDEX_H
#define SCHED_HOST_JOBS_INDEX_H

#include "weir/work.h"

struct weir_jobs;
struct weir_waiting_query;

/* The place of a record in its tree. */
struct weir_index_place {
    uint32_t left, right;
    uint32_t draw;     /* its priority: larger is nearer to the root */
    uint32_t is_there; /* in a tree */
    int64_t left_ns;   /* of its estimate; INT64_MAX = not known */
    int64_t least_ns;  /* of it and those below */
    int64_t end_ns;    /* that is expected, of one that starts or runs */
};

/* Begins to keep it, or stops. WEIR_ENOMEM: nothing has changed. O(jobs log jobs). */
weir_status weir_jobs_index(struct weir_jobs *jobs, bool is_kept);
void weir_jobs_free_index(struct weir_jobs *jobs);
/* Room for all records that there are. */
weir_status weir_jobs_reserve_index(struct weir_jobs *jobs);
/* The record came to the queue, starts at its start_ns, or does neither any more. Without an index
 * nothing happens. */
void weir_jobs_index_put(struct weir_jobs *jobs, uint32_t record);
void weir_jobs_index_drop(struct weir_jobs *jobs, uint32_t record);
/* The keys of a kind have changed. */
void weir_jobs_index_renew(struct weir_jobs *jobs, uint32_t kind);

/* Whether its end is expected then. */
bool weir_jobs_ends_at(const struct weir_jobs *jobs, uint32_t record, int64_t time_ns);
/* The record that is asked for, or WEIR_NO_INDEX. */
uint32_t weir_jobs_find_waiting(const struct weir_jobs *jobs,
                                const struct weir_waiting_query *query);
uint32_t weir_jobs_next_running(const struct weir_jobs *jobs, const struct weir_job *after);

/* The invariant, recomputed; for tests. */
weir_status weir_jobs_check_index(const struct weir_jobs *jobs, struct weir_error *error);

#endif
