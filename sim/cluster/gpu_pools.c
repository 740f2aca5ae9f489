/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory of GPUs that belongs to tenants; see the header. */
#include "sim/cluster/gpu_pools.h"

#include "sim/record/meter/meter_tenants.h"

#include <assert.h>
#include <stdlib.h>

/* A pool of the scenario and what is in use of it. */
struct sim_pool {
    uint32_t tenant;
    int64_t bytes;
    double idle_bytes; /* over all GPUs */
    int64_t *used;     /* by GPU */
};

/* Of a GPU that is cut every instance has its own, and of one whose memory is not known nothing is
 * counted. */
static bool is_pooled(const struct sim_gpu *gpu)
{
    return gpu->mig == NULL && gpu->mem_total_bytes > 0;
}

weir_status sim_pools_open(struct sim_cluster *cluster)
{
    const struct sim_scenario *scenario = cluster->scenario;
    cluster->pools = calloc(scenario->tenants_count + 1, sizeof(*cluster->pools));
    if (cluster->pools == NULL)
        return WEIR_ENOMEM;
    for (size_t t = 0; t < scenario->tenants_count; t++) {
        if (scenario->tenants[t].pool_bytes == 0)
            continue;
        struct sim_pool *pool = &cluster->pools[cluster->pool_count++];
        *pool = (struct sim_pool){ .tenant = (uint32_t)t + 1,
                                   .bytes = scenario->tenants[t].pool_bytes,
                                   .used = calloc(cluster->gpu_count + 1, sizeof(int64_t)) };
        if (pool->used == NULL)
            return WEIR_ENOMEM;
        for (uint32_t g = 0; g < cluster->gpu_count; g++)
            pool->idle_bytes += is_pooled(&cluster->gpus[g]) ? (double)pool->bytes : 0;
    }
    return WEIR_OK;
}

void sim_pools_close(struct sim_cluster *cluster)
{
    for (uint32_t p = 0; p < cluster->pool_count; p++)
        free(cluster->pools[p].used);
    free(cluster->pools);
}

/* The pool that a tenant uses; 0 = none. */
static uint32_t pool_of(const struct sim_cluster *cluster, uint32_t tenant)
{
    return tenant == 0 ? 0 : cluster->scenario->tenants[tenant - 1].pool;
}

static int64_t idle_of(const struct sim_pool *pool, int64_t used)
{
    return used < pool->bytes ? pool->bytes - used : 0;
}

int64_t sim_pools_kept(const struct sim_cluster *cluster, const struct sim_gpu *gpu,
                       uint32_t tenant)
{
    const uint32_t own = pool_of(cluster, tenant);
    int64_t kept = 0;
    for (uint32_t p = 0; p < cluster->pool_count && is_pooled(gpu); p++)
        if (cluster->pools[p].tenant != own)
            kept += idle_of(&cluster->pools[p], cluster->pools[p].used[gpu - cluster->gpus]);
    return kept;
}

void sim_pools_book(struct sim_cluster *cluster, const struct sim_gpu *gpu, uint32_t tenant,
                    int64_t bytes)
{
    const uint32_t own = pool_of(cluster, tenant);
    for (uint32_t p = 0; p < cluster->pool_count && own != 0 && is_pooled(gpu); p++) {
        struct sim_pool *pool = &cluster->pools[p];
        int64_t *used = &pool->used[gpu - cluster->gpus];
        if (pool->tenant != own)
            continue;
        pool->idle_bytes += (double)(idle_of(pool, *used + bytes) - idle_of(pool, *used));
        *used += bytes;
        assert(*used >= 0);
    }
}

bool sim_pools_allow(const struct sim_cluster *cluster, uint32_t tenant, int64_t bytes)
{
    return tenant == 0 || bytes <= cluster->scenario->tenants[tenant - 1].process_bytes;
}

void sim_pools_meter(const struct sim_cluster *cluster, struct sim_meter *meter, int64_t now_ns)
{
    for (uint32_t p = 0; p < cluster->pool_count; p++)
        sim_meter_tenant_pool(meter, now_ns, cluster->pools[p].tenant,
                              cluster->pools[p].idle_bytes);
}

weir_status sim_pools_check(const struct sim_cluster *cluster, struct weir_error *error)
{
    for (uint32_t g = 0; g < cluster->gpu_count; g++) {
        int64_t used = 0;
        for (uint32_t p = 0; p < cluster->pool_count; p++)
            used += cluster->pools[p].used[g];
        if (used > cluster->gpus[g].mem_used_bytes)
            return weir_fail(error, WEIR_EINVARIANT,
                             "GPU %u: pools have %lld bytes in use, all workers %lld", g,
                             (long long)used, (long long)cluster->gpus[g].mem_used_bytes);
    }
    return WEIR_OK;
}
