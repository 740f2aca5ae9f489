/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The licences a host knows, and how many of each are held (weir/licence.h).
 *
 * Invariant: `used` are those of all jobs that start or run (weir_jobs_check recomputes them); it
 * is above the limit only while jobs that a plan preempts are on their way out, or were taken over.
 * Cost: O(licences) a job that starts or ends, nothing when there are none.
 */
#ifndef SCHED_HOST_LICENCES_H
#define SCHED_HOST_LICENCES_H

#include "weir/licence.h"

struct weir_licence_entry {
    char *name;
    uint32_t limit;
    int32_t priority_threshold;
    int64_t used;
};

struct weir_licences {
    struct weir_licence_entry all[WEIR_MAX_LICENCES];
    uint32_t count;
};

void weir_licences_close(struct weir_licences *licences, const struct weir_allocator *allocator);
/* Whether a job takes any: `need` counts them, as in weir_job_spec. */
bool weir_licences_takes(const struct weir_licences *licences, const uint32_t *need);
/* Whether a job of this priority is below the threshold of one that it takes. */
bool weir_licences_is_barred(const struct weir_licences *licences, const uint32_t *need,
                             int32_t priority);
/* WEIR_EINVAL: of one that there is not; WEIR_EINFEASIBLE: of more than there are. */
weir_status weir_licences_check(const struct weir_licences *licences, const uint32_t *need,
                                struct weir_error *error);
/* So many jobs more hold these. */
void weir_licences_count(struct weir_licences *licences, const uint32_t *need, int32_t jobs);
/* Whether too few are left for a job that takes these. */
bool weir_licences_lack(const struct weir_licences *licences, const uint32_t *need);

/* The check of a plan: what is left before it, and what its starts and preemptions make of that,
 * in its order. WEIR_EPOLICY: a job starts that may not. */
struct weir_jobs;
void weir_licences_open_check(const struct weir_plan *plan, const struct weir_view *view,
                              int64_t left[WEIR_MAX_LICENCES]);
weir_status weir_licences_take(const struct weir_jobs *jobs, uint32_t record, int64_t *left,
                               struct weir_error *error);
void weir_licences_give_back(const struct weir_jobs *jobs, uint32_t record, int64_t *left);
/* That `used` is what its jobs hold; O(jobs). */
weir_status weir_jobs_check_licences(const struct weir_jobs *jobs, struct weir_error *error);

#endif
