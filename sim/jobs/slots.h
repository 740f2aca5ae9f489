/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the jobs that are there live: slots that are reused, found by the number of the job.
 *
 * Open addressing with linear probing, at most seven eighths full, growing by half; removal shifts
 * back, so there are no tombstones and memory follows the jobs that are there, not the numbers
 * given. The low half of the number stands in the table, and says where its place is; so a search
 * touches no job but the one that it finds.
 */
#ifndef SIM_JOBS_SLOTS_H
#define SIM_JOBS_SLOTS_H

#include "sim/engine/slab.h"

struct sim_job;

struct sim_job_entry {
    uint32_t number; /* the low half */
    uint32_t slot;   /* + 1; 0 = empty */
};

struct sim_job_slots {
    struct sim_slab jobs;
    struct sim_job_entry *table;
    uint32_t table_capacity, alive;
};

void sim_job_slots_open(struct sim_job_slots *slots);
void sim_job_slots_close(struct sim_job_slots *slots);
/* A zeroed job with this number. */
weir_status sim_job_slots_take(struct sim_job_slots *slots, uint64_t id, struct sim_job **job);
/* What it holds can be read until its slot is taken again. */
void sim_job_slots_give(struct sim_job_slots *slots, struct sim_job *job);
/* The slot, or WEIR_NO_INDEX. */
uint32_t sim_job_slots_find(const struct sim_job_slots *slots, uint64_t id);

#endif
