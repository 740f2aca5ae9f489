/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the controller tells a host: nodes, stages, measurements, outcomes.
 *
 * Every change of workers goes to the inventory first and, if that took it, to the scratch as well.
 * A scratch that cannot follow is marked stale and copied at the next decision.
 */
#include "sched/internal/alloc.h"
#include "sched/internal/host.h"

#include <string.h>

enum { MOST_STAGES = 1 << 20 };

void weir_host_clear_stages(struct weir_host *host)
{
    for (uint32_t i = 0; i < host->stage_count; i++) {
        weir_estimator_destroy(host->stages[i].estimator);
        weir_free(&host->allocator, host->stages[i].name);
    }
    weir_free(&host->allocator, host->stages);
    weir_free(&host->allocator, host->views);
}

weir_status weir_host_add_node(struct weir_host *host, const struct weir_node_spec *spec,
                               uint32_t *node, struct weir_error *error)
{
    host->is_stale = true;
    return weir_cluster_add_node(host->inventory, spec, node, error);
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
    outcome.stage = lost.stage;
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
    if (!host->is_stale && weir_cluster_set_node_flags(host->scratch, node, flags) != WEIR_OK)
        host->is_stale = true;
    return WEIR_OK;
}

static weir_status reserve_stage(struct weir_host *host)
{
    struct weir_host_stage *const stages =
        weir_grow(&host->allocator, host->stages, &host->stage_capacity, host->stage_count + 1,
                  sizeof *stages);
    if (stages == NULL)
        return WEIR_ENOMEM;
    host->stages = stages;
    struct weir_stage_view *const views = weir_grow(
        &host->allocator, host->views, &host->view_capacity, host->stage_count + 1, sizeof *views);
    if (views == NULL)
        return WEIR_ENOMEM;
    host->views = views;
    return WEIR_OK;
}

static weir_status open_stage(struct weir_host *host, const char *name,
                              struct weir_host_stage *stage)
{
    const size_t size = strlen(name) + 1;

    *stage = (struct weir_host_stage){ 0 };
    stage->name = weir_alloc(&host->allocator, size, 1);
    if (stage->name == NULL)
        return WEIR_ENOMEM;
    memcpy(stage->name, name, size);
    const weir_status status =
        weir_estimator_create(&host->allocator, host->window, &stage->estimator);
    if (status != WEIR_OK)
        weir_free(&host->allocator, stage->name);
    return status;
}

static weir_status check_stage(const struct weir_host *host, const struct weir_stage_view *stage,
                               struct weir_error *error)
{
    if (stage->name == NULL || stage->name[0] == '\0')
        return weir_fail(error, WEIR_EINVAL, "a stage needs a name");
    if (stage->batch_size < 1)
        return weir_fail(error, WEIR_EINVAL, "stage %s: batch_size must be >= 1, got %u",
                         stage->name, stage->batch_size);
    if (stage->requested_workers < -1)
        return weir_fail(error, WEIR_EINVAL, "stage %s: requested_workers must be >= -1, got %d",
                         stage->name, stage->requested_workers);
    if (!(stage->over_provision >= 0))
        return weir_fail(error, WEIR_EINVAL, "stage %s: over_provision must be >= 0, got %g",
                         stage->name, stage->over_provision);
    if (stage->speed_hint_per_s <= 0)
        return weir_fail(error, WEIR_EINVAL, "stage %s: speed_hint must be > 0, got %g",
                         stage->name, stage->speed_hint_per_s);
    for (uint32_t i = 0; i < host->stage_count; i++) {
        if (host->views[i].pipeline == stage->pipeline &&
            strcmp(host->views[i].name, stage->name) == 0)
            return weir_fail(error, WEIR_EDUPLICATE, "stage %s exists already", stage->name);
    }
    const weir_status status = weir_shape_check(&stage->shape, error);
    if (status != WEIR_OK)
        weir_error_wrap(error, "stage %s: shape", stage->name);
    return status;
}

