/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pass over the waiting jobs.
 *
 * By key, jobs are offered a place in their order until nothing more fits or, when they may not
 * pass each other, until the first does not. A kind that found no place is settled: nobody of it is
 * asked about again until something is given back. So a pass costs O(kinds) for every job it tries,
 * and it tries one job a kind more than it starts. A policy with a pass of its own walks itself.
 */
#include "sched/host/host.h"
#include "sched/host/placer_state.h"
#include "sched/internal/alloc.h"

#include <math.h>

static weir_status key_of(const struct weir_host *host, const struct weir_policy_set *set,
                          uint32_t record, double *key, struct weir_error *error)
{
    struct weir_job job = { .size = sizeof job };

    weir_jobs_describe(&host->jobs, record, &job);
    *key = set->queueing->key == NULL ? (double)job.submit_ns
                                      : set->queueing->key(set->queued.state, &job, host->now_ns);
    if (isnan(*key))
        return weir_fail(error, WEIR_EPOLICY, "queueing policy %s gives job %llu no key",
                         set->queueing->name, (unsigned long long)job.id);
    return WEIR_OK;
}

weir_status weir_host_queue_job(struct weir_host *host, uint32_t record, struct weir_error *error)
{
    WEIR_TRY(key_of(host, &host->main, record, &host->jobs.records[record].key, error));
    if (weir_jobs_push(&host->jobs, record) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    host->is_dirty = true;
    return WEIR_OK;
}

/* Keys that change with time, or with the policy, are asked for anew. */
static weir_status refresh_keys(struct weir_host *host, const struct weir_policy_set *set,
                                struct weir_error *error)
{
    for (uint32_t k = 0; k < host->jobs.kind_count; k++) {
        const struct weir_job_kind *const kind = &host->jobs.kinds[k];
        for (uint32_t i = 0; i < kind->count; i++)
            WEIR_TRY(
                key_of(host, set, kind->heap[i], &host->jobs.records[kind->heap[i]].key, error));
        weir_jobs_reorder(&host->jobs, k);
    }
    return WEIR_OK;
}

/* The plan starts it: it leaves the queue. */
static weir_status note_started(struct weir_host *host, uint32_t record)
{
    uint32_t *const started = weir_grow(&host->allocator, host->started, &host->started_capacity,
                                        host->started_count + 1, sizeof *started);

    if (started == NULL)
        return WEIR_ENOMEM;
    host->started = started;
    weir_jobs_take_out(&host->jobs, record);
    weir_jobs_set_state(&host->jobs, record, WEIR_JOB_STARTING);
    host->jobs.records[record].started = 0;
    host->jobs.records[record].start_ns = host->now_ns;
    started[host->started_count++] = record;
    return WEIR_OK;
}

static weir_status try_job(struct weir_host *host, uint32_t record, struct weir_error *error)
{
    const weir_status status = weir_placer_start_record(host->placer, record, error);

    return status == WEIR_OK ? note_started(host, record) : status;
}

static weir_status start_what_fits(struct weir_host *host, const struct weir_policy_set *set,
                                   struct weir_error *error)
{
    const bool is_strict = (set->queueing->flags & WEIR_QUEUEING_PASSES) == 0;

    for (;;) {
        const uint32_t record = weir_jobs_first(&host->jobs, is_strict);
        if (record == WEIR_NO_INDEX)
            return WEIR_OK;
        const weir_status status = try_job(host, record, error);
        if (status == WEIR_EBUSY || status == WEIR_EINFEASIBLE)
            weir_jobs_settle(&host->jobs, host->jobs.records[record].kind);
        else if (status != WEIR_OK)
            return status;
    }
}

weir_status weir_host_pass(struct weir_host *host, const struct weir_policy_set *set,
                           struct weir_error *error)
{
    host->started_count = 0;
    for (uint32_t k = 0; k < host->jobs.kind_count; k++)
        host->jobs.kinds[k].is_refused = 0;
    if (set->queueing->pass != NULL)
        return set->queueing->pass(set->queued.state, &host->view, host->placer, host->plan, error);
    if ((set->queueing->flags & WEIR_QUEUEING_AGES) != 0 || set != &host->main)
        WEIR_TRY(refresh_keys(host, set, error));
    return start_what_fits(host, set, error);
}

weir_status weir_placer_start_job(struct weir_placer *placer, uint32_t workload, uint64_t id,
                                  struct weir_error *error)
{
    struct weir_jobs *const jobs = placer->bound.jobs;
    const uint32_t record = jobs == NULL ? WEIR_NO_INDEX : weir_jobs_find(jobs, workload, id);

    if (record == WEIR_NO_INDEX || jobs->records[record].state != WEIR_JOB_WAITING)
        return weir_fail(error, WEIR_ENOTFOUND, "no job %llu of workload %u waits",
                         (unsigned long long)id, workload);
    return try_job(placer->bound.host, record, error);
}

void weir_host_pass_accepted(struct weir_host *host)
{
    host->started_count = 0;
    host->is_dirty = false;
}

/* The plan is worth nothing: who it started waits again. */
weir_status weir_host_pass_dropped(struct weir_host *host)
{
    for (; host->started_count > 0; host->started_count--) {
        const uint32_t record = host->started[host->started_count - 1];
        weir_jobs_set_state(&host->jobs, record, WEIR_JOB_WAITING);
        WEIR_TRY(weir_jobs_push(&host->jobs, record));
    }
    weir_jobs_unsettle(&host->jobs);
    return WEIR_OK;
}

weir_status weir_host_deny_jobs(struct weir_host *host)
{
    for (uint32_t k = 0; k < host->jobs.kind_count; k++) {
        const struct weir_job_kind *const kind = &host->jobs.kinds[k];
        if (kind->is_refused == 0)
            continue;
        const struct weir_job_record *const job = &host->jobs.records[kind->refused];
        const struct weir_owner owner = weir_job_owner(job->workload, job->id);
        WEIR_TRY(
            weir_plan_deny(host->plan, owner, weir_choice_reason(&kind->refusal), &kind->refusal));
        if (kind->group_count > 0)
            WEIR_TRY(weir_note_holders(host->plan, host->scratch, &kind->groups[0].shape, owner));
    }
    return WEIR_OK;
}
