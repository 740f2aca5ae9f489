/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flight recorder's jobs: who waits, starts and runs, what they ask for, and what the host had
 * found out about it; the work that is expected; GPUs that are to be cut.
 *
 * Kinds are written in the order in which they were known, jobs in the order of their records:
 * policies may see both.
 */
#include "sched/host/export.h"

static const char *const states[] = { "waiting", "starting", "running" };

static void put_workloads(const struct weir_export *out)
{
    const struct weir_jobs *const jobs = &out->host->jobs;

    weir_json_open(out->json, "workloads", '[');
    for (uint32_t i = 0; i < jobs->workload_count; i++) {
        weir_json_open(out->json, NULL, '{');
        weir_json_text(out->json, "name", jobs->workloads[i].name);
        if (jobs->workloads[i].queue_limit != UINT64_MAX)
            weir_json_integer(out->json, "queue_limit", (int64_t)jobs->workloads[i].queue_limit);
        weir_json_close(out->json, '{');
    }
    weir_json_close(out->json, '[');
}

static void put_group(struct weir_json *json, const struct weir_rank_group *group)
{
    weir_json_open(json, NULL, '{');
    weir_json_integer(json, "ranks", group->ranks);
    weir_export_unless(json, "ranks_min", group->ranks_min, group->ranks);
    weir_export_unless(json, "ranks_max", group->ranks_max, group->ranks);
    weir_export_shape(json, &group->shape, group->soft_labels);
    weir_export_labels(json, "soft_labels", group->soft_labels);
    weir_json_close(json, '{');
}

/* How many of each, by place in `licences`. */
static void put_licences(struct weir_json *json, const struct weir_jobs *jobs,
                         const struct weir_job_kind *kind)
{
    if (kind->takes_licences == 0)
        return;
    weir_json_open(json, "licences", '[');
    for (uint32_t i = 0; i < jobs->licences.count; i++)
        weir_json_integer(json, NULL, kind->licences[i]);
    weir_json_close(json, '[');
    if (kind->is_barred != 0)
        weir_json_flag(json, "barred", true);
}

static void put_kinds(const struct weir_export *out)
{
    const struct weir_jobs *const jobs = &out->host->jobs;
    struct weir_json *const json = out->json;

    weir_json_open(json, "job_kinds", '[');
    for (uint32_t i = 0; i < jobs->kind_count; i++) {
        const struct weir_job_kind *const kind = &jobs->kinds[i];
        weir_json_open(json, NULL, '{');
        if (kind->strategy > 0)
            weir_json_text(json, "strategy", weir_group_strategy_name(kind->strategy - 1));
        weir_export_unless(json, "tenant", kind->tenant, 0);
        weir_export_unless(json, "reservation", kind->reservation, 0);
        put_licences(json, jobs, kind);
        if (weir_jobs_is_settled(jobs, i)) /* who a limit holds the reader asks about again */
            weir_json_flag(json, "settled", true);
        if (kind->told_at == jobs->freed)
            weir_export_unless(json, "denied", kind->told_reason, WEIR_REASON_NONE);
        weir_json_open(json, "groups", '[');
        for (uint32_t g = 0; g < kind->group_count; g++)
            put_group(json, &kind->groups[g]);
        weir_json_close(json, '[');
        weir_json_close(json, '{');
    }
    weir_json_close(json, '[');
}

/* What few jobs say. */
static void put_extra(struct weir_json *json, const struct weir_job *job)
{
    weir_export_unless(json, "user", job->user, 0);
    weir_export_unless(json, "reservation", job->reservation, 0);
    weir_export_unless(json, "done_ns", job->done_ns, 0);
    if (job->is_preempted != 0)
        weir_json_flag(json, "preempted", true);
    weir_export_unless(json, "deadline_ns", job->deadline_ns, WEIR_UNKNOWN_TIME);
    weir_export_unless(json, "restart_cost_ns", job->restart_cost_ns, 0);
    if (job->round_share > 0)
        weir_json_number(json, "round_share", job->round_share);
    if (job->step_s > 0)
        weir_json_number(json, "step_s", job->step_s);
    if (job->exchange > 0)
        weir_json_number(json, "exchange", job->exchange);
    if (job->traffic.bandwidth > 0) {
        weir_json_number(json, "bandwidth", job->traffic.bandwidth);
        weir_json_number(json, "bound", job->traffic.bound);
    }
    if (job->throughput_count == 0)
        return;
    weir_json_open(json, "throughput", '[');
    for (uint32_t i = 0; i < job->throughput_count; i++)
        weir_json_number(json, NULL, job->throughput[i]);
    weir_json_close(json, '[');
}

