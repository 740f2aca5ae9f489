/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jobs whose number of members changes while they run: some are lost with their node and the others
 * go on, and members come back where the scheduler finds a place for them.
 *
 *   a member lost --> fewer than least, or another rank: lost as a whole, it waits again
 *         |
 *         +--> the others go on at P(n) / P(all) of its speed, P(n) = 1 / (serial + (1 -
 * serial)/n), after standing still for `resize`; what it has done is kept
 *
 * Members lost at one instant are one change, made when all that happened then is known (settle).
 * Invariant: while `ids` is there it names the ranks that live, members first, and nobody else.
 */
#include "sim/jobs/jobs.h"

#include "sim/record/meter/meter_tenants.h"

#include <stdlib.h>
#include <string.h>

/* Nodes that its members are on; they were placed in turn. */
static uint32_t count_nodes(const struct sim_jobs_run *run, const struct sim_job_life *life)
{
    uint32_t count = 0;
    uint32_t last = WEIR_NO_INDEX;
    for (uint32_t i = 0; i < life->members; i++) {
        const struct sim_worker *worker =
            sim_workers_find(run->config.workers, sim_job_worker_id(life, i));
        count += worker->node != last;
        last = worker->node;
    }
    return count;
}

double sim_jobs_elastic_speed(const struct sim_jobs_run *run, const struct sim_job *job)
{
    const struct sim_elastic *elastic = sim_job_spec(run, job)->elastic;
    const struct sim_job_life *life = sim_job_life(run, job);
    if (elastic == NULL)
        return 1;
    const struct weir_speedup *speedup = &elastic->speedup;
    const uint32_t nodes = speedup->law == WEIR_SPEEDUP_GOODPUT ? count_nodes(run, life) : 1;
    return weir_speedup_at(speedup, life->members, nodes) /
           weir_speedup_at(speedup, speedup->usual, 1);
}

/* ---- the list of ranks ---- */

/* Room for all ranks that it may ever have. */
static weir_status list_ranks(const struct sim_jobs_run *run, const struct sim_job *job)
{
    struct sim_job_life *life = sim_job_life(run, job);
    if (life->ids != NULL)
        return WEIR_OK;
    uint64_t *ids = calloc(sim_job_most_workers(sim_job_spec(run, job)), sizeof(*ids));
    if (ids == NULL)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < life->workers; i++)
        ids[i] = life->first_worker + i;
    life->ids = ids;
    return WEIR_OK;
}

/* Which of those that live; the number of them when it is none. */
static uint32_t rank_of(const struct sim_job_life *life, uint64_t id)
{
    uint32_t rank = 0;
    while (rank < life->workers && sim_job_worker_id(life, rank) != id)
        rank++;
    return rank;
}

weir_status sim_jobs_rank_gone(const struct sim_jobs_run *run, const struct sim_job *job,
                               uint64_t worker, bool *is_member)
{
    struct sim_job_life *life = sim_job_life(run, job);
    if (sim_job_spec(run, job)->elastic == NULL) {
        *is_member = worker - life->first_worker < sim_job_spec(run, job)->members;
    } else {
        const uint32_t rank = rank_of(life, worker);
        if (rank == life->workers)
            return WEIR_EINVARIANT;
        *is_member = rank < life->members;
        WEIR_TRY(list_ranks(run, job));
        memmove(&life->ids[rank], &life->ids[rank + 1],
                (life->workers - rank - 1) * sizeof(*life->ids));
    }
    life->workers--;
    life->members -= *is_member ? 1 : 0;
    return WEIR_OK;
}

bool sim_jobs_goes_on(const struct sim_jobs_run *run, const struct sim_job *job, enum sim_stop why)
{
    const struct sim_elastic *elastic = sim_job_spec(run, job)->elastic;
    return elastic != NULL && why != SIM_STOP_PREEMPTED &&
           elastic->on_loss != SIM_ON_LOSS_REQUEUE &&
           sim_job_life(run, job)->members >= elastic->least;
}

/* ---- changes ---- */

static weir_status change(struct sim_jobs_run *run, struct sim_job *job, int32_t members)
{
    sim_jobs_count(run, job, members < 0 ? SIM_JOBS_SHRUNK : SIM_JOBS_GROWN);
    sim_jobs_digest(run, DIGEST_RESIZED, job);
    return sim_jobs_go_on_resized(run, job);
}

weir_status sim_jobs_shrink(struct sim_jobs_run *run, struct sim_job *job)
{
    const struct sim_driver_config *config = &run->config;
    const struct sim_elastic *elastic = sim_job_spec(run, job)->elastic;
    struct sim_job_life *life = sim_job_life(run, job);
    const struct sim_ranks_lost lost = { .count = life->lost,
                                         .may_come_back = elastic->on_loss == SIM_ON_LOSS_HEAL };
    life->is_changed = false;
    life->lost = 0;
    WEIR_TRY(config->services->resized(config->world, run->index, job->id, lost));
    return change(run, job, -(int32_t)lost.count);
}

weir_status sim_jobs_grow(struct sim_jobs_run *run, struct sim_job *job,
                          const struct sim_start *start, uint32_t *reason)
{
    const struct sim_job_spec *spec = sim_job_spec(run, job);
    struct sim_job_life *life = sim_job_life(run, job);
    const uint32_t count = start->places.count;
    if (spec->elastic == NULL || life->is_lost || life->is_warned ||
        life->members + count > spec->elastic->most) {
        *reason = WEIR_REASON_FINISHED; /* it needs none any more */
        return WEIR_OK;
    }
    WEIR_TRY(list_ranks(run, job));
    WEIR_TRY(sim_jobs_start_ranks(run, job, start, reason));
    if (*reason != WEIR_REASON_NONE)
        return WEIR_OK;
    memmove(&life->ids[life->members + count], &life->ids[life->members],
            (life->workers - life->members) * sizeof(*life->ids));
    for (uint32_t i = 0; i < count; i++)
        life->ids[life->members + i] = start->places.items[i].id;
    life->workers += count;
    life->members += count;
    sim_jobs_set_up(run, job, life->members - count, count);
    return change(run, job, (int32_t)count);
}

void sim_jobs_forget_ranks(struct sim_job_life *life)
{
    free(life->ids);
    life->ids = NULL;
}
