/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Into the scheduler's queue and out of it, with patience (see jobs.h). */
#include "sim/jobs/jobs.h"

#include "sim/record/meter/meter_tenants.h"

#include <math.h>
#include <string.h>

/* Its rank groups, in the memory of the run. */
static void describe_groups(struct sim_jobs_run *run, const struct sim_job_spec *spec)
{
    const uint32_t least = spec->elastic == NULL ? spec->members : spec->elastic->least;
    run->groups[0] = (struct weir_rank_group){ .ranks = spec->members,
                                               .ranks_min = least,
                                               .ranks_max = spec->members,
                                               .soft_labels = spec->soft_labels,
                                               .shape = spec->shape };
    for (size_t i = 0; i < spec->more_count; i++)
        run->groups[i + 1] = (struct weir_rank_group){ .ranks = spec->more[i].members,
                                                       .ranks_min = spec->more[i].members,
                                                       .ranks_max = spec->more[i].members,
                                                       .soft_labels = spec->more[i].soft_labels,
                                                       .shape = spec->more[i].shape };
}

/* Whether it is not as fast on every GPU type. */
static bool has_speeds(const struct sim_jobs_run *run, const struct sim_job_spec *spec)
{
    const size_t types = run->config.scenario->gpu_types_count;
    for (size_t t = 1; t < types && spec->speed.on_type != NULL; t++)
        if (islessgreater(spec->speed.on_type[t], spec->speed.on_type[0]))
            return true;
    return false;
}

/* Of a job in steps, computing; or as its model has it. */
static double step_s(const struct sim_job_spec *spec)
{
    if (spec->step != NULL)
        return sim_time_s(spec->step->time_ns);
    return spec->profile != NULL && spec->profile->step_s > 0 ? spec->profile->step_s : 0;
}

/* GPU time: what does not fit, 292 years of it, is the largest there is. */
static int64_t attained_ns(const struct sim_job_life *life, const struct sim_job_spec *spec)
{
    const int64_t gpus = spec->shape.gpu_count > 0 ? spec->shape.gpu_count : 1;
    int64_t sum = 0;
    return life == NULL                                                       ? 0
           : __builtin_mul_overflow(life->ran_ns, gpus * spec->members, &sum) ? SIM_TIME_MAX
                                                                              : sum;
}

static struct weir_job_spec describe(struct sim_jobs_run *run, const struct sim_job *job,
                                     int64_t estimate_ns)
{
    const struct sim_job_spec *spec = sim_job_spec(run, job);
    const int64_t due_ns = sim_jobs_later(job->at_ns, run->workload->deadline_ns);
    const uint32_t attempts = sim_job_attempts(run, job);
    struct sim_stream stream;
    sim_stream_open(&stream, sim_job_stream_random(run->stream, job->spec), SIM_DRAW_POLICY,
                    (struct sim_stream_key){ .item = job->key, .attempt = attempts });
    describe_groups(run, spec);
    const struct sim_job_life *life = attempts > 0 ? sim_job_life(run, job) : NULL;
    struct weir_job_spec told = {
        .size = sizeof told,
        .workload = run->index,
        .id = job->id,
        .groups = run->groups,
        .group_count = (uint32_t)spec->more_count + 1,
        .strategy = spec->group,
        .tenant = spec->tenant_number,
        .reservation = spec->reservation,
        .priority = spec->priority,
        .attempts = attempts,
        .submit_ns = job->at_ns,
        .queued_ns = sim_jobs_now(run),
        .estimate_ns = estimate_ns,
        .deadline_ns = due_ns == SIM_TIME_MAX ? WEIR_UNKNOWN_TIME : due_ns,
        .attained_ns = attained_ns(life, spec),
        .restart_cost_ns =
            life != NULL || spec->elastic != NULL ? run->workload->preemption.restart_ns : 0,
        .throughput_count =
            has_speeds(run, spec) ? (uint32_t)run->config.scenario->gpu_types_count : 0,
        .throughput = spec->speed.on_type,
        .seed = sim_stream_u64(&stream),
        .done_ns = life != NULL ? life->run_ns - life->saved_ns : 0,
        .speedup = spec->elastic != NULL ? &spec->elastic->speedup : NULL,
        .traffic = { spec->traffic.bandwidth, spec->traffic.bound },
        .step_s = step_s(spec),
        .exchange = sim_jobs_exchange_share(run, spec),
    };
    if (spec->licences != NULL)
        memcpy(told.licences, spec->licences, sizeof told.licences);
    return told;
}

