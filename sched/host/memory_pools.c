/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of GPUs that is kept for tenants (see memory_pools.h). */
#include "sched/host/memory_pools.h"

#include "sched/cluster/state.h"
#include "sched/host/jobs.h"
#include "sched/internal/alloc.h"

#include <string.h>

void weir_memory_pools_close(struct weir_memory_pools *pools,
                             const struct weir_allocator *allocator)
{
    weir_free(allocator, pools->kept);
}

/* The pool that a worker may use; 0 = none. */
static uint32_t pool_of(const struct weir_jobs *jobs, const struct weir_worker *worker)
{
    const uint32_t record = worker->owner.kind == WEIR_OWNER_JOB
                                ? weir_jobs_find(jobs, worker->owner.index, worker->owner.id)
                                : WEIR_NO_INDEX;

    if (record == WEIR_NO_INDEX)
        return 0;
    return weir_tenants_pool(&jobs->tenants,
                             weir_tenants_of(&jobs->tenants, jobs->records[record].tenant));
}

/* What those it belongs to leave unused of one pool, on every GPU of a node. */
static void add_unused(const struct weir_jobs *jobs, const struct weir_cluster *scratch,
                       uint32_t node, uint32_t pool, int64_t wanted[WEIR_MAX_NODE_GPUS])
{
    const int64_t bytes = jobs->tenants.all[pool].gpu_pool_bytes;
    int64_t used[WEIR_MAX_NODE_GPUS] = { 0 };
    struct weir_worker worker;
    uint32_t cursor = 0;

    while (weir_cluster_node_worker(scratch, node, &cursor, &worker)) {
        if (pool_of(jobs, &worker) != pool)
            continue;
        for (uint32_t d = 0; d < worker.alloc.device_count; d++)
            used[worker.alloc.devices[d].gpu] += worker.alloc.devices[d].mem_bytes;
    }
    for (uint32_t g = 0; g < scratch->nodes[node].gpu_count; g++)
        wanted[g] += used[g] < bytes ? bytes - used[g] : 0;
}

/* GPUs that are cut have memory by instance, which no pool is a part of. */
static void keep_on(struct weir_memory_pools *pools, struct weir_cluster *scratch, uint32_t node,
                    const int64_t wanted[WEIR_MAX_NODE_GPUS])
{
    const struct weir_node *const host = &scratch->nodes[node];

    for (uint32_t g = 0; g < host->gpu_count; g++) {
        const struct weir_gpu *const gpu = &scratch->gpus[host->gpu_first + g];
        int64_t *const kept = &pools->kept[host->gpu_first + g];
        const int64_t free = gpu->mig != NULL ? 0 : gpu->mem_free_bytes + *kept;
        const int64_t most = free > 0 ? free : 0;
        const int64_t keeps = wanted[g] < most ? wanted[g] : most;
        if (keeps == *kept)
            continue;
        weir_ledger_keep_memory(scratch, node, g, keeps - *kept);
        *kept = keeps;
    }
}

void weir_memory_pools_let(struct weir_jobs *jobs, struct weir_cluster *scratch, uint32_t tenant)
{
    const uint32_t open =
        weir_tenants_pool(&jobs->tenants, weir_tenants_of(&jobs->tenants, tenant));

    for (uint32_t n = 0; n < scratch->node_count; n++) {
        int64_t wanted[WEIR_MAX_NODE_GPUS] = { 0 };
        for (uint32_t t = 1; t < jobs->tenants.count; t++)
            if (t != open && jobs->tenants.all[t].gpu_pool_bytes > 0)
                add_unused(jobs, scratch, n, t, wanted);
        keep_on(&jobs->memory_pools, scratch, n, wanted);
    }
}

weir_status weir_memory_pools_begin(struct weir_jobs *jobs, struct weir_cluster *scratch)
{
    struct weir_memory_pools *const pools = &jobs->memory_pools;

    if (!jobs->tenants.has_pools)
        return WEIR_OK;
    WEIR_ROOM(&jobs->allocator, pools->kept, pools->capacity, scratch->gpu_count + 1);
    memset(pools->kept, 0, scratch->gpu_count * sizeof *pools->kept);
    pools->is_kept = true;
    weir_memory_pools_let(jobs, scratch, 0);
    return WEIR_OK;
}

void weir_memory_pools_end(struct weir_jobs *jobs, struct weir_cluster *scratch)
{
    static const int64_t nothing[WEIR_MAX_NODE_GPUS];

    for (uint32_t n = 0; jobs->memory_pools.is_kept && n < scratch->node_count; n++)
        keep_on(&jobs->memory_pools, scratch, n, nothing);
    jobs->memory_pools.is_kept = false;
}
