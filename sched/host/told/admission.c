/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many jobs of a workload may wait.
 *
 * After a pass, of the jobs that came since the decision before and found no place, the last to
 * come are turned away until no more wait than may: a DENY with reason QUEUE_FULL, and the job is
 * known no more. They are told in the order in which they came, in which they will come again. Jobs
 * that ran before are never turned away. A plan that is cut short says of some jobs nothing: it
 * turns nobody away, and those that came are as new to the next one. Without a limit nothing is
 * kept.
 */
#include "sched/host/state.h"
#include "sched/internal/alloc.h"

weir_status weir_host_set_queue_limit(struct weir_host *host, uint32_t workload, uint64_t limit)
{
    if (host == NULL || workload >= host->jobs.workload_count)
        return WEIR_ENOTFOUND;
    host->jobs.workloads[workload].queue_limit = limit;
    return WEIR_OK;
}

weir_status weir_host_note_fresh(struct weir_host *host, uint32_t record)
{
    const struct weir_job_record *const job = &host->jobs.records[record];

    if (host->jobs.workloads[job->workload].queue_limit == UINT64_MAX ||
        weir_jobs_attempts(&host->jobs, record) > 0)
        return WEIR_OK;
    WEIR_ROOM(&host->allocator, host->fresh, host->fresh_capacity, host->fresh_count + 1);
    host->fresh[host->fresh_count++] = (struct weir_fresh_job){ job->workload, false, job->id };
    return WEIR_OK;
}

/* Jobs in front of it that the plan turns away do not wait any more. */
static bool is_full(const struct weir_host *host, uint32_t workload)
{
    const struct weir_workload *const queue = &host->jobs.workloads[workload];

    return queue->waiting - queue->turned_away > queue->queue_limit;
}

static bool still_waits(const struct weir_host *host, const struct weir_fresh_job *fresh)
{
    const uint32_t record = weir_jobs_find(&host->jobs, fresh->workload, fresh->id);

    return record != WEIR_NO_INDEX && host->jobs.records[record].state == WEIR_JOB_WAITING;
}

/* The last to come first. */
static void choose_turned(struct weir_host *host)
{
    for (uint32_t i = host->limits.is_cut_short ? 0 : host->fresh_count; i-- > 0;) {
        struct weir_fresh_job *const fresh = &host->fresh[i];
        fresh->is_turned = still_waits(host, fresh) && is_full(host, fresh->workload);
        if (!fresh->is_turned)
            continue;
        const uint32_t record = weir_jobs_find(&host->jobs, fresh->workload, fresh->id);
        host->jobs.workloads[fresh->workload].turned_away++;
        host->jobs.kinds[host->jobs.records[record].kind].turned_away++;
    }
}

weir_status weir_host_turn_away(struct weir_host *host)
{
    for (uint32_t i = 0; i < host->jobs.workload_count; i++)
        host->jobs.workloads[i].turned_away = 0;
    for (uint32_t k = 0; host->fresh_count > 0 && k < host->jobs.kind_count; k++)
        host->jobs.kinds[k].turned_away = 0;
    choose_turned(host);
    for (uint32_t i = 0; i < host->fresh_count && !host->limits.is_cut_short; i++)
        if (host->fresh[i].is_turned)
            WEIR_TRY(weir_plan_deny(host->plan,
                                    weir_job_owner(host->fresh[i].workload, host->fresh[i].id),
                                    WEIR_REASON_QUEUE_FULL, NULL));
    return WEIR_OK;
}

void weir_host_turned_away(struct weir_host *host)
{
    uint32_t kept = 0;

    if (host->fresh_count == 0)
        return;
    for (uint32_t i = 0; i < host->fresh_count; i++) {
        const struct weir_fresh_job fresh = host->fresh[i];
        if (host->limits.is_cut_short && still_waits(host, &fresh))
            host->fresh[kept++] = fresh;
        else if (!host->limits.is_cut_short && fresh.is_turned)
            (void)weir_host_withdraw(host, fresh.workload, fresh.id);
    }
    host->fresh_count = kept;
    for (uint32_t k = 0; k < host->jobs.kind_count; k++)
        host->jobs.kinds[k].turned_away = 0;
}