weir_status weir_host_add_stage(struct weir_host *host, const struct weir_stage_view *stage,
                                uint32_t *index, struct weir_error *error)
{
    struct weir_host_stage made;

    WEIR_TRY(check_stage(host, stage, error));
    if (host->stage_count >= MOST_STAGES)
        return weir_fail(error, WEIR_ERANGE, "at most %d stages are possible", MOST_STAGES);
    if (reserve_stage(host) != WEIR_OK || open_stage(host, stage->name, &made) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    struct weir_stage_view *const view = &host->views[host->stage_count];
    *view = *stage;
    view->name = made.name;
    view->workers = 0;
    view->ready = 0;
    view->busy = 0;
    view->finished = 0;
    view->queued_items = 0;
    host->stages[host->stage_count] = made;
    if (index != NULL)
        *index = host->stage_count;
    host->stage_count++;
    return WEIR_OK;
}

weir_status weir_host_update_stage(struct weir_host *host, uint32_t stage,
                                   const struct weir_stage_update *update)
{
    if (stage >= host->stage_count)
        return WEIR_ENOTFOUND;
    if (update->requested_workers < -1)
        return WEIR_EINVAL;
    struct weir_stage_view *const view = &host->views[stage];
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
    if (task->stage >= host->stage_count)
        return WEIR_ENOTFOUND;
    WEIR_TRY(weir_estimator_add(host->stages[task->stage].estimator, task));
    host->stages[task->stage].has_given = false;
    const struct weir_policy_pair *const pair = &host->main;
    if (pair->scaling->measured != NULL)
        return pair->scaling->measured(pair->scaled.state, task);
    return WEIR_OK;
}

weir_status weir_host_set_estimate(struct weir_host *host, uint32_t stage,
                                   struct weir_estimate estimate)
{
    if (stage >= host->stage_count)
        return WEIR_ENOTFOUND;
    host->stages[stage].given = estimate;
    host->stages[stage].has_given = true;
    return WEIR_OK;
}

static weir_status add_worker(struct weir_host *host, uint64_t worker, uint32_t stage,
                              const struct weir_alloc *alloc, struct weir_error *error)
{
    if (stage >= host->stage_count)
        return weir_fail(error, WEIR_ENOTFOUND, "stage %u of %u", stage, host->stage_count);
    if (alloc == NULL)
        return weir_fail(error, WEIR_EINVAL, "a worker that started needs its allocation");
    WEIR_TRY(weir_cluster_add_worker(host->inventory, worker, stage, alloc, error));
    if (!host->is_stale &&
        weir_cluster_add_worker(host->scratch, worker, stage, alloc, NULL) != WEIR_OK)
        host->is_stale = true;
    if (worker >= host->next_worker)
        host->next_worker = worker + 1;
    return WEIR_OK;
}

static weir_status remove_worker(struct weir_host *host, uint64_t worker, struct weir_error *error)
{
    WEIR_TRY(weir_cluster_remove_worker(host->inventory, worker, error));
    if (!host->is_stale && weir_cluster_remove_worker(host->scratch, worker, NULL) != WEIR_OK)
        host->is_stale = true;
    return WEIR_OK;
}

weir_status weir_host_adopt_worker(struct weir_host *host, uint64_t worker, uint32_t stage,
                                   const struct weir_alloc *alloc, struct weir_error *error)
{
    return add_worker(host, worker, stage, alloc, error);
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
        WEIR_TRY(add_worker(host, outcome->worker, outcome->stage, alloc, error));
        host->stats.started++;
        return weir_host_set_worker_state(host, outcome->worker, WEIR_WORKER_STARTING,
                                          outcome->time_ns);
    case WEIR_OUTCOME_REFUSED:
        host->stats.refused++;
        return WEIR_OK;
    case WEIR_OUTCOME_STOPPED:
        WEIR_TRY(remove_worker(host, outcome->worker, error));
        host->stats.stopped++;
        return WEIR_OK;
    case WEIR_OUTCOME_LOST:
        WEIR_TRY(remove_worker(host, outcome->worker, error));
        host->stats.lost++;
        return WEIR_OK;
    }
    return weir_fail(error, WEIR_EINVAL, "unknown outcome %u", outcome->kind);
}

weir_status weir_host_outcome(struct weir_host *host, const struct weir_outcome *outcome,
                              const struct weir_alloc *alloc, struct weir_error *error)
{
    WEIR_TRY(take_outcome(host, outcome, alloc, error));
    const struct weir_policy_pair *const pair = &host->main;
    if (pair->scaling->outcome == NULL)
        return WEIR_OK;
    const weir_status status = pair->scaling->outcome(pair->scaled.state, outcome);
    if (status != WEIR_OK)
        return weir_fail(error, status, "scaling policy %s: outcome: %s", pair->scaling->name,
                         weir_status_text(status));
    return WEIR_OK;
}

const struct weir_view *weir_host_view(struct weir_host *host, int64_t now_ns)
{
    for (uint32_t i = 0; i < host->stage_count; i++) {
        struct weir_host_stage *const stage = &host->stages[i];
        host->views[i].workers = weir_cluster_stage_workers(host->inventory, i);
        host->views[i].estimate =
            stage->has_given ? stage->given : weir_estimator_query(stage->estimator, now_ns);
    }
    host->view.now_ns = now_ns;
    host->view.cluster = host->inventory;
    host->view.stages = host->views;
    host->view.stage_count = host->stage_count;
    return &host->view;
}
