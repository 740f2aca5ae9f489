/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What jobs hold: the members of a job are placed all or none, and given back together.
 */
#include "sim/jobs/job_state.h"

#include "sim/cluster/target_frag.h"

#include <math.h>

enum { SLOT_BITS = 24 }; /* of a worker's id; above them its number */

static uint64_t worker_id(const struct sim_job_run *run, const struct sim_job *job, uint32_t member)
{
    return ((job->first_worker + member) << SLOT_BITS) | (uint32_t)(job - run->jobs);
}

uint32_t sim_job_of_worker(uint64_t worker)
{
    return (uint32_t)(worker & ((UINT64_C(1) << SLOT_BITS) - 1));
}

/* ---- fragmentation ---- */

void sim_job_refresh_frag(struct sim_job_run *run, uint32_t node)
{
    const double milli =
        run->truth->nodes[node].is_up ? sim_target_frag_milli(&run->target, run->truth, node) : 0;
    const int64_t now = llround(ldexp(milli / 1000, 20));
    run->frag_sum += now - run->frag[node];
    run->frag[node] = now;
    sim_gauge_set(&run->meter.frag, sim_engine_now(run->engine), ldexp((double)run->frag_sum, -20));
    sim_job_cuts_measure(run, node);
}

/* ---- members ---- */

static uint64_t seed_of(const struct sim_job_run *run, const struct sim_job *job)
{
    struct sim_stream stream;
    sim_stream_open(&stream, sim_job_stream_random(run->stream, job->arrival.spec), SIM_DRAW_POLICY,
                    (struct sim_stream_key){ .item = job->arrival.key, .attempt = job->attempts });
    return sim_stream_u64(&stream);
}

static weir_status release_member(struct sim_job_run *run, const struct sim_job *job,
                                  uint32_t member, uint32_t *node)
{
    struct weir_worker worker;
    if (!weir_cluster_worker(run->belief, worker_id(run, job, member), &worker))
        return weir_fail(run->error, WEIR_EINVARIANT, "member %u of job %llu holds nothing", member,
                         (unsigned long long)job->id);
    sim_lease_fill(&run->lease, run->truth, &worker.alloc, &sim_job_spec(run, job)->shape);
    run->lease.is_running = true;
    sim_cluster_release(run->truth, &run->lease);
    *node = worker.alloc.node;
    return weir_cluster_remove_worker(run->belief, worker_id(run, job, member), run->error);
}

/* Lists of workers are kept by stage; with the node in its place they stay short. */
static weir_status take_member(struct sim_job_run *run, const struct sim_job *job, uint32_t member,
                               bool *is_taken)
{
    const struct weir_alloc *alloc = sim_job_placer_alloc(run->placer, member);
    sim_lease_fill(&run->lease, run->truth, alloc, &sim_job_spec(run, job)->shape);
    *is_taken = sim_cluster_acquire(run->truth, &run->lease) == WEIR_REASON_NONE;
    if (!*is_taken)
        return WEIR_OK;
    sim_cluster_run(run->truth, &run->lease, true);
    return weir_cluster_add_worker(run->belief, worker_id(run, job, member),
                                   weir_pool_owner(alloc->node), alloc, run->error);
}

/* All members, or none when the truth does not have what was believed. */
static weir_status take(struct sim_job_run *run, struct sim_job *job, bool *is_taken)
{
    const uint32_t members = sim_job_spec(run, job)->members;
    uint32_t taken = 0;
    uint32_t node = 0;
    *is_taken = true;
    while (taken < members && *is_taken) {
        WEIR_TRY(take_member(run, job, taken, is_taken));
        taken += *is_taken ? 1 : 0;
    }
    job->node = sim_job_placer_alloc(run->placer, 0)->node;
    run->refused_by_truth += *is_taken ? 0 : 1;
    while (!*is_taken && taken-- > 0)
        WEIR_TRY(release_member(run, job, taken, &node));
    return WEIR_OK;
}

/* ---- the job ---- */

/* All members together ask for more than is free: no need to try. */
static bool is_hopeless(const struct sim_job_run *run, const struct sim_job_spec *spec)
{
    const struct weir_amounts free = weir_cluster_free(run->belief);
    const struct weir_shape *shape = &spec->shape;
    return free.gpu_units < shape->gpu_units * shape->gpu_count * (int64_t)spec->members ||
           free.cpu_units < shape->cpu_units * (int64_t)spec->members;
}

