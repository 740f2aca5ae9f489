/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cutting GPUs anew for the jobs that wait.
 *
 * After a pass the GPU whose new cut wins most is chosen (capacity/partition.c) and closed: it
 * gives out no instance. When its last instance is free the plan says CUT; the outcome opens it
 * again, in its new layout or, when it could not be cut, in the old one.
 *
 * Progress: a GPU that was cut, or could not be, at an instant is not chosen again at that instant
 * until something has changed: a job came or left the queue, a worker came or went, a node changed.
 * Else work that waits for more than instances (CPUs, the other ranks of its job) would have a GPU
 * cut to and fro for ever where cutting takes no time. So between two changes, or two instants,
 * every GPU is cut once at most. A start that is only planned is no change: truth may refuse it.
 *
 * Invariant: every pending GPU is closed.
 */
#include "sched/cluster/state.h"
#include "sched/host/state.h"
#include "sched/internal/alloc.h"
#include "sched/internal/plan_state.h"
#include "sched/internal/size.h"

#include <string.h>

void weir_host_cuts_free(struct weir_host *host)
{
    weir_free(&host->allocator, host->cuts.pending);
    weir_free(&host->allocator, host->cuts.away_ns);
    weir_free(&host->allocator, host->cuts.rested);
    weir_free(&host->allocator, host->cuts.excluded);
    weir_free(&host->allocator, host->cuts.shapes);
    weir_free(&host->allocator, host->cuts.waiting);
}

bool weir_host_cuts_serve(const struct weir_host *host, const struct weir_shape *shape)
{
    const struct weir_cluster *const cluster = host->inventory;

    for (uint32_t n = 0; host->cut_min_gain > 0 && n < weir_cluster_node_count(cluster); n++) {
        for (uint32_t g = 0; g < weir_cluster_node(cluster, n)->gpu_count; g++) {
            const struct weir_gpu *const gpu = weir_cluster_gpu(cluster, n, g);
            if (gpu->mig != NULL && gpu->mig_state.cut != 0 && weir_node_takes(cluster, n, shape) &&
                weir_shape_takes_type(shape, gpu->type) &&
                weir_shape_profiles(shape, gpu->mig, false) != 0)
                return true;
        }
    }
    return false;
}

static weir_status reserve_demand(struct weir_host *host, uint32_t count)
{
    struct weir_host_cuts *const cuts = &host->cuts;
    WEIR_ROOM(&host->allocator, cuts->shapes, cuts->shape_capacity, count);
    WEIR_ROOM(&host->allocator, cuts->waiting, cuts->waiting_capacity, count);
    return WEIR_OK;
}

/* What waits: ranks by what they ask for; then what is expected to come, of which none waits. */
static weir_status gather_demand(struct weir_host *host, uint32_t *count)
{
    *count = 0;
    for (uint32_t k = 0; k < host->jobs.kind_count; k++) {
        const struct weir_job_kind *const kind = &host->jobs.kinds[host->jobs.kind_order[k]];
        WEIR_TRY(reserve_demand(host, *count + kind->group_count));
        for (uint32_t g = 0; g < kind->group_count; g++) {
            host->cuts.shapes[*count] = kind->groups[g].shape;
            host->cuts.waiting[(*count)++] =
                (uint64_t)(kind->count - kind->turned_away) * kind->groups[g].ranks;
        }
    }
    WEIR_TRY(reserve_demand(host, *count + host->mix.count));
    for (uint32_t i = 0; i < host->mix.count; i++) {
        host->cuts.shapes[*count] = host->mix.shapes[i];
        host->cuts.waiting[(*count)++] = 0;
    }
    return WEIR_OK;
}

static weir_status reserve_pending(struct weir_host *host)
{
    struct weir_host_cuts *const cuts = &host->cuts;
    WEIR_ROOM(&host->allocator, cuts->pending, cuts->pending_capacity, cuts->count + 1);
    WEIR_ROOM(&host->allocator, cuts->away_ns, cuts->away_capacity, cuts->count + 1);
    return WEIR_OK;
}

