/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host goes on where another one stopped: what export.c writes and the ordinary calls do not say.
 *
 * Nodes, pools, workers and what is waiting are told as to any host; here is what the other one had
 * worked out since: how far it had counted, what it had tried in vain, what it was about to do.
 */
#include "sched/cluster/state.h"
#include "sched/host/placer_state.h"
#include "sched/host/state.h"
#include "sched/internal/alloc.h"
#include "sched/internal/size.h"

#include <string.h>

weir_status weir_host_restore_pool(struct weir_host *host, uint32_t pool, uint64_t planned)
{
    if (host == NULL)
        return WEIR_EINVAL;
    if (pool >= host->pools.count)
        return WEIR_ENOTFOUND;
    return weir_placer_set_placed(host->placer, pool, planned);
}

weir_status weir_host_restore_kind(struct weir_host *host, const struct weir_kind_past *past,
                                   struct weir_error *error)
{
    struct weir_kind_past whole;
    uint32_t kind = 0;

    if (host == NULL || past == NULL)
        return weir_fail(error, WEIR_EINVAL, "no host or no kind of jobs");
    WEIR_TRY(weir_size_check(past->size, offsetof(struct weir_kind_past, tenant),
                             "the kind of jobs", error));
    weir_size_take(&whole, sizeof whole, past, past->size);
    past = &whole;
    if (past->group_count == 0 || past->groups == NULL)
        return weir_fail(error, WEIR_EINVAL, "it has no ranks");
    if (past->strategy > WEIR_MAX_STRATEGY)
        return weir_fail(error, WEIR_EINVAL, "unknown strategy %u", past->strategy);
    if (past->denied >= WEIR_REASON_COUNT)
        return weir_fail(error, WEIR_EINVAL, "unknown reason %u", past->denied);
    struct weir_job_spec spec = { .groups = past->groups,
                                  .group_count = past->group_count,
                                  .strategy = past->strategy,
                                  .tenant = past->tenant,
                                  .priority = past->is_barred != 0 ? INT32_MIN : INT32_MAX,
                                  .reservation = past->reservation };
    memcpy(spec.licences, past->licences, sizeof spec.licences);
    WEIR_TRY(weir_licences_check(&host->jobs.licences, spec.licences, error));
    WEIR_TRY(weir_jobs_find_kind(&host->jobs, &spec, &kind, error));
    if (past->is_settled != 0) {
        weir_jobs_settle(&host->jobs, kind);
        host->jobs.has_refused = true; /* perhaps: weir_host_restore knows */
    }
    if (past->denied != WEIR_REASON_NONE)
        host->jobs.kinds[kind].told_at = host->jobs.freed;
    host->jobs.kinds[kind].told_reason = past->denied;
    return WEIR_OK;
}

