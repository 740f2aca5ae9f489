/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jobs that call a service (see jobs.h): what becomes of them while it is out of reach.
 *
 * A job that works stands still with all that it holds, and uses none of it. After so many calls
 * that nobody answered its run has failed, as if a rank were lost. With a gate jobs ask whether the
 * service is there: those that work give their places back at once, nobody waits for one, and all
 * of them are AWAY until it is back.
 */
#include "sim/jobs/jobs.h"

static bool holds_back(const struct sim_jobs_run *run)
{
    return run->unreachable > 0 && run->workload->calls.is_gated == 1;
}

/* ---- those that work ---- */

static void rest(const struct sim_jobs_run *run, const struct sim_job_life *life, bool rests)
{
    for (uint32_t i = 0; i < life->workers; i++) {
        struct sim_worker *rank = sim_workers_find(run->config.workers, sim_job_worker_id(life, i));
        if (rank != NULL && rank->state == SIM_WORKER_BUSY)
            sim_worker_rest(run->config.workers, rank, rests);
    }
}

/* Its first rank goes, and with it the run. */
static weir_status fail(struct sim_jobs_run *run, const struct sim_job *job)
{
    const struct sim_driver_config *config = &run->config;
    struct sim_worker *rank =
        sim_workers_find(config->workers, sim_job_worker_id(sim_job_life(run, job), 0));
    return rank == NULL ? WEIR_OK
                        : config->services->end(config->world, rank, SIM_STOP_GIVEN_UP,
                                                "a service did not answer");
}

weir_status sim_jobs_calls_fail(struct sim_jobs_run *run, uint32_t slot)
{
    const struct sim_job *job = sim_job_at(run, slot);
    sim_job_life(run, job)->call = SIM_NO_HANDLE;
    WEIR_TRY(fail(run, job));
    return sim_jobs_settle(run);
}

weir_status sim_jobs_calls_hang(struct sim_jobs_run *run, const struct sim_job *job)
{
    struct sim_job_life *life = sim_job_life(run, job);
    const struct sim_job_calls *calls = &run->workload->calls;
    if (run->unreachable == 0)
        return WEIR_OK;
    WEIR_TRY(sim_jobs_go_at(run, job));
    rest(run, life, true);
    if (life->call != SIM_NO_HANDLE)
        return WEIR_OK; /* it hung before, and saved its work since */
    int64_t patience_ns = 0;
    if (!holds_back(run) &&
        __builtin_mul_overflow(calls->timeout_ns, (int64_t)calls->attempts, &patience_ns))
        patience_ns = SIM_TIME_MAX;
    const struct sim_event event = { .time_ns = sim_jobs_later(sim_jobs_now(run), patience_ns),
                                     .target = job->slot,
                                     .argument = job->id,
                                     .kind = sim_driver_kind(run->config.index, SIM_JOBS_CALL),
                                     .phase = SIM_PHASE_FLOW };
    life->call = sim_engine_schedule(run->context->engine, &event);
    return WEIR_OK;
}

void sim_jobs_calls_end(const struct sim_jobs_run *run, struct sim_job_life *life)
{
    if (life->call != SIM_NO_HANDLE)
        (void)sim_engine_cancel(run->context->engine, life->call);
    life->call = SIM_NO_HANDLE;
}

static weir_status go_on(struct sim_jobs_run *run, const struct sim_job *job)
{
    struct sim_job_life *life = sim_job_life(run, job);
    sim_jobs_calls_end(run, life);
    if (life->phase != SIM_JOB_WORKING)
        return WEIR_OK;
    rest(run, life, false);
    return sim_jobs_go_at(run, job);
}

/* ---- those that wait ---- */

bool sim_jobs_calls_hold(struct sim_jobs_run *run, struct sim_job *job)
{
    if (!holds_back(run))
        return false;
    job->state = SIM_JOB_AWAY;
    job->is_held = true;
    job->timer = SIM_NO_HANDLE;
    run->away++;
    return true;
}

static weir_status withdraw(struct sim_jobs_run *run, struct sim_job *job)
{
    const struct sim_driver_config *config = &run->config;
    sim_jobs_dequeue(run, job->slot);
    WEIR_TRY(config->services->withdraw(config->world, run->index, job->id));
    (void)sim_jobs_calls_hold(run, job);
    return WEIR_OK;
}

static weir_status let_in(struct sim_jobs_run *run, struct sim_job *job)
{
    job->is_held = false;
    run->away--;
    return sim_jobs_enqueue_again(run, job);
}

/* ---- the service goes, and comes back ---- */

static weir_status lost(struct sim_jobs_run *run, struct sim_job *job)
{
    if (job->state == SIM_JOB_WAITING)
        return holds_back(run) ? withdraw(run, job) : WEIR_OK;
    if (job->state != SIM_JOB_RUNNING || sim_job_life(run, job)->phase != SIM_JOB_WORKING)
        return WEIR_OK;
    return sim_jobs_calls_hang(run, job);
}

static weir_status back(struct sim_jobs_run *run, struct sim_job *job)
{
    if (job->state == SIM_JOB_RUNNING)
        return go_on(run, job);
    return job->state == SIM_JOB_AWAY && job->is_held ? let_in(run, job) : WEIR_OK;
}

weir_status sim_jobs_calls_reach(struct sim_jobs_run *run, bool is_lost)
{
    run->unreachable += is_lost ? 1 : UINT32_MAX;
    if (run->unreachable != (is_lost ? 1U : 0U))
        return WEIR_OK;
    for (uint32_t i = 0; i < run->slots.jobs.used; i++)
        if (sim_job_at(run, i)->state != SIM_JOB_GONE)
            WEIR_TRY((is_lost ? lost : back)(run, sim_job_at(run, i)));
    return sim_jobs_settle(run);
}
