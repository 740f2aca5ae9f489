/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the controller tells a host: nodes, pools, measurements, outcomes.
 *
 * Every change of workers goes to the inventory first and, if that took it, to the scratch as well.
 * A scratch that cannot follow is marked stale and copied at the next decision.
 */
#include "sched/host/host.h"
#include "sched/internal/alloc.h"

#include <string.h>

enum { MOST_POOLS = 1 << 20 };

void weir_host_clear_pools(struct weir_host *host)
{
    for (uint32_t i = 0; i < host->pools.count; i++) {
        weir_estimator_destroy(host->pools.pools[i].estimator);
        weir_free(&host->allocator, host->pools.pools[i].name);
    }
    weir_free(&host->allocator, host->pools.pools);
    weir_free(&host->allocator, host->pools.read);
    weir_free(&host->allocator, host->pools.views);
}

/* What a job asks for may fit now, or fit no more. */
static void capacity_changed(struct weir_host *host)
{
    host->changes++;
    for (uint32_t k = 0; k < host->jobs.kind_count; k++)
        host->jobs.kinds[k].room_known = 0;
    weir_jobs_unsettle(&host->jobs);
    host->is_dirty = true;
}

weir_status weir_host_add_node(struct weir_host *host, const struct weir_node_spec *spec,
                               uint32_t *node, struct weir_error *error)
{
    if (host == NULL || spec == NULL)
        return weir_fail(error, WEIR_EINVAL, "no host or no node");
    host->is_stale = true;
    WEIR_TRY(weir_cluster_add_node(host->inventory, spec, node, error));
    capacity_changed(host);
    return WEIR_OK;
}

/* The policy learns that a worker is gone with its node. */
static weir_status report_lost(struct weir_host *host, uint64_t worker, uint32_t node,
                               int64_t now_ns)
{
    struct weir_worker lost;
    struct weir_outcome outcome = {
        .kind = WEIR_OUTCOME_LOST, .node = node, .worker = worker, .time_ns = now_ns
    };

    if (!weir_cluster_worker(host->inventory, worker, &lost))
        return WEIR_ENOTFOUND;
    outcome.owner = lost.owner;
    return weir_host_outcome(host, &outcome, NULL, NULL);
}

weir_status weir_host_set_node(struct weir_host *host, uint32_t node, uint32_t flags,
                               int64_t now_ns)
{
    uint64_t worker;

    if (node >= weir_cluster_node_count(host->inventory))
        return WEIR_ENOTFOUND;
    if ((flags & WEIR_NODE_UP) == 0) {
        while (weir_cluster_node_worker_id(host->inventory, node, &worker))
            WEIR_TRY(report_lost(host, worker, node, now_ns));
    }
    WEIR_TRY(weir_cluster_set_node_flags(host->inventory, node, flags));
    host->changes++;
    if (!host->is_stale && weir_cluster_set_node_flags(host->scratch, node, flags) != WEIR_OK)
        host->is_stale = true;
    if ((flags & WEIR_NODE_UP) != 0) {
        weir_jobs_unsettle(&host->jobs);
        host->is_dirty = true;
    }
    return WEIR_OK;
}

static weir_status reserve_pool(struct weir_host *host)
{
    struct weir_host_pool *const pools =
        weir_grow(&host->allocator, host->pools.pools, &host->pools.pool_capacity,
                  host->pools.count + 1, sizeof *pools);
    if (pools == NULL)
        return WEIR_ENOMEM;
    host->pools.pools = pools;
    struct weir_pool_view *const views =
        weir_grow(&host->allocator, host->pools.views, &host->pools.view_capacity,
                  host->pools.count + 1, sizeof *views);
    if (views == NULL)
        return WEIR_ENOMEM;
    host->pools.views = views;
    uint32_t *const read = weir_grow(&host->allocator, host->pools.read, &host->pools.read_capacity,
                                     host->pools.count + 1, sizeof *read);
    if (read == NULL)
        return WEIR_ENOMEM;
    host->pools.read = read;
    return WEIR_OK;
}

static weir_status open_pool(struct weir_host *host, const char *name, struct weir_host_pool *pool)
{
    const size_t size = strlen(name) + 1;

    *pool = (struct weir_host_pool){ 0 };
    pool->name = weir_alloc(&host->allocator, size, 1);
    if (pool->name == NULL)
        return WEIR_ENOMEM;
    memcpy(pool->name, name, size);
    const weir_status status =
        weir_estimator_create(&host->allocator, host->window, &pool->estimator);
    if (status != WEIR_OK)
        weir_free(&host->allocator, pool->name);
    return status;
}

