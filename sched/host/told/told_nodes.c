/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the controller tells a host of nodes.
 *
 * Workers of a node that goes are lost first, one by one, so that policies and jobs learn of each.
 */
#include "sched/host/state.h"

/* What a job asks for may fit now, or fit no more. */
static void capacity_changed(struct weir_host *host)
{
    host->changes++;
    host->is_soft_stale = true;
    for (uint32_t k = 0; k < host->jobs.kind_count; k++)
        host->jobs.kinds[k].room_known = 0;
    host->jobs.surprises++;
    weir_jobs_unsettle(&host->jobs);
    host->is_dirty = true;
}

weir_status weir_host_add_node(struct weir_host *host, const struct weir_node_spec *spec,
                               uint32_t *node, struct weir_error *error)
{
    if (host == NULL || spec == NULL)
        return weir_fail(error, WEIR_EINVAL, "no host or no node");
    WEIR_TRY(weir_cluster_add_node(host->inventory, spec, node, error));
    capacity_changed(host);
    return WEIR_OK;
}

/* The policy learns that a worker is gone with its node. */
static weir_status report_lost(struct weir_host *host, uint64_t worker, uint32_t node,
                               int64_t now_ns)
{
    struct weir_worker lost;
    struct weir_outcome outcome = { .size = sizeof(struct weir_outcome),
                                    .kind = WEIR_OUTCOME_LOST,
                                    .node = node,
                                    .worker = worker,
                                    .time_ns = now_ns };

    if (!weir_cluster_worker(host->inventory, worker, &lost))
        return WEIR_ENOTFOUND;
    outcome.owner = lost.owner;
    return weir_host_outcome(host, &outcome, NULL, NULL);
}

static weir_status lose_workers(struct weir_host *host, uint32_t node, int64_t now_ns)
{
    uint64_t worker;

    while (weir_cluster_node_worker_id(host->inventory, node, &worker))
        WEIR_TRY(report_lost(host, worker, node, now_ns));
    return WEIR_OK;
}

weir_status weir_host_set_node(struct weir_host *host, uint32_t node, uint32_t flags,
                               int64_t now_ns)
{
    if (host == NULL)
        return WEIR_EINVAL;
    if (node >= weir_cluster_node_count(host->inventory))
        return WEIR_ENOTFOUND;
    if ((flags & WEIR_NODE_UP) == 0)
        WEIR_TRY(lose_workers(host, node, now_ns));
    WEIR_TRY(weir_cluster_set_node_flags(host->inventory, node, flags));
    host->changes++;
    host->is_soft_stale = true;
    host->jobs.surprises++;
    if ((flags & WEIR_NODE_UP) != 0)
        host->jobs.surprises++;
    if ((flags & WEIR_NODE_UP) != 0 || host->jobs.has_refused) {
        weir_jobs_unsettle(&host->jobs);
        host->is_dirty = true;
    }
    return WEIR_OK;
}

/* GPUs of a node that is gone are not cut any more. */
static void forget_cuts(struct weir_host *host, uint32_t node)
{
    struct weir_host_cuts *const cuts = &host->cuts;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < cuts->count; i++) {
        if (cuts->pending[i].node == node)
            continue;
        cuts->pending[kept] = cuts->pending[i];
        cuts->away_ns[kept++] = cuts->away_ns[i];
    }
    cuts->count = kept;
}

weir_status weir_host_remove_node(struct weir_host *host, uint32_t node, int64_t now_ns)
{
    if (host == NULL)
        return WEIR_EINVAL;
    if (node >= weir_cluster_node_count(host->inventory))
        return WEIR_ENOTFOUND;
    WEIR_TRY(lose_workers(host, node, now_ns));
    WEIR_TRY(weir_cluster_remove_node(host->inventory, node, NULL));
    forget_cuts(host, node);
    capacity_changed(host);
    return WEIR_OK;
}

weir_status weir_host_change_node(struct weir_host *host, uint32_t node, int64_t cpu_units,
                                  int64_t ram_bytes, struct weir_error *error)
{
    if (host == NULL)
        return weir_fail(error, WEIR_EINVAL, "no host");
    WEIR_TRY(weir_cluster_resize_node(host->inventory, node, cpu_units, ram_bytes, error));
    capacity_changed(host);
    return WEIR_OK;
}

weir_status weir_host_set_gpu_health(struct weir_host *host, uint32_t node, uint32_t gpu,
                                     bool is_healthy)
{
    if (host == NULL)
        return WEIR_EINVAL;
    WEIR_TRY(weir_cluster_set_gpu_health(host->inventory, node, gpu, is_healthy));
    host->jobs.surprises++;
    weir_jobs_unsettle(&host->jobs);
    host->is_dirty = true;
    return WEIR_OK;
}