/* The pending GPUs and, as if they were pending and would serve nobody, those that rest. */
static weir_status exclude(struct weir_host *host, uint32_t *count)
{
    struct weir_host_cuts *const cuts = &host->cuts;
    const bool is_resting = weir_host_cuts_rest(host) && cuts->rested_ns == host->now_ns;
    const uint32_t rested = is_resting ? cuts->rested_count : 0;
    WEIR_ROOM(&host->allocator, cuts->excluded, cuts->excluded_capacity, cuts->count + rested + 1);
    for (uint32_t i = 0; i < cuts->count; i++)
        cuts->excluded[i] = cuts->pending[i];
    for (uint32_t i = 0; i < rested; i++)
        cuts->excluded[cuts->count + i] = cuts->rested[i];
    *count = cuts->count + rested;
    return WEIR_OK;
}

bool weir_host_cuts_rest(const struct weir_host *host)
{
    return host->cuts.rested_count > 0 && host->cuts.rested_at == host->changes;
}

/* A GPU that was cut, or could not be, rests if no time has passed since the plan said so. */
static weir_status rest(struct weir_host *host, const struct weir_partition_cut *cut,
                        int64_t now_ns)
{
    struct weir_host_cuts *const cuts = &host->cuts;

    if (cuts->rested_at != host->changes || cuts->rested_ns != now_ns)
        cuts->rested_count = 0;
    WEIR_ROOM(&host->allocator, cuts->rested, cuts->rested_capacity, cuts->rested_count + 1);
    cuts->rested_at = host->changes;
    cuts->rested_ns = now_ns;
    cuts->rested[cuts->rested_count++] =
        (struct weir_partition_cut){ .node = cut->node, .gpu = cut->gpu };
    return WEIR_OK;
}

static weir_status choose(struct weir_host *host)
{
    struct weir_host_cuts *const cuts = &host->cuts;
    uint32_t shape_count = 0;

    if (host->cut_min_gain == 0 || host->jobs.counts[WEIR_JOB_WAITING] == 0)
        return WEIR_OK;
    WEIR_TRY(gather_demand(host, &shape_count));
    for (;;) {
        uint32_t excluded = 0;
        WEIR_TRY(reserve_pending(host));
        WEIR_TRY(exclude(host, &excluded));
        const struct weir_partition_query query = { .size = sizeof(struct weir_partition_query),
                                                    .cluster = host->inventory,
                                                    .shapes = cuts->shapes,
                                                    .waiting = cuts->waiting,
                                                    .shape_count = shape_count,
                                                    .min_gain = host->cut_min_gain,
                                                    .pending = cuts->excluded,
                                                    .pending_count = excluded };
        if (weir_partition_decide(&query, &cuts->pending[cuts->count], NULL) != WEIR_OK)
            return WEIR_OK;
        cuts->away_ns[cuts->count++] = WEIR_UNKNOWN_TIME;
        cuts->chosen++;
    }
}

/* CUT for every pending GPU that nothing holds any more. */
static weir_status say_drained(struct weir_host *host)
{
    for (uint32_t i = 0; i < host->cuts.count; i++) {
        const struct weir_partition_cut *const cut = &host->cuts.pending[i];
        const struct weir_gpu *const gpu = weir_cluster_gpu(host->inventory, cut->node, cut->gpu);
        if (host->cuts.away_ns[i] != WEIR_UNKNOWN_TIME || gpu->mig_state.held != 0)
            continue;
        const struct weir_action action = { .size = sizeof(struct weir_action),
                                            .verb = WEIR_VERB_CUT,
                                            .owner = weir_pool_owner(WEIR_NO_INDEX),
                                            .node = cut->node,
                                            .gpu = cut->gpu,
                                            .value = (int64_t)cut->cut,
                                            .choice = WEIR_NO_INDEX };
        WEIR_TRY(weir_plan_append(host->plan, &action));
    }
    return WEIR_OK;
}

