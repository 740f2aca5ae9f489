/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs that the scratch has no more, lifted under a mark of a policy or preempted by the plan that
 * is made, and those that were put there for a question: what limits say then, of tenants and of
 * licences.
 * Whoever asks whether a job would fit if others went is told of its place and of its limits; one
 * that is preempted for a job that may not start then would start again at once, and be preempted
 * again.
 *
 * Invariant: marks nest, so what a rollback has brought back is the end of the list; it is dropped
 * before anything else goes, and before anybody asks. The sums of tenants and licences are as they
 * were after every question.
 */
#include "sched/host/placer_state.h"
#include "sched/host/state.h"
#include "sched/internal/alloc.h"

static weir_status note(struct weir_host *host, const struct weir_gone_job *job)
{
    WEIR_ROOM(&host->allocator, host->gone, host->gone_capacity, host->gone_count + 1);
    host->gone[host->gone_count++] = *job;
    return WEIR_OK;
}

weir_status weir_host_note_gone(struct weir_host *host, uint32_t record, uint64_t worker)
{
    return note(host, &(struct weir_gone_job){ record, worker, -1 });
}

weir_status weir_host_note_put(struct weir_host *host, uint32_t record, uint64_t worker)
{
    return note(host, &(struct weir_gone_job){ record, worker, 1 });
}

void weir_host_drop_back(struct weir_host *host)
{
    struct weir_worker worker;

    while (host->gone_count > 0) {
        const struct weir_gone_job *const last = &host->gone[host->gone_count - 1];
        if (weir_cluster_worker(host->inventory, last->worker, &worker) != (last->by < 0))
            return;
        host->gone_count--;
    }
}

bool weir_host_is_gone(struct weir_host *host, uint32_t record)
{
    weir_host_drop_back(host);
    for (uint32_t i = host->gone_count; i > 0; i--)
        if (host->gone[i - 1].record == record)
            return host->gone[i - 1].by < 0;
    return false;
}

static void count_gone(struct weir_host *host, int32_t sign)
{
    struct weir_jobs *const jobs = &host->jobs;

    for (uint32_t i = 0; i < host->gone_count; i++) {
        const struct weir_job_kind *const kind =
            &jobs->kinds[jobs->records[host->gone[i].record].kind];
        const int32_t by = sign * host->gone[i].by;
        weir_licences_count(&jobs->licences, kind->licences, by);
        if (jobs->tenants.has_limits)
            weir_tenants_count(&jobs->tenants, kind->tenant, &kind->need, by);
    }
}

uint32_t weir_host_blocked(struct weir_host *host, const struct weir_job_kind *kind)
{
    struct weir_tenants *const tenants = &host->jobs.tenants;

    if (kind->is_barred != 0)
        return WEIR_BY_LICENCE;
    if (!tenants->has_limits && kind->takes_licences == 0)
        return WEIR_NO_INDEX;
    const struct weir_amounts free = weir_cluster_free(host->inventory);
    weir_host_drop_back(host);
    count_gone(host, 1);
    const uint32_t blocked = weir_licences_lack(&host->jobs.licences, kind->licences)
                                 ? WEIR_BY_LICENCE
                                 : weir_tenants_blocked(tenants, kind->tenant, &kind->need, &free);
    count_gone(host, -1);
    return blocked;
}
