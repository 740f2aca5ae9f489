/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gangs whose members are placed by themselves (WEIR_HOLD_MEMBERS), as where a queue knows pods and
 * no gangs: those that wait take turns, a member each in their order, until nobody finds a place
 * any more. Who has all of its members starts, the others keep what they found from everybody else;
 * so two gangs can hold a part each and wait for each other for good.
 *
 * How many each finds is counted on the scratch when the pass comes to the first gang, and undone;
 * then those that cannot start reserve as many. Jobs before that gang in the order went first.
 */
#include "sched/host/placer_state.h"
#include "sched/host/state.h"
#include "sched/internal/alloc.h"
#include "sched/internal/plan_state.h"

#include <string.h>

/* Of a gang that waits. */
struct weir_gang_share {
    uint32_t record;
    uint32_t found;  /* members with a place */
    uint32_t reason; /* why the next one has none; WEIR_REASON_NONE = it may have one */
};

static bool is_limited(struct weir_host *host, const struct weir_job_kind *kind)
{
    return weir_host_blocked(host, kind) != WEIR_NO_INDEX;
}

/* Behind those that come before it. */
static void insert_share(struct weir_host *host, uint32_t record)
{
    uint32_t low = 0;
    uint32_t high = host->share_count;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (weir_jobs_is_before(&host->jobs, host->shares[middle].record, record))
            low = middle + 1;
        else
            high = middle;
    }
    memmove(host->shares + low + 1, host->shares + low,
            (host->share_count - low) * sizeof *host->shares);
    host->shares[low] = (struct weir_gang_share){ .record = record };
    host->share_count++;
}

bool weir_host_may_hold(const struct weir_host *host, uint32_t record)
{
    const struct weir_jobs *const jobs = &host->jobs;
    const struct weir_job_record *const job = &jobs->records[record];
    const struct weir_speedup *const speedup =
        job->extra == WEIR_NO_INDEX ? NULL : jobs->extras[job->extra].speedup;

    return weir_job_kind_is_gang(&jobs->kinds[job->kind]) &&
           (speedup == NULL || (host->main.queueing->flags & WEIR_QUEUEING_RESIZES) == 0);
}

static weir_status list_gangs(struct weir_host *host)
{
    const struct weir_jobs *const jobs = &host->jobs;

    host->share_count = 0;
    for (uint32_t k = 0; k < jobs->kind_count; k++) {
        const struct weir_job_kind *const kind = &jobs->kinds[k];
        if (!weir_job_kind_is_gang(kind) || kind->count == 0 || kind->is_aside != 0 ||
            is_limited(host, kind))
            continue;
        WEIR_ROOM(&host->allocator, host->shares, host->share_capacity,
                  host->share_count + kind->count);
        for (uint32_t i = 0; i < kind->count; i++)
            if (weir_host_may_hold(host, kind->heap[i]))
                insert_share(host, kind->heap[i]);
    }
    return WEIR_OK;
}

/* A member each, as long as one finds a place. */
static weir_status take_turns(struct weir_host *host, struct weir_error *error)
{
    bool goes_on = true;

    while (goes_on) {
        goes_on = false;
        for (uint32_t i = 0; i < host->share_count; i++) {
            struct weir_gang_share *const share = &host->shares[i];
            const uint32_t kind = host->jobs.records[share->record].kind;
            if (share->reason != WEIR_REASON_NONE || share->found == host->jobs.kinds[kind].ranks)
                continue;
            const weir_status status =
                weir_placer_reserve_rank(host->placer, share->record, share->found, error);
            if (status == WEIR_EBUSY || status == WEIR_EINFEASIBLE)
                share->reason = weir_placer_last_reason(host->placer);
            else if (status != WEIR_OK)
                return status;
            else
                share->found++;
            goes_on = goes_on || status == WEIR_OK;
        }
    }
    return WEIR_OK;
}

static weir_status count_members(struct weir_host *host, struct weir_error *error)
{
    struct weir_cluster *const scratch = host->inventory;
    const struct weir_plan_mark mark = weir_plan_mark(host->plan);

    if (weir_cluster_mark(scratch) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    const weir_status status = take_turns(host, error);
    weir_cluster_rollback(scratch);
    weir_plan_rewind(host->plan, &mark);
    return status;
}

static weir_status divide(struct weir_host *host, struct weir_error *error)
{
    WEIR_TRY(list_gangs(host));
    WEIR_TRY(count_members(host, error));
    for (uint32_t i = 0; i < host->share_count; i++) {
        const struct weir_gang_share *const share = &host->shares[i];
        for (uint32_t rank = 0; share->reason != WEIR_REASON_NONE && rank < share->found; rank++) {
            const weir_status status =
                weir_placer_reserve_rank(host->placer, share->record, rank, error);
            if (status == WEIR_EBUSY || status == WEIR_EINFEASIBLE)
                break; /* placed in another order they may be fewer */
            WEIR_TRY(status);
        }
    }
    return WEIR_OK;
}

weir_status weir_host_try_members(struct weir_host *host, uint32_t record, uint32_t *reason,
                                  struct weir_error *error)
{
    if (host->shared_turn != host->jobs.tenants.turn) {
        WEIR_TRY(divide(host, error));
        host->shared_turn = host->jobs.tenants.turn;
    }
    *reason = WEIR_REASON_NONE;
    for (uint32_t i = 0; i < host->share_count; i++)
        if (host->shares[i].record == record)
            *reason = host->shares[i].reason;
    return *reason != WEIR_REASON_NONE ? WEIR_EBUSY
                                       : weir_placer_start_record(host->placer, record, error);
}