weir_status weir_host_cuts_choose(struct weir_host *host)
{
    host->cuts.chosen = 0;
    if (host->preempted_count > 0) /* drained once they are gone, of which somebody may hear late */
        return WEIR_OK;
    WEIR_TRY(choose(host));
    return say_drained(host);
}

weir_status weir_host_cuts_accepted(struct weir_host *host)
{
    struct weir_host_cuts *const cuts = &host->cuts;

    for (uint32_t i = cuts->count - cuts->chosen; i < cuts->count; i++)
        WEIR_TRY(weir_cluster_close_gpu(host->inventory, cuts->pending[i].node,
                                        cuts->pending[i].gpu, true));
    cuts->chosen = 0;
    const uint32_t count = cuts->count == 0 ? 0 : weir_plan_settle(host->plan);
    for (uint32_t i = 0; i < count; i++) {
        const struct weir_action *const action = weir_plan_settled(host->plan, i);
        for (uint32_t c = 0; action->verb == WEIR_VERB_CUT && c < cuts->count; c++)
            if (cuts->pending[c].node == action->node && cuts->pending[c].gpu == action->gpu)
                cuts->away_ns[c] = host->now_ns;
    }
    return WEIR_OK;
}

void weir_host_cuts_dropped(struct weir_host *host)
{
    host->cuts.count -= host->cuts.chosen;
    host->cuts.chosen = 0;
}

weir_status weir_host_cuts_outcome(struct weir_host *host, const struct weir_outcome *outcome,
                                   struct weir_error *error)
{
    struct weir_host_cuts *const cuts = &host->cuts;
    uint32_t index = 0;

    while (index < cuts->count &&
           (cuts->pending[index].node != outcome->node || cuts->pending[index].gpu != outcome->gpu))
        index++;
    if (index == cuts->count || cuts->away_ns[index] == WEIR_UNKNOWN_TIME)
        return weir_fail(error, WEIR_ENOTFOUND, "node %u GPU %u was not to be cut", outcome->node,
                         outcome->gpu);
    const struct weir_partition_cut cut = cuts->pending[index];
    if (cuts->away_ns[index] == host->now_ns && rest(host, &cut, host->now_ns) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    if (outcome->kind == WEIR_OUTCOME_CUT) {
        WEIR_TRY(weir_cluster_cut_gpu(host->inventory, cut.node, cut.gpu, cut.cut, error));
    }
    WEIR_TRY(weir_cluster_close_gpu(host->inventory, cut.node, cut.gpu, false));
    cuts->count--;
    memmove(&cuts->pending[index], &cuts->pending[index + 1],
            (cuts->count - index) * sizeof *cuts->pending);
    memmove(&cuts->away_ns[index], &cuts->away_ns[index + 1],
            (cuts->count - index) * sizeof *cuts->away_ns);
    weir_jobs_unsettle(&host->jobs);
    host->is_dirty = true;
    return WEIR_OK;
}

weir_status weir_host_restore_cut(struct weir_host *host, const struct weir_cut_past *past,
                                  struct weir_error *error)
{
    if (host == NULL || past == NULL)
        return weir_fail(error, WEIR_EINVAL, "no host or no cut");
    WEIR_TRY(weir_size_check(past->size, sizeof *past, "the cut", error));
    const struct weir_gpu *const gpu = weir_cluster_gpu(host->inventory, past->node, past->gpu);
    if (gpu == NULL || gpu->mig == NULL || !weir_mig_is_sound(gpu->mig, past->cut))
        return weir_fail(error, WEIR_EINVAL, "node %u GPU %u is not there or cannot be cut so",
                         past->node, past->gpu);
    const struct weir_partition_cut cut = { past->node, past->gpu, past->cut };
    if (past->is_over != 0)
        return rest(host, &cut, past->since_ns);
    WEIR_TRY(reserve_pending(host));
    host->cuts.pending[host->cuts.count] = cut;
    host->cuts.away_ns[host->cuts.count++] = past->since_ns;
    return weir_cluster_close_gpu(host->inventory, cut.node, cut.gpu, true);
}