/* Patience counts from the submission, also over retries. */
static void start_patience(struct sim_jobs_run *run, struct sim_job *job, int64_t patience_ns)
{
    const int64_t leaves_ns = sim_jobs_later(job->at_ns, patience_ns);
    const int64_t now_ns = sim_jobs_now(run);
    job->timer = SIM_NO_HANDLE;
    if (leaves_ns == SIM_TIME_MAX)
        return;
    const struct sim_event event = { .time_ns = leaves_ns > now_ns ? leaves_ns : now_ns,
                                     .target = job->slot,
                                     .argument = job->id,
                                     .kind = sim_driver_kind(run->config.index, SIM_JOBS_LEAVE),
                                     .phase = SIM_PHASE_FLOW };
    job->timer = sim_engine_schedule(run->context->engine, &event);
    run->patient++;
}

weir_status sim_jobs_enqueue(struct sim_jobs_run *run, struct sim_job *job,
                             const struct sim_job_arrival *arrival)
{
    const struct sim_driver_config *config = &run->config;
    if (sim_jobs_calls_hold(run, job))
        return WEIR_OK;
    const struct weir_job_spec spec = describe(run, job, arrival->estimate_ns);
    const weir_status status = config->services->submit(config->world, &spec, &job->kind);
    if (status == WEIR_EINFEASIBLE)
        return sim_jobs_turn_away(run, job->slot, true);
    if (status == WEIR_EBUSY) {
        job->was_unheard = true;
        return sim_jobs_turn_away(run, job->slot, false);
    }
    WEIR_TRY(status);
    job->state = SIM_JOB_WAITING;
    run->waiting++;
    sim_meter_jobs(run->context->meter, sim_jobs_now(run), sim_job_class(run, job),
                   SIM_JOBS_WAITING, 1);
    sim_meter_tenant_waits(run->context->meter, sim_jobs_now(run),
                           sim_job_spec(run, job)->tenant_number, 1);
    start_patience(run, job, arrival->patience_ns);
    return WEIR_OK;
}

weir_status sim_jobs_enqueue_again(struct sim_jobs_run *run, struct sim_job *job)
{
    struct sim_job_arrival arrival = { .at_ns = job->at_ns };
    sim_job_stream_describe(run->stream, job->spec, job->key, &arrival);
    return sim_jobs_enqueue(run, job, &arrival);
}

void sim_jobs_dequeue(struct sim_jobs_run *run, uint32_t slot)
{
    struct sim_job *job = sim_job_at(run, slot);
    run->waiting--;
    if (sim_job_attempts(run, job) == 0 &&
        sim_jobs_now(run) - job->at_ns > run->workload->starved_after_ns)
        sim_jobs_count(run, job, SIM_JOBS_STARVED);
    sim_meter_jobs(run->context->meter, sim_jobs_now(run), sim_job_class(run, job),
                   SIM_JOBS_WAITING, -1);
    sim_meter_tenant_waits(run->context->meter, sim_jobs_now(run),
                           sim_job_spec(run, job)->tenant_number, -1);
    if (job->timer == SIM_NO_HANDLE)
        return;
    (void)sim_engine_cancel(run->context->engine, job->timer);
    job->timer = SIM_NO_HANDLE;
    run->patient--;
}
