/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jobs in time: they arrive, wait, are placed, run and end.
 *
 *            +---------------- refused, retries left: comes again ----------------+
 *            v                                                                    |
 *   arrives -+-> WAITING -- placed --> RUNNING -- run time over --> done          |
 *                  |  |                  |                                        |
 *                  |  +-- patience over: left        node lost: WAITING again     |
 *                  +-- no room to wait ----------------> AWAY --------------------+
 *                                                          no retry left: refused
 *
 * At one instant: ends, then faults, then arrivals and lost patience, then one scheduling pass,
 * then refusals of those that may not wait. The pass offers jobs in the order of the queueing
 * policy to the placement policy; the members of a job are placed all or none. Belief and truth
 * are apart: a place the truth does not have is refused and counted (sched.refused).
 *
 * Invariant (checked at the end, after every event when asked for): arrived = done + refused + left
 * + waiting + running + away, and what is held is what running jobs hold.
 */
#ifndef SIM_JOBS_JOB_RUN_H
#define SIM_JOBS_JOB_RUN_H

#include "sim/world/world.h"

struct sim_job_run;
struct sim_run_summary;

/* Sees every job when it is done, refused or gone, in time order, and every member when it is
 * placed: all members of a job one after the other, ascending. */
struct sim_job_row;
struct sim_job_member {
    uint64_t job;
    uint32_t member;
    uint32_t attempt; /* of the job; 0 for the first */
    const struct weir_alloc *alloc;
};
struct sim_job_observer {
    void (*job)(void *state, const struct sim_job_row *row);
    void *state;
    void (*member)(void *state, const struct sim_job_member *member); /* NULL = not wanted */
};

weir_status sim_job_run_create(const struct sim_scenario *scenario,
                               const struct sim_run_options *options, struct sim_job_run **run,
                               struct weir_error *error);
void sim_job_run_destroy(struct sim_job_run *run);
void sim_job_run_observe(struct sim_job_run *run, const struct sim_job_observer *observer);

/* Until the last job ended, the horizon, or an interrupt (WEIR_EINTERRUPTED). */
weir_status sim_job_run_go(struct sim_job_run *run, struct weir_error *error);

/* All jobs came and went (or nothing can change any more). */
bool sim_job_run_is_over(const struct sim_job_run *run);
const struct sim_cluster *sim_job_run_cluster(const struct sim_job_run *run);
/* The invariant. */
weir_status sim_job_run_check(const struct sim_job_run *run, struct weir_error *error);

/* job_results.c: results to the recorder (may be NULL) and the summary. */
weir_status sim_job_run_results(struct sim_job_run *run, struct sim_run_summary *summary,
                                struct weir_error *error);

#endif
