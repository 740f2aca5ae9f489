/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who holds what was asked for: the device that comes nearest to having room for a shape, and the
 * workers on it.
 *
 * Idea: of all nodes that are up, the one that lacks the smallest part of what a worker needs: of
 * the first thing it is short of (CPUs, memory), or of the last GPU it would have to use, the ones
 * that lack least first. The first of equal ones. Left out are nodes that could never hold the
 * worker (no GPU, another type), that have room for it, or where nobody else holds anything; nodes
 * that lack what the denial says come before others. Of a job the ranks that fit are placed first,
 * for a moment: what the next one lacks keeps it waiting. Cost: O(nodes and their GPUs, and ranks)
 * a denial; none with explain off.
 */
#include "sched/cluster/state.h"
#include "sched/host/placer_state.h"
#include "sched/host/state.h"
#include "sched/internal/bits.h"
#include "sched/internal/plan_state.h"
#include "sched/placement/parts/candidates.h"
#include "weir/group.h"

#include <math.h>

enum { HOLDERS_MOST = 4 }; /* a denial */

struct nearest {
    uint32_t node, gpu;
    uint32_t reason;
    double missing; /* part of what is needed */
};

static double missing(int64_t need, int64_t free)
{
    return need > free ? (double)(need - free) / (double)need : 0;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* Of one GPU of the worker, its compute, memory or engines. */
static double missing_on(const struct weir_gpu *gpu, const struct weir_shape *shape)
{
    const int64_t decoders = weir_bit_count(gpu->nvdec_free);
    const int64_t encoders = weir_bit_count(gpu->nvenc_free);
    const double compute = missing(shape->gpu_units, gpu->units_free);
    const double memory = missing(shape->gpu_mem_bytes, gpu->mem_free_bytes);

    if (!weir_shape_takes_type(shape, gpu->type))
        return (double)INFINITY;
    return larger(larger(compute, memory),
                  larger(missing(shape->nvdecs, decoders), missing(shape->nvencs, encoders)));
}

/* The last of the GPUs that a worker would take if it took those that lack least. */
static void look_at_gpus(const struct weir_cluster *cluster, const struct weir_shape *shape,
                         struct nearest *at)
{
    const uint32_t count = weir_cluster_node(cluster, at->node)->gpu_count;
    const uint32_t wanted = shape->gpu_count > 0 ? shape->gpu_count : 1;
    double lacks[WEIR_MAX_NODE_GPUS];

    for (uint32_t g = 0; g < count; g++)
        lacks[g] = missing_on(weir_cluster_gpu(cluster, at->node, g), shape);
    for (uint32_t g = 0; g < count; g++) {
        uint32_t before = 0;
        for (uint32_t o = 0; o < count; o++)
            before += lacks[o] < lacks[g] || (o < g && !(lacks[o] > lacks[g]));
        if (before + 1 != wanted)
            continue;
        at->gpu = g;
        at->missing = lacks[g];
    }
}

static struct nearest look_at_node(const struct weir_cluster *cluster,
                                   const struct weir_shape *shape, uint32_t node)
{
    const struct weir_node *const books = weir_cluster_node(cluster, node);
    struct nearest at = { .node = node,
                          .gpu = WEIR_NO_INDEX,
                          .reason = weir_candidates_reason(cluster, shape, node),
                          .missing = (double)INFINITY };

    switch (at.reason) {
    case WEIR_REASON_NONE:
    case WEIR_REASON_NODE_DOWN:
    case WEIR_REASON_NO_GPU:
    case WEIR_REASON_GPU_TYPE:
    case WEIR_REASON_LABEL:
    case WEIR_REASON_KEPT:
        return at;
    case WEIR_REASON_CPU:
        at.missing = missing(shape->cpu_units, books->cpu_free);
        return at;
    case WEIR_REASON_RAM:
        at.missing = missing(shape->ram_bytes, books->ram_free_bytes);
        return at;
    default:
        look_at_gpus(cluster, shape, &at);
        return at;
    }
}

static bool is_on(const struct weir_worker *worker, uint32_t gpu)
{
    bool found = gpu == WEIR_NO_INDEX;

    for (uint32_t d = 0; d < worker->alloc.device_count; d++)
        found = found || worker->alloc.devices[d].gpu == gpu;
    return found;
}

/* The next worker of another owner there, from the cursor on. */
static bool next_holder(const struct weir_cluster *cluster, const struct nearest *at,
                        struct weir_holder *holder, uint32_t *cursor)
{
    struct weir_worker worker;

    while (weir_cluster_node_worker(cluster, at->node, cursor, &worker)) {
        if (!is_on(&worker, at->gpu) || weir_owner_is(&worker.owner, &holder->denied))
            continue;
        holder->owner = worker.owner;
        holder->worker = worker.id;
        return true;
    }
    return false;
}

static bool is_of_gpus(uint32_t reason)
{
    return reason == WEIR_REASON_GPU_FREE || reason == WEIR_REASON_GPU_WHOLE;
}

static bool is_meant(const struct nearest *at, uint32_t reason)
{
    return at->reason == reason || (is_of_gpus(at->reason) && is_of_gpus(reason));
}

/* Whether a node tells more than the best one so far. */
static bool is_nearer(const struct nearest *at, const struct nearest *best, uint32_t reason)
{
    if (!(at->missing < (double)INFINITY))
        return false;
    if (best->node == WEIR_NO_INDEX || is_meant(at, reason) == is_meant(best, reason))
        return at->missing < best->missing;
    return is_meant(at, reason);
}

/* A rank placed for a moment is in the way of the next one. */
static bool is_taken(const struct weir_cluster *cluster, uint32_t node,
                     const struct weir_denied *denied)
{
    struct weir_worker worker;
    uint32_t cursor = 0;

    while (denied->is_apart != 0 && weir_cluster_node_worker(cluster, node, &cursor, &worker))
        if (weir_owner_is(&worker.owner, &denied->owner))
            return true;
    return false;
}

weir_status weir_note_holders(struct weir_plan *plan, const struct weir_cluster *cluster,
                              const struct weir_shape *shape, const struct weir_denied *denied)
{
    const uint32_t nodes = weir_cluster_node_count(cluster);
    struct nearest best = { .node = WEIR_NO_INDEX, .missing = (double)INFINITY };
    struct weir_holder holder = { .denied = denied->owner };
    uint32_t cursor = 0;

    if (weir_plan_explain(plan) == WEIR_EXPLAIN_OFF)
        return WEIR_OK;
    for (uint32_t n = 0; n < nodes; n++, cursor = 0) {
        const struct nearest at = look_at_node(cluster, shape, n);
        if (is_nearer(&at, &best, denied->reason) && !is_taken(cluster, n, denied) &&
            next_holder(cluster, &at, &holder, &cursor))
            best = at;
    }
    holder.node = best.node;
    holder.gpu = best.gpu;
    for (uint32_t i = 0; best.node != WEIR_NO_INDEX && i < HOLDERS_MOST &&
                         next_holder(cluster, &best, &holder, &cursor);
         i++)
        WEIR_TRY(weir_plan_holder(plan, &holder));
    return WEIR_OK;
}

/* ---- a job ---- */

/* All ranks on one node, as one worker. */
static struct weir_shape joined(const struct weir_job_kind *kind)
{
    struct weir_shape shape = kind->groups[0].shape;

    for (uint32_t g = 1; g < kind->group_count; g++)
        if (kind->groups[g].shape.gpu_count > shape.gpu_count)
            shape = kind->groups[g].shape;
    shape.cpu_units = kind->need.cpu_units;
    shape.ram_bytes = kind->need.ram_bytes;
    shape.gpu_count = (uint32_t)((kind->need.gpu_units + WEIR_ONE - 1) / WEIR_ONE);
    return shape;
}

/* Places ranks of a group on the scratch, node after node; returns how many found no place. */
static uint32_t place_ranks(struct weir_cluster *scratch, const struct weir_rank_group *group,
                            uint64_t *worker, const struct weir_denied *denied)
{
    const uint32_t nodes = weir_cluster_node_count(scratch);
    struct weir_alloc alloc;
    uint32_t left = group->ranks;

    for (uint32_t node = 0; node < nodes && left > 0;) {
        const bool fits =
            weir_place_first(scratch, node, &group->shape, &alloc) == WEIR_OK &&
            weir_cluster_add_worker(scratch, *worker, denied->owner, &alloc, NULL) == WEIR_OK;
        left -= fits;
        *worker += fits;
        node += !fits || denied->is_apart != 0;
    }
    return left;
}

weir_status weir_note_job_holders(struct weir_plan *plan, struct weir_cluster *scratch,
                                  const struct weir_job_kind *kind,
                                  const struct weir_denied *denied)
{
    uint64_t worker = weir_plan_next_worker(plan);
    weir_status status = WEIR_OK;

    if (weir_plan_explain(plan) == WEIR_EXPLAIN_OFF || kind->group_count == 0)
        return WEIR_OK;
    if (kind->strategy == WEIR_GROUP_STRICT_PACK + 1) {
        const struct weir_shape shape = joined(kind);
        return weir_note_holders(plan, scratch, &shape, denied);
    }
    if (kind->ranks == 1)
        return weir_note_holders(plan, scratch, &kind->groups[0].shape, denied);
    WEIR_TRY(weir_cluster_mark(scratch));
    for (uint32_t g = 0; g < kind->group_count; g++) {
        if (place_ranks(scratch, &kind->groups[g], &worker, denied) == 0)
            continue;
        status = weir_note_holders(plan, scratch, &kind->groups[g].shape, denied);
        break;
    }
    weir_cluster_rollback(scratch);
    return status;
}

/* ---- a limit ---- */

/* Whether a job of `other` holds what keeps one of `kind` waiting. */
static bool is_in_the_way(const struct weir_jobs *jobs, const struct weir_job_kind *kind,
                          const struct weir_job_kind *other)
{
    if (kind->blocked_by != WEIR_BY_LICENCE)
        return weir_tenants_is_within(&jobs->tenants, other->tenant, kind->blocked_by);
    for (uint32_t i = 0; i < jobs->licences.count; i++) {
        const struct weir_licence_entry *const licence = &jobs->licences.all[i];
        if (kind->licences[i] > 0 && other->licences[i] > 0 &&
            licence->used + kind->licences[i] > licence->limit)
            return true;
    }
    return false;
}

weir_status weir_note_limit_holders(struct weir_host *host, const struct weir_job_kind *kind,
                                    struct weir_owner denied)
{
    const uint32_t nodes = weir_cluster_node_count(host->inventory);
    struct weir_holder holder = { .denied = denied, .gpu = WEIR_NO_INDEX };
    struct weir_worker worker;
    uint32_t noted = 0;

    if (weir_plan_explain(host->plan) == WEIR_EXPLAIN_OFF)
        return WEIR_OK;
    for (holder.node = 0; holder.node < nodes; holder.node++) {
        uint32_t cursor = 0;
        while (noted < HOLDERS_MOST &&
               weir_cluster_node_worker(host->inventory, holder.node, &cursor, &worker)) {
            const uint32_t record =
                worker.owner.kind != WEIR_OWNER_JOB
                    ? WEIR_NO_INDEX
                    : weir_jobs_find(&host->jobs, worker.owner.index, worker.owner.id);
            if (record == WEIR_NO_INDEX ||
                !is_in_the_way(&host->jobs, kind,
                               &host->jobs.kinds[host->jobs.records[record].kind]))
                continue;
            holder.owner = worker.owner;
            holder.worker = worker.id;
            WEIR_TRY(weir_plan_holder(host->plan, &holder));
            noted++;
        }
    }
    return WEIR_OK;
}