static weir_status check_pool(const struct weir_host *host, const struct weir_pool_view *pool,
                              struct weir_error *error)
{
    if (pool->name == NULL || pool->name[0] == '\0')
        return weir_fail(error, WEIR_EINVAL, "a stage needs a name");
    if (pool->batch_size < 1)
        return weir_fail(error, WEIR_EINVAL, "stage %s: batch_size must be >= 1, got %u",
                         pool->name, pool->batch_size);
    if (pool->requested_workers < -1)
        return weir_fail(error, WEIR_EINVAL, "stage %s: requested_workers must be >= -1, got %d",
                         pool->name, pool->requested_workers);
    if (!(pool->over_provision >= 0))
        return weir_fail(error, WEIR_EINVAL, "stage %s: over_provision must be >= 0, got %g",
                         pool->name, pool->over_provision);
    if (pool->speed_hint_per_s <= 0)
        return weir_fail(error, WEIR_EINVAL, "stage %s: speed_hint must be > 0, got %g", pool->name,
                         pool->speed_hint_per_s);
    for (uint32_t i = 0; i < host->pools.count; i++) {
        if (host->pools.views[i].pipeline == pool->pipeline &&
            strcmp(host->pools.views[i].name, pool->name) == 0)
            return weir_fail(error, WEIR_EDUPLICATE, "stage %s exists already", pool->name);
    }
    const weir_status status = weir_shape_check(&pool->shape, error);
    if (status != WEIR_OK)
        weir_error_wrap(error, "stage %s: shape", pool->name);
    return status;
}

