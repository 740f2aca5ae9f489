/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A plan takes the place of a job for others: its ranks stop, and it waits again with the work that
 * is left. What it has done since its last checkpoint is lost as it is with a node, or nothing is
 * (preemption.keeps: all).
 *
 *   warned, with a grace --> saves what it has done --> stops
 *            |                                            ^
 *            +------- grace over: killed as it is --------+
 *
 * One that makes no checkpoints works on until its grace is over; one that starts stops at once.
 */
#include "sim/jobs/jobs.h"

static weir_status stop_now(struct sim_jobs_run *run, struct sim_job *job, const char *text)
{
    return sim_jobs_drop_ranks(run, job, SIM_STOP_PREEMPTED, text);
}

static void plan_kill(struct sim_jobs_run *run, const struct sim_job *job, int64_t grace_ns)
{
    const struct sim_event event = { .time_ns = sim_jobs_later(sim_jobs_now(run), grace_ns),
                                     .target = job->slot,
                                     .argument = job->id,
                                     .kind = sim_driver_kind(run->config.index, SIM_JOBS_KILL),
                                     .phase = SIM_PHASE_FLOW };
    sim_job_life(run, job)->kill = sim_engine_schedule(run->context->engine, &event);
}

weir_status sim_jobs_preempt(struct sim_jobs_run *run, uint64_t id, int64_t grace_ns)
{
    const uint32_t slot = sim_job_slots_find(&run->slots, id);
    if (slot == WEIR_NO_INDEX || sim_job_at(run, slot)->state != SIM_JOB_RUNNING)
        return WEIR_OK; /* it ended while the plan was on its way */
    struct sim_job *job = sim_job_at(run, slot);
    struct sim_job_life *life = sim_job_life(run, job);
    if (life->is_lost || life->is_warned)
        return WEIR_OK;
    if (grace_ns == 0 || run->workload->preemption.keeps_all || life->phase == SIM_JOB_STARTING ||
        life->phase == SIM_JOB_READING)
        return stop_now(run, job, "preempted");
    life->is_warned = true;
    plan_kill(run, job, grace_ns);
    if (!run->workload->checkpoint.is_made ||
        (life->phase != SIM_JOB_WORKING && life->phase != SIM_JOB_RESIZING))
        return WEIR_OK; /* it saves its work already, or never does */
    if (life->save != SIM_NO_HANDLE)
        (void)sim_engine_cancel(run->context->engine, life->save);
    return sim_jobs_save(run, slot);
}

weir_status sim_jobs_give_way(struct sim_jobs_run *run, struct sim_job *job)
{
    WEIR_TRY(stop_now(run, job, "preempted, its work saved"));
    return sim_jobs_settle(run);
}

weir_status sim_jobs_kill(struct sim_jobs_run *run, uint32_t slot)
{
    struct sim_job *job = sim_job_at(run, slot);
    sim_job_life(run, job)->kill = SIM_NO_HANDLE;
    sim_jobs_count(run, job, SIM_JOBS_KILLED);
    WEIR_TRY(stop_now(run, job, "preempted, its grace over"));
    return sim_jobs_settle(run);
}
