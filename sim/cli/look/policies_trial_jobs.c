/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs for the trials of policies; see the header. */
#include "sim/cli/look/policies_trial_jobs.h"

#include "sim/cli/look/policies_trial.h"
#include "sim/engine/digest.h"
#include "sim/engine/time.h"

enum { ENDING = 32 };

uint64_t sim_trial_draw(struct sim_trial_jobs *jobs, uint64_t below)
{
    jobs->random = sim_digest_word(jobs->random, 0x5bd1e995);
    return (jobs->random >> 16) % below;
}

int64_t sim_trial_draw_ns(struct sim_trial_jobs *jobs, uint64_t below_s)
{
    return (int64_t)sim_trial_draw(jobs, below_s) * SIM_NS_PER_S;
}

static bool is_known(struct sim_trial_jobs *jobs)
{
    return sim_trial_draw(jobs, 3) != 0;
}

weir_status sim_trial_next_job(struct sim_trial_jobs *jobs, struct weir_error *error)
{
    static const struct weir_request requests[] = { { .cpus = 1 },
                                                    { .cpus = 1, .gpus = 0.25 },
                                                    { .cpus = 8, .gpus = 1 },
                                                    { .cpus = 64, .gpus = 8 } };
    struct weir_job *job = &jobs->job;
    const uint64_t id = job->id + 1;
    const uint32_t ranks = 1 + (uint32_t)sim_trial_draw(jobs, 64);
    *job = (struct weir_job){ .size = sizeof *job,
                              .id = id,
                              .groups = &jobs->group,
                              .group_count = 1,
                              .ranks = ranks,
                              .tenant = (uint32_t)sim_trial_draw(jobs, 5),
                              .priority = (int32_t)sim_trial_draw(jobs, 21) - 10,
                              .attempts = (uint32_t)sim_trial_draw(jobs, 3),
                              .estimate_ns = WEIR_UNKNOWN_TIME };
    jobs->group.ranks = ranks;
    jobs->group.ranks_min = ranks;
    jobs->group.ranks_max = is_known(jobs) ? ranks : ranks * 2;
    jobs->now_ns += sim_trial_draw_ns(jobs, 100);
    job->submit_ns = jobs->now_ns;
    job->queued_ns = job->submit_ns + (job->attempts > 0 ? sim_trial_draw_ns(jobs, 86400) : 0);
    if (is_known(jobs))
        job->estimate_ns = sim_trial_draw_ns(jobs, 1000000);
    job->attained_ns = job->attempts > 0 ? sim_trial_draw_ns(jobs, 1000000) : 0;
    job->restart_cost_ns = is_known(jobs) ? sim_trial_draw_ns(jobs, 600) : 0;
    job->round_share = is_known(jobs) ? 0 : (double)sim_trial_draw(jobs, 1000) / 1000;
    for (uint32_t i = 0; i < SIM_TRIAL_GPU_TYPES; i++)
        jobs->throughput[i] = 1 + (double)sim_trial_draw(jobs, 4);
    job->throughput_count = is_known(jobs) ? SIM_TRIAL_GPU_TYPES : 0;
    job->throughput = job->throughput_count > 0 ? jobs->throughput : NULL;
    return weir_shape_from_request(&requests[sim_trial_draw(jobs, 4)], WEIR_QUANTUM_EXACT,
                                   &jobs->group.shape, error);
}

/* ---- passes: a host to which jobs come, and from which they go ---- */

weir_status sim_trial_queue_node(struct sim_trial_queue *queue, uint32_t type, uint64_t id,
                                 uint32_t *node, struct weir_error *error)
{
    struct weir_gpu_spec gpus[SIM_TRIAL_NODE_GPUS];
    const struct weir_node_spec spec = { .size = sizeof spec,
                                         .type = type,
                                         .id = id,
                                         .gpu_count = SIM_TRIAL_NODE_GPUS,
                                         .cpu_units = SIM_TRIAL_NODE_CPUS * WEIR_ONE,
                                         .gpus = gpus };
    for (uint32_t i = 0; i < SIM_TRIAL_NODE_GPUS; i++)
        gpus[i] = (struct weir_gpu_spec){ .units = WEIR_ONE };
    return weir_host_add_node(queue->host, &spec, node, error);
}

weir_status sim_trial_queue_open(const struct weir_host_config *config, uint32_t nodes,
                                 struct sim_trial_queue *queue, struct weir_error *error)
{
    *queue =
        (struct sim_trial_queue){ .jobs.random = sim_digest_word(SIM_DIGEST_START, config->seed) };
    WEIR_TRY(weir_host_create(config, &queue->host, error));
    for (uint32_t i = 0; i < nodes; i++)
        WEIR_TRY(sim_trial_queue_node(queue, 0, i, NULL, error));
    return weir_host_add_workload(queue->host, "jobs", NULL, error);
}