static weir_status restore_placed(struct weir_host *host, uint32_t record,
                                  const struct weir_job_past *past, struct weir_error *error)
{
    if (weir_jobs_reserve_placed(&host->jobs) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    weir_jobs_set_state(&host->jobs, record, past->state);
    weir_jobs_placed(&host->jobs, record)->started = past->started;
    weir_jobs_placed(&host->jobs, record)->is_preempted = past->is_preempted;
    weir_jobs_set_start(&host->jobs, record, past->start_ns);
    return WEIR_OK;
}

weir_status weir_host_restore_job(struct weir_host *host, const struct weir_job_spec *job,
                                  const struct weir_job_past *given, struct weir_error *error)
{
    struct weir_job_past full;
    const struct weir_job_past *const past = &full;
    uint32_t record = 0;

    if (host == NULL || job == NULL || given == NULL)
        return weir_fail(error, WEIR_EINVAL, "no host, no job or no past");
    WEIR_TRY(weir_size_check(given->size, offsetof(struct weir_job_past, is_preempted),
                             "the past of the job", error));
    weir_size_take(&full, sizeof full, given, given->size);
    if (past->state > WEIR_JOB_RUNNING)
        return weir_fail(error, WEIR_EINVAL, "unknown state %u", past->state);
    WEIR_TRY(weir_jobs_add(&host->jobs, job, &record, error));
    const uint32_t ranks = host->jobs.kinds[host->jobs.records[record].kind].ranks;
    weir_status status = WEIR_OK;
    if (past->started > ranks)
        status =
            weir_fail(error, WEIR_EINVAL, "%u of its %u ranks are there", past->started, ranks);
    else if (past->state == WEIR_JOB_WAITING)
        status = weir_host_queue_job(host, record, error);
    else
        status = restore_placed(host, record, past, error);
    if (status != WEIR_OK)
        weir_jobs_remove(&host->jobs, record);
    return status;
}

weir_status weir_host_restore_fresh(struct weir_host *host, uint32_t workload, uint64_t id)
{
    const uint32_t record =
        host == NULL ? WEIR_NO_INDEX : weir_jobs_find(&host->jobs, workload, id);

    return record == WEIR_NO_INDEX ? WEIR_ENOTFOUND : weir_host_note_fresh(host, record);
}

weir_status weir_host_restore_policy(struct weir_host *host, uint32_t part, const double *numbers,
                                     uint32_t count, struct weir_error *error)
{
    if (host == NULL || part >= WEIR_POLICY_PART_COUNT || (numbers == NULL && count > 0))
        return weir_fail(error, WEIR_EINVAL, "no host, no such policy or no numbers");
    struct weir_policy_state *const policy = weir_host_policy(host, part);
    if (count == 0)
        return WEIR_OK;
    if (policy->restore == NULL)
        return weir_fail(error, WEIR_EUNSUPPORTED, "this policy remembers nothing");
    return policy->restore(policy->state, weir_host_view(host, host->view.now_ns), numbers, count,
                           error);
}

weir_status weir_host_restore_wake(struct weir_host *host, int64_t at_ns, uint32_t causes)
{
    const struct weir_wake wake = { .at_ns = at_ns, .causes = causes };

    return host == NULL ? WEIR_EINVAL : weir_host_owe_wake(host, &wake);
}

/* Where ranks of jobs are looked for first: workers are told before the jobs that they are of. */
static void find_first_workers(struct weir_host *host)
{
    const struct weir_cluster *const cluster = host->inventory;

    for (uint32_t s = 0; s < cluster->slot_count; s++) {
        const struct weir_worker_slot *const slot = &cluster->slots[s];
        const bool is_rank = slot->state != WEIR_SLOT_FREE && slot->owner.kind == WEIR_OWNER_JOB;
        const uint32_t record = is_rank
                                    ? weir_jobs_find(&host->jobs, slot->owner.index, slot->owner.id)
                                    : WEIR_NO_INDEX;
        if (record == WEIR_NO_INDEX || host->jobs.records[record].state == WEIR_JOB_WAITING)
            continue;
        struct weir_placed_job *const placed = weir_jobs_placed(&host->jobs, record);
        if (slot->id < placed->first_worker)
            placed->first_worker = slot->id;
    }
}

/* Everything but the policies has been told: what was done here is no news. */
weir_status weir_host_restore(struct weir_host *host, const struct weir_host_past *given,
                              struct weir_error *error)
{
    struct weir_host_past full;
    const struct weir_host_past *const past = &full;

    if (host == NULL || given == NULL)
        return weir_fail(error, WEIR_EINVAL, "no host or no past");
    WEIR_TRY(weir_size_check(given->size, offsetof(struct weir_host_past, surprises),
                             "the past of the host", error));
    weir_size_take(&full, sizeof full, given, given->size);
    if (past->next_worker < host->next_worker)
        return weir_fail(error, WEIR_EINVAL, "worker %llu is there, new ones begin at %llu",
                         (unsigned long long)host->next_worker - 1,
                         (unsigned long long)past->next_worker);
    host->next_worker = past->next_worker;
    host->stats.decisions = past->decisions;
    host->now_ns = past->now_ns;
    if (past->now_ns != WEIR_UNKNOWN_TIME) {
        weir_reservations_look_ahead(&host->jobs.reservations, past->now_ns);
        host->jobs.reservations.is_asked = true; /* by the latest decision, or the call is owed */
    }
    find_first_workers(host);
    weir_host_restore_labels(host);
    host->is_dirty = past->is_dirty != 0;
    host->cuts.rested_at = host->changes;
    host->jobs.surprises = past->surprises;
    if (past->begun > 0) {
        host->inventory->begun = past->begun;
        host->inventory->ended = past->ended;
    }
    host->jobs.has_refused = host->jobs.has_refused && past->none_refused == 0;
    return WEIR_OK;
}
