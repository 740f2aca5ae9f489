/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the controller tells a host of workers: measurements, outcomes, states. Nodes are told in
 * told_nodes.c, pools in told_pools.c, jobs in told_jobs.c.
 */
#include "sched/host/state.h"
#include "sched/internal/size.h"

weir_status weir_host_measure(struct weir_host *host, const struct weir_measurement *task)
{
    if (host == NULL || task == NULL)
        return WEIR_EINVAL;
    if (task->size < offsetof(struct weir_measurement, duration_s))
        return WEIR_EABI;
    if (task->pool >= host->pools.count ||
        host->pools.views[task->pool].finished == WEIR_POOL_REMOVED)
        return WEIR_ENOTFOUND;
    WEIR_TRY(weir_estimator_add(host->pools.pools[task->pool].estimator, task));
    host->pools.pools[task->pool].has_given = false;
    const struct weir_policy_set *const pair = &host->main;
    if (pair->scaling->measured != NULL)
        return pair->scaling->measured(pair->scaled.state, task);
    return WEIR_OK;
}

static weir_status host_add_worker(struct weir_host *host, uint64_t worker, struct weir_owner owner,
                                   const struct weir_alloc *alloc, struct weir_error *error)
{
    if (owner.kind == WEIR_OWNER_POOL &&
        (owner.index >= host->pools.count ||
         host->pools.views[owner.index].finished == WEIR_POOL_REMOVED))
        return weir_fail(error, WEIR_ENOTFOUND, "stage %u of %u", owner.index, host->pools.count);
    if (alloc == NULL)
        return weir_fail(error, WEIR_EINVAL, "a worker that started needs its allocation");
    WEIR_TRY(weir_cluster_add_worker(host->inventory, worker, owner, alloc, error));
    host->changes++;
    host->jobs.surprises += owner.kind == WEIR_OWNER_POOL;
    if (worker >= host->next_worker)
        host->next_worker = worker + 1;
    return WEIR_OK;
}

/* What it held may be what a job waits for. */
static weir_status host_remove_worker(struct weir_host *host, const struct weir_outcome *outcome,
                                      struct weir_error *error)
{
    struct weir_worker held;

    if (weir_cluster_worker(host->inventory, outcome->worker, &held) &&
        !weir_owner_is(&held.owner, &outcome->owner))
        return weir_fail(error, WEIR_EINVAL, "worker %llu is somebody else's",
                         (unsigned long long)outcome->worker);
    WEIR_TRY(weir_cluster_remove_worker(host->inventory, outcome->worker, error));
    host->jobs.surprises += outcome->owner.kind == WEIR_OWNER_POOL;
    host->changes++;
    weir_jobs_unsettle(&host->jobs);
    host->is_dirty = true;
    return WEIR_OK;
}

weir_status weir_host_adopt_worker(struct weir_host *host, uint64_t worker, struct weir_owner owner,
                                   const struct weir_alloc *alloc, struct weir_error *error)
{
    if (host == NULL)
        return weir_fail(error, WEIR_EINVAL, "no host");
    return host_add_worker(host, worker, owner, alloc, error);
}

weir_status weir_host_set_worker_state(struct weir_host *host, uint64_t worker, uint32_t state,
                                       int64_t since_ns)
{
    if (host == NULL)
        return WEIR_EINVAL;
    return weir_cluster_set_worker_state(host->inventory, worker, state, since_ns);
}

static weir_status take_outcome(struct weir_host *host, const struct weir_outcome *outcome,
                                const struct weir_alloc *alloc, struct weir_error *error)
{
    switch ((enum weir_outcome_kind)outcome->kind) {
    case WEIR_OUTCOME_STARTED:
        WEIR_TRY(host_add_worker(host, outcome->worker, outcome->owner, alloc, error));
        host->stats.started++;
        return weir_host_set_worker_state(host, outcome->worker, WEIR_WORKER_STARTING,
                                          outcome->time_ns);
    case WEIR_OUTCOME_REFUSED:
        host->stats.refused++;
        return WEIR_OK;
    case WEIR_OUTCOME_STOPPED:
        WEIR_TRY(host_remove_worker(host, outcome, error));
        host->stats.stopped++;
        return WEIR_OK;
    case WEIR_OUTCOME_LOST:
        WEIR_TRY(host_remove_worker(host, outcome, error));
        host->stats.lost++;
        return WEIR_OK;
    case WEIR_OUTCOME_CUT:
    case WEIR_OUTCOME_UNCUT:
        return weir_host_cuts_outcome(host, outcome, error);
    case WEIR_OUTCOME_CAME:
    case WEIR_OUTCOME_FAILED:
    case WEIR_OUTCOME_GONE:
        return WEIR_OK; /* the node itself is told beside it */
    }
    return weir_fail(error, WEIR_EINVAL, "unknown outcome %u", outcome->kind);
}

weir_status weir_host_outcome(struct weir_host *host, const struct weir_outcome *outcome,
                              const struct weir_alloc *alloc, struct weir_error *error)
{
    uint32_t kind = WEIR_NO_INDEX;

    if (host == NULL || outcome == NULL)
        return weir_fail(error, WEIR_EINVAL, "no host or no outcome");
    WEIR_TRY(weir_size_check(outcome->size, sizeof *outcome, "the outcome", error));
    host->limits.is_open &= outcome->kind == WEIR_OUTCOME_LOST;
    weir_tenants_at(&host->jobs.tenants, outcome->time_ns);
    if (outcome->kind == WEIR_OUTCOME_STARTED && outcome->owner.kind == WEIR_OWNER_JOB)
        WEIR_TRY(weir_host_job_may_start(host, &outcome->owner, &kind, error));
    WEIR_TRY(take_outcome(host, outcome, alloc, error));
    if (outcome->kind == WEIR_OUTCOME_CUT || outcome->kind == WEIR_OUTCOME_UNCUT)
        return WEIR_OK;
    if (outcome->owner.kind == WEIR_OWNER_JOB)
        return weir_host_job_outcome(host, outcome, kind, error);
    if (outcome->owner.index == WEIR_NO_INDEX)
        WEIR_TRY(weir_host_node_outcome(host, outcome, error));
    const struct weir_policy_set *const set = &host->main;
    if (set->scaling->outcome == NULL)
        return WEIR_OK;
    const weir_status status = set->scaling->outcome(set->scaled.state, outcome);
    if (status != WEIR_OK)
        return weir_fail(error, status, "scaling policy %s: outcome: %s", set->scaling->name,
                         weir_status_text(status));
    return WEIR_OK;
}

const struct weir_view *weir_host_view(struct weir_host *host, int64_t now_ns)
{
    if (host == NULL)
        return NULL;
    host->pools.inventory = host->inventory;
    weir_pools_begin(&host->pools, now_ns);
    host->view.now_ns = now_ns;
    host->view.cluster = host->inventory;
    host->view.pools = host->pools.views;
    host->view.jobs = &host->jobs;
    host->view.pool_count = host->pools.count;
    host->view.live = &host->pools;
    host->view.offers = host->offers;
    host->view.offer_count = host->offer_count;
    return &host->view;
}
