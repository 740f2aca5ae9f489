/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What jobs hold: the members of a job are placed all or none, and given back together.
 */
#include "tests/support/job_oracle/state.h"

enum { SLOT_BITS = 24 }; /* of a worker's id; above them its number */

static uint64_t worker_id(const struct oracle_run *run, const struct oracle_job *job,
                          uint32_t member)
{
    return ((job->first_worker + member) << SLOT_BITS) | (uint32_t)(job - run->jobs);
}

uint32_t oracle_job_of_worker(uint64_t worker)
{
    return (uint32_t)(worker & ((UINT64_C(1) << SLOT_BITS) - 1));
}

/* ---- members ---- */

static uint64_t seed_of(const struct oracle_run *run, const struct oracle_job *job)
{
    struct sim_stream stream;
    sim_stream_open(&stream, sim_job_stream_random(run->stream, job->arrival.spec), SIM_DRAW_POLICY,
                    (struct sim_stream_key){ .item = job->arrival.key, .attempt = job->attempts });
    return sim_stream_u64(&stream);
}

static weir_status release_member(struct oracle_run *run, const struct oracle_job *job,
                                  uint32_t member, uint32_t *node)
{
    struct weir_worker worker;
    if (!weir_cluster_worker(run->belief, worker_id(run, job, member), &worker))
        return weir_fail(run->error, WEIR_EINVARIANT, "member %u of job %llu holds nothing", member,
                         (unsigned long long)job->id);
    run->lease =
        sim_lease_fill(&run->claim, run->truth, &worker.alloc, &oracle_job_spec(run, job)->shape);
    run->lease.is_running = true;
    sim_cluster_release(run->truth, &run->lease);
    *node = worker.alloc.node;
    return weir_cluster_remove_worker(run->belief, worker_id(run, job, member), run->error);
}

/* The node stands where the owner belongs: placement by owner (`spread`) is not modelled. */
static weir_status take_member(struct oracle_run *run, const struct oracle_job *job,
                               uint32_t member, bool *is_taken)
{
    const struct weir_alloc *alloc = sim_job_placer_alloc(run->placer, member);
    run->lease = sim_lease_fill(&run->claim, run->truth, alloc, &oracle_job_spec(run, job)->shape);
    *is_taken = sim_cluster_acquire(run->truth, &run->lease) == WEIR_REASON_NONE;
    if (!*is_taken)
        return WEIR_OK;
    sim_cluster_run(run->truth, &run->lease, true);
    return weir_cluster_add_worker(run->belief, worker_id(run, job, member),
                                   weir_pool_owner(alloc->node), alloc, run->error);
}

/* All members, or none when the truth does not have what was believed. */
static weir_status take(struct oracle_run *run, struct oracle_job *job, bool *is_taken)
{
    const uint32_t members = oracle_job_spec(run, job)->members;
    uint32_t taken = 0;
    uint32_t node = 0;
    *is_taken = true;
    while (taken < members && *is_taken) {
        WEIR_TRY(take_member(run, job, taken, is_taken));
        taken += *is_taken ? 1 : 0;
    }
    while (!*is_taken && taken-- > 0)
        WEIR_TRY(release_member(run, job, taken, &node));
    return WEIR_OK;
}

/* ---- the job ---- */

/* All members together ask for more than is free: no need to try. */
static bool is_hopeless(const struct oracle_run *run, const struct sim_job_spec *spec)
{
    const struct weir_amounts free = weir_cluster_free(run->belief);
    const struct weir_shape *shape = &spec->shape;
    return free.gpu_units < shape->gpu_units * shape->gpu_count * (int64_t)spec->members ||
           free.cpu_units < shape->cpu_units * (int64_t)spec->members;
}

static void show_members(const struct oracle_run *run, const struct oracle_job *job)
{
    for (uint32_t m = 0; m < oracle_job_spec(run, job)->members; m++)
        test_job_rows_place(run->rows, job->id, m, sim_job_placer_alloc(run->placer, m));
}

weir_status oracle_job_place(struct oracle_run *run, struct oracle_job *job, bool *is_placed)
{
    const struct sim_job_spec *spec = oracle_job_spec(run, job);
    const struct weir_mix mix = sim_target_mix(&run->target);
    const struct sim_lab_question question = {
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
    if (*is_placed)
        show_members(run, job);
    return WEIR_OK;
}

weir_status oracle_job_give_back(struct oracle_run *run, const struct oracle_job *job)
{
    for (uint32_t m = 0; m < oracle_job_spec(run, job)->members; m++) {
        uint32_t node = 0;
        WEIR_TRY(release_member(run, job, m, &node));
        oracle_job_cuts_drained(run, node);
    }
    oracle_wait_queue_unsettle(&run->queue);
    return WEIR_OK;
}

/* Before anything runs: which kinds of jobs fit the empty cluster. */
weir_status oracle_job_judge_kinds(struct oracle_run *run)
{
    const struct weir_mix mix = sim_target_mix(&run->target);
    for (uint32_t s = 0; s < run->workload->jobs_count; s++) {
        const struct sim_lab_question question = { .belief = run->belief,
                                                   .mix = &mix,
                                                   .job = &run->workload->jobs[s] };
        struct weir_error refused = { .phase = -1 };
        bool *is_feasible = &run->is_feasible[run->kind_of[s]];
        if (*is_feasible)
            continue;
        const weir_status status = sim_job_placer_ask(run->placer, &question, &refused);
        *is_feasible = status != WEIR_EINFEASIBLE || /* what is not told apart waits */
                       oracle_job_cuts_can_serve(run, &run->workload->jobs[s].shape);
        if (status != WEIR_OK && status != WEIR_EBUSY && status != WEIR_EINFEASIBLE)
            return weir_fail(run->error, status, "%s", refused.text);
    }
    return WEIR_OK;
}