static void change_amounts(struct sim_job_run *run, const struct sim_job *job, double sign)
{
    const struct sim_job_spec *spec = sim_job_spec(run, job);
    const struct weir_shape *shape = &spec->shape;
    const int64_t now_ns = sim_engine_now(run->engine);
    const double members = sign * spec->members;
    sim_job_meter_change(&run->meter, now_ns, spec->label, SIM_JOBS_GPUS,
                         sign * weir_units_amount(job->gpu_units));
    sim_job_meter_change(&run->meter, now_ns, spec->label, SIM_JOBS_CPUS,
                         members * weir_units_amount(shape->cpu_units));
    sim_job_meter_change(&run->meter, now_ns, spec->label, SIM_JOBS_RAM,
                         members * (double)shape->ram_bytes);
}

/* Sums up what the members hold, and what is left on their nodes. */
static void survey_members(struct sim_job_run *run, struct sim_job *job)
{
    struct weir_worker worker;
    job->gpu_units = 0;
    for (uint32_t m = 0; m < sim_job_spec(run, job)->members; m++) {
        if (!weir_cluster_worker(run->belief, worker_id(run, job, m), &worker))
            continue;
        for (uint32_t d = 0; d < worker.alloc.device_count; d++)
            job->gpu_units += worker.alloc.devices[d].units;
        sim_job_refresh_frag(run, worker.alloc.node);
    }
}

static void show_members(const struct sim_job_run *run, const struct sim_job *job)
{
    const struct sim_job_observer *observer = run->observer;
    for (uint32_t m = 0; m < sim_job_spec(run, job)->members; m++) {
        const struct sim_job_member member = { .job = job->id,
                                               .member = m,
                                               .attempt = job->attempts,
                                               .alloc = sim_job_placer_alloc(run->placer, m) };
        if (observer != NULL && observer->member != NULL)
            observer->member(observer->state, &member);
    }
}

weir_status sim_job_place(struct sim_job_run *run, struct sim_job *job, bool *is_placed)
{
    const struct sim_job_spec *spec = sim_job_spec(run, job);
    const struct weir_mix mix = sim_target_mix(&run->target);
    const struct sim_job_question question = {
        .belief = run->belief, .mix = &mix, .job = spec, .seed = seed_of(run, job)
    };
    struct weir_error refused = { .phase = -1 };
    *is_placed = false;
    if (is_hopeless(run, spec))
        return WEIR_OK;
    const weir_status status = sim_job_placer_ask(run->placer, &question, &refused);
    if (status == WEIR_EBUSY || status == WEIR_EINFEASIBLE)
        return WEIR_OK;
    if (status != WEIR_OK)
        return weir_fail(run->error, status, "job %llu: %s", (unsigned long long)job->id,
                         refused.text);
    job->first_worker = run->workers;
    run->workers += spec->members;
    WEIR_TRY(take(run, job, is_placed));
    if (*is_placed) {
        survey_members(run, job);
        change_amounts(run, job, 1);
        show_members(run, job);
    }
    return WEIR_OK;
}

weir_status sim_job_give_back(struct sim_job_run *run, const struct sim_job *job)
{
    for (uint32_t m = 0; m < sim_job_spec(run, job)->members; m++) {
        uint32_t node = 0;
        WEIR_TRY(release_member(run, job, m, &node));
        sim_job_refresh_frag(run, node);
        sim_job_cuts_drained(run, node);
    }
    change_amounts(run, job, -1);
    sim_wait_queue_unsettle(&run->queue);
    return WEIR_OK;
}

/* Before anything runs: which kinds of jobs fit the empty cluster. */
weir_status sim_job_judge_kinds(struct sim_job_run *run)
{
    const struct weir_mix mix = sim_target_mix(&run->target);
    for (uint32_t s = 0; s < run->workload->jobs_count; s++) {
        const struct sim_job_question question = { .belief = run->belief,
                                                   .mix = &mix,
                                                   .job = &run->workload->jobs[s] };
        struct weir_error refused = { .phase = -1 };
        bool *is_feasible = &run->is_feasible[run->kind_of[s]];
        if (*is_feasible)
            continue;
        const weir_status status = sim_job_placer_ask(run->placer, &question, &refused);
        *is_feasible = status != WEIR_EINFEASIBLE || /* what is not told apart waits */
                       sim_job_cuts_can_serve(run, &run->workload->jobs[s].shape);
        if (status != WEIR_OK && status != WEIR_EBUSY && status != WEIR_EINFEASIBLE)
            return weir_fail(run->error, status, "%s", refused.text);
    }
    return WEIR_OK;
}