static void put_speedup(struct weir_json *json, const struct weir_speedup *speedup)
{
    static const char *const laws[] = { "amdahl", "table", "step", "goodput" };

    if (speedup == NULL)
        return;
    weir_json_text(json, "speedup_law", laws[speedup->law]);
    weir_json_integer(json, "speedup_least", speedup->least);
    weir_json_integer(json, "speedup_most", speedup->most);
    weir_json_integer(json, "speedup_usual", speedup->usual);
    weir_json_open(json, "speedup", '[');
    for (uint32_t i = 0; i < speedup->count; i++)
        weir_json_number(json, NULL, speedup->numbers[i]);
    weir_json_close(json, '[');
}

static void put_job(const struct weir_export *out, uint32_t record)
{
    const struct weir_job_record *const from = &out->host->jobs.records[record];
    struct weir_job job = { .size = sizeof job };
    struct weir_json *const json = out->json;

    weir_jobs_describe(&out->host->jobs, record, &job);
    weir_json_open(json, NULL, '{');
    weir_json_integer(json, "workload", job.workload);
    weir_json_integer(json, "id", (int64_t)job.id);
    weir_json_integer(json, "kind", job.kind);
    weir_json_text(json, "state", states[job.state]);
    weir_json_integer(json, "submit_ns", job.submit_ns);
    weir_export_unless(json, "queued_ns", job.queued_ns, job.submit_ns);
    weir_export_unless(json, "start_ns", job.start_ns, WEIR_UNKNOWN_TIME);
    weir_export_unless(json, "estimate_ns", job.estimate_ns, WEIR_UNKNOWN_TIME);
    weir_export_unless(json, "attained_ns", job.attained_ns, 0);
    weir_export_unless(json, "tenant", job.tenant, 0);
    weir_export_unless(json, "priority", job.priority, 0);
    weir_export_unless(json, "attempts", job.attempts, 0);
    if (from->state != WEIR_JOB_WAITING)
        weir_export_unless(json, "started", weir_jobs_placed(&out->host->jobs, record)->started, 0);
    weir_json_word(json, "seed", from->seed);
    put_extra(json, &job);
    put_speedup(json, job.speedup);
    weir_json_close(json, '{');
}

static void put_jobs(const struct weir_export *out)
{
    const struct weir_host *const host = out->host;
    struct weir_json *const json = out->json;

    weir_json_open(json, "jobs", '[');
    for (uint32_t i = 0; i < host->jobs.record_count; i++)
        if (host->jobs.records[i].is_used != 0)
            put_job(out, i);
    weir_json_close(json, '[');
    weir_json_open(json, "new_jobs", '[');
    for (uint32_t i = 0; i < host->fresh_count; i++) {
        const struct weir_fresh_job *const fresh = &host->fresh[i];
        if (weir_jobs_find(&host->jobs, fresh->workload, fresh->id) == WEIR_NO_INDEX)
            continue;
        weir_json_open(json, NULL, '{');
        weir_json_integer(json, "workload", fresh->workload);
        weir_json_integer(json, "id", (int64_t)fresh->id);
        weir_json_close(json, '{');
    }
    weir_json_close(json, '[');
}

static void put_mix(const struct weir_export *out)
{
    weir_json_open(out->json, "mix", '[');
    for (uint32_t i = 0; i < out->host->mix.count; i++) {
        weir_json_open(out->json, NULL, '{');
        weir_json_number(out->json, "frequency", out->host->mix.frequencies[i]);
        weir_export_shape(out->json, &out->host->mix.shapes[i], 0);
        weir_json_close(out->json, '{');
    }
    weir_json_close(out->json, '[');
}

static void put_cut(const struct weir_export *out, const struct weir_partition_cut *cut,
                    int64_t since_ns, bool is_over)
{
    struct weir_json *const json = out->json;

    weir_json_open(json, NULL, '{');
    weir_json_word(json, "node", weir_cluster_node(out->host->inventory, cut->node)->id);
    weir_json_integer(json, "gpu", cut->gpu);
    weir_export_layout(json, "cut", cut->cut);
    weir_export_unless(json, "since_ns", since_ns, WEIR_UNKNOWN_TIME);
    if (is_over)
        weir_json_flag(json, "over", true);
    weir_json_close(json, '{');
}

static void put_cuts(const struct weir_export *out)
{
    const struct weir_host_cuts *const cuts = &out->host->cuts;

    weir_json_open(out->json, "cuts", '[');
    for (uint32_t i = 0; i < cuts->count; i++)
        put_cut(out, &cuts->pending[i], cuts->away_ns[i], false);
    for (uint32_t i = 0; weir_host_cuts_rest(out->host) && i < cuts->rested_count; i++)
        put_cut(out, &cuts->rested[i], cuts->rested_ns, true);
    weir_json_close(out->json, '[');
}

void weir_export_jobs(const struct weir_export *out)
{
    if (out->host->jobs.workload_count > 0) {
        put_workloads(out);
        put_kinds(out);
        put_jobs(out);
    }
    if (out->host->mix.count > 0)
        put_mix(out);
    if (out->host->cuts.count > 0 || weir_host_cuts_rest(out->host))
        put_cuts(out);
}
