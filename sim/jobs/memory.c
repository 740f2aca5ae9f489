/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory of GPUs that jobs take for their work, beside what they ask for (`activations`).
 *
 * A rank takes it when the job begins to work, and has it until it goes. Who asks for more than is
 * free, or than its tenant lets a process have, gets an error and ends; nobody else is harmed.
 */
#include "sim/jobs/jobs.h"
#include "sim/record/record.h"

#include <stdio.h>

static weir_status note_short(struct sim_jobs_run *run, const struct sim_worker *rank,
                              int64_t bytes, const struct sim_gpu_grant *grant)
{
    char asked[200];
    (void)snprintf(asked, sizeof(asked), "%s: rank %llu: %.4g GB beside what it asked for",
                   run->workload->name, (unsigned long long)sim_worker_id(rank),
                   1e-9 * (double)bytes);
    return sim_worker_note_short(
        run->config.workers, rank, asked, grant,
        "not free on its GPU, or more than a process of its tenant may have");
}

/* At this instant, when what is under way is over. */
static void plan_end(struct sim_jobs_run *run, const struct sim_job *job)
{
    struct sim_job_life *life = sim_job_life(run, job);
    const struct sim_event event = { .time_ns = sim_jobs_now(run),
                                     .target = job->slot,
                                     .argument = job->id,
                                     .kind = sim_driver_kind(run->config.index, SIM_JOBS_LIMIT),
                                     .phase = SIM_PHASE_FLOW };
    if (life->limit != SIM_NO_HANDLE)
        (void)sim_engine_cancel(run->context->engine, life->limit);
    life->is_short = true;
    life->limit = sim_engine_schedule(run->context->engine, &event);
}

weir_status sim_jobs_take_memory(struct sim_jobs_run *run, const struct sim_job *job)
{
    const struct sim_job_spec *spec = sim_job_spec(run, job);
    const struct sim_job_life *life = sim_job_life(run, job);
    struct sim_workers *workers = run->config.workers;
    if (spec->activation_bytes == 0 && !run->context->scenario->has_gpu_memory_of_tenants)
        return WEIR_OK;
    for (uint32_t i = 0; i < life->workers; i++) {
        const int64_t bytes = i < life->members ? spec->activation_bytes : 0;
        struct sim_worker *rank = sim_workers_find(workers, sim_job_worker_id(life, i));
        struct sim_gpu_grant grant = { .is_taken = true };
        if (rank->gpu_bytes == 0)
            WEIR_TRY(sim_worker_take_gpu_bytes(workers, rank, bytes, spec->step != NULL, &grant));
        if (grant.is_taken)
            continue;
        plan_end(run, job);
        return note_short(run, rank, bytes, &grant);
    }
    return WEIR_OK;
}