static weir_status submit(struct sim_trial_queue *queue, struct weir_error *error)
{
    static const double throughput[SIM_TRIAL_GPU_TYPES] = { 1, 2, 4 };
    WEIR_TRY(sim_trial_next_job(&queue->jobs, error));
    const struct weir_job *job = &queue->jobs.job;
    const struct weir_job_spec spec = { .size = sizeof spec,
                                        .id = job->id,
                                        .groups = job->groups,
                                        .group_count = job->group_count,
                                        .tenant = job->tenant,
                                        .priority = job->priority,
                                        .attempts = job->attempts,
                                        .throughput_count = job->throughput_count,
                                        .submit_ns = job->submit_ns,
                                        .queued_ns = job->submit_ns,
                                        .estimate_ns = job->estimate_ns,
                                        .deadline_ns = WEIR_UNKNOWN_TIME,
                                        .attained_ns = job->attained_ns,
                                        .restart_cost_ns = job->restart_cost_ns,
                                        .round_share = job->round_share,
                                        .throughput =
                                            job->throughput_count > 0 ? throughput : NULL };
    const weir_status status = weir_host_submit(queue->host, &spec, error);
    return status == WEIR_EINFEASIBLE ? WEIR_OK : status;
}

static weir_status end_job(struct sim_trial_queue *queue, uint64_t id, struct weir_error *error)
{
    const struct weir_cluster *cluster = weir_host_cluster(queue->host);
    for (uint32_t node = 0; node < weir_cluster_node_count(cluster); node++) {
        struct weir_worker worker;
        uint32_t cursor = 0;
        while (weir_cluster_node_worker(cluster, node, &cursor, &worker)) {
            const struct weir_outcome outcome = { .size = sizeof outcome,
                                                  .kind = WEIR_OUTCOME_STOPPED,
                                                  .owner = worker.owner,
                                                  .node = node,
                                                  .worker = worker.id,
                                                  .time_ns = queue->jobs.now_ns };
            if (worker.owner.id != id)
                continue;
            WEIR_TRY(weir_host_outcome(queue->host, &outcome, NULL, error));
            cursor = 0;
        }
    }
    return weir_host_ended(queue->host, 0, id, error);
}

/* One of four that run is over. */
static weir_status end_some(struct sim_trial_queue *queue, struct weir_error *error)
{
    const struct weir_view *view = weir_host_view(queue->host, queue->jobs.now_ns);
    struct weir_job job = { .size = sizeof job };
    uint64_t ids[ENDING];
    uint32_t count = 0;
    uint32_t cursor = 0;
    while (count < ENDING && weir_view_next_job(view, &cursor, &job))
        if (job.state == WEIR_JOB_RUNNING && sim_trial_draw(&queue->jobs, 4) == 0)
            ids[count++] = job.id;
    for (uint32_t i = 0; i < count; i++)
        WEIR_TRY(end_job(queue, ids[i], error));
    return WEIR_OK;
}

/* Who is preempted makes room before anybody starts; here it is over then, and ranks that the same
 * plan gives it go to nobody. */
static weir_status carry_out(struct sim_trial_queue *queue, const struct weir_plan *plan,
                             struct weir_error *error)
{
    for (int starts = 0; starts < 2; starts++) {
        for (uint32_t i = 0; i < weir_plan_count(plan); i++) {
            const struct weir_action *action = weir_plan_action(plan, i);
            const struct weir_outcome outcome = { .size = sizeof outcome,
                                                  .kind = WEIR_OUTCOME_STARTED,
                                                  .owner = action->owner,
                                                  .node = action->alloc.node,
                                                  .worker = action->worker,
                                                  .time_ns = queue->jobs.now_ns };
            if (starts == 0)
                queue->digest = sim_trial_digest(queue->digest, action);
            if (starts == 0 && action->verb == WEIR_VERB_PREEMPT)
                WEIR_TRY(end_job(queue, action->owner.id, error));
            if (starts == 0 || action->verb != WEIR_VERB_START ||
                !weir_view_job(weir_host_view(queue->host, queue->jobs.now_ns), 0, action->owner.id,
                               NULL))
                continue;
            queue->started++;
            WEIR_TRY(weir_host_outcome(queue->host, &outcome, &action->alloc, error));
        }
    }
    return WEIR_OK;
}

weir_status sim_trial_queue_pass(struct sim_trial_queue *queue, uint32_t coming,
                                 const struct weir_plan **plan, struct weir_error *error)
{
    WEIR_TRY(end_some(queue, error));
    for (uint32_t k = 0; k < coming; k++)
        WEIR_TRY(submit(queue, error));
    const struct weir_call call = { .size = sizeof call,
                                    .causes = WEIR_CAUSE_JOBS,
                                    .now_ns = queue->jobs.now_ns };
    WEIR_TRY(weir_host_decide(queue->host, &call, plan, error));
    return carry_out(queue, *plan, error);
}