weir_status weir_host_add_pool(struct weir_host *host, const struct weir_pool_view *pool,
                               uint32_t *index, struct weir_error *error)
{
    struct weir_host_pool made;

    WEIR_TRY(check_pool(host, pool, error));
    if (host->pools.count >= MOST_POOLS)
        return weir_fail(error, WEIR_ERANGE, "at most %d stages are possible", MOST_POOLS);
    if (reserve_pool(host) != WEIR_OK || open_pool(host, pool->name, &made) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    struct weir_pool_view *const view = &host->pools.views[host->pools.count];
    *view = *pool;
    view->name = made.name;
    view->workers = 0;
    view->ready = 0;
    view->busy = 0;
    view->finished = 0;
    view->queued_items = 0;
    host->pools.pools[host->pools.count] = made;
    if (index != NULL)
        *index = host->pools.count;
    host->pools.count++;
    return WEIR_OK;
}

weir_status weir_host_update_pool(struct weir_host *host, uint32_t pool,
                                  const struct weir_pool_update *update)
{
    if (pool >= host->pools.count)
        return WEIR_ENOTFOUND;
    if (update->requested_workers < -1)
        return WEIR_EINVAL;
    struct weir_pool_view *const view = &host->pools.views[pool];
    view->ready = update->ready;
    view->busy = update->busy;
    view->finished = update->finished;
    view->slots = update->slots;
    view->queued_items = update->queued_items;
    view->requested_workers = update->requested_workers;
    return WEIR_OK;
}

weir_status weir_host_measure(struct weir_host *host, const struct weir_measurement *task)
{
    if (task->size < sizeof *task)
        return WEIR_EABI;
    if (task->pool >= host->pools.count)
        return WEIR_ENOTFOUND;
    WEIR_TRY(weir_estimator_add(host->pools.pools[task->pool].estimator, task));
    host->pools.pools[task->pool].has_given = false;
    const struct weir_policy_set *const pair = &host->main;
    if (pair->scaling->measured != NULL)
        return pair->scaling->measured(pair->scaled.state, task);
    return WEIR_OK;
}

weir_status weir_host_set_estimate(struct weir_host *host, uint32_t pool,
                                   struct weir_estimate estimate)
{
    if (pool >= host->pools.count)
        return WEIR_ENOTFOUND;
    host->pools.pools[pool].given = estimate;
    host->pools.pools[pool].has_given = true;
    return WEIR_OK;
}

weir_status weir_host_add_worker(struct weir_host *host, uint64_t worker, struct weir_owner owner,
                                 const struct weir_alloc *alloc, struct weir_error *error)
{
    if (owner.kind == WEIR_OWNER_POOL && owner.index >= host->pools.count)
        return weir_fail(error, WEIR_ENOTFOUND, "stage %u of %u", owner.index, host->pools.count);
    if (alloc == NULL)
        return weir_fail(error, WEIR_EINVAL, "a worker that started needs its allocation");
    WEIR_TRY(weir_cluster_add_worker(host->inventory, worker, owner, alloc, error));
    host->changes++;
    if (!host->is_stale &&
        weir_cluster_add_worker(host->scratch, worker, owner, alloc, NULL) != WEIR_OK)
        host->is_stale = true;
    if (worker >= host->next_worker)
        host->next_worker = worker + 1;
    return WEIR_OK;
}

/* What it held may be what a job waits for. */
weir_status weir_host_remove_worker(struct weir_host *host, uint64_t worker,
                                    struct weir_error *error)
{
    WEIR_TRY(weir_cluster_remove_worker(host->inventory, worker, error));
    host->changes++;
    if (!host->is_stale && weir_cluster_remove_worker(host->scratch, worker, NULL) != WEIR_OK)
        host->is_stale = true;
    weir_jobs_unsettle(&host->jobs);
    host->is_dirty = true;
    return WEIR_OK;
}

weir_status weir_host_adopt_worker(struct weir_host *host, uint64_t worker, struct weir_owner owner,
                                   const struct weir_alloc *alloc, struct weir_error *error)
{
    if (host == NULL)
        return weir_fail(error, WEIR_EINVAL, "no host");
    return weir_host_add_worker(host, worker, owner, alloc, error);
}

weir_status weir_host_set_worker_state(struct weir_host *host, uint64_t worker, uint32_t state,
                                       int64_t since_ns)
{
    WEIR_TRY(weir_cluster_set_worker_state(host->inventory, worker, state, since_ns));
    if (!host->is_stale &&
        weir_cluster_set_worker_state(host->scratch, worker, state, since_ns) != WEIR_OK)
        host->is_stale = true;
    return WEIR_OK;
}

static weir_status take_outcome(struct weir_host *host, const struct weir_outcome *outcome,
                                const struct weir_alloc *alloc, struct weir_error *error)
{
    switch ((enum weir_outcome_kind)outcome->kind) {
    case WEIR_OUTCOME_STARTED:
        WEIR_TRY(weir_host_add_worker(host, outcome->worker, outcome->owner, alloc, error));
        host->stats.started++;
        return weir_host_set_worker_state(host, outcome->worker, WEIR_WORKER_STARTING,
                                          outcome->time_ns);
    case WEIR_OUTCOME_REFUSED:
        host->stats.refused++;
        return WEIR_OK;
    case WEIR_OUTCOME_STOPPED:
        WEIR_TRY(weir_host_remove_worker(host, outcome->worker, error));
        host->stats.stopped++;
        return WEIR_OK;
    case WEIR_OUTCOME_LOST:
        WEIR_TRY(weir_host_remove_worker(host, outcome->worker, error));
        host->stats.lost++;
        return WEIR_OK;
    case WEIR_OUTCOME_CUT:
    case WEIR_OUTCOME_UNCUT:
        return weir_host_cuts_outcome(host, outcome, error);
    }
    return weir_fail(error, WEIR_EINVAL, "unknown outcome %u", outcome->kind);
}

weir_status weir_host_outcome(struct weir_host *host, const struct weir_outcome *outcome,
                              const struct weir_alloc *alloc, struct weir_error *error)
{
    if (host == NULL || outcome == NULL)
        return weir_fail(error, WEIR_EINVAL, "no host or no outcome");
    if (outcome->kind == WEIR_OUTCOME_STARTED && outcome->owner.kind == WEIR_OWNER_JOB)
        WEIR_TRY(weir_host_job_may_start(host, &outcome->owner, error));
    WEIR_TRY(take_outcome(host, outcome, alloc, error));
    if (outcome->kind == WEIR_OUTCOME_CUT || outcome->kind == WEIR_OUTCOME_UNCUT)
        return WEIR_OK;
    if (outcome->owner.kind == WEIR_OWNER_JOB)
        return weir_host_job_outcome(host, outcome, error);
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
    host->pools.inventory = host->inventory;
    weir_pools_begin(&host->pools, now_ns);
    host->view.now_ns = now_ns;
    host->view.cluster = host->inventory;
    host->view.pools = host->pools.views;
    host->view.jobs = &host->jobs;
    host->view.pool_count = host->pools.count;
    host->view.live = &host->pools;
    return &host->view;
}
