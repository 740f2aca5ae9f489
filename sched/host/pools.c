/* SPDX-License-Identifier: Apache-2.0 */
/* The pools of a host as policies see them (see pools.h). */
#include "sched/host/pools.h"

#include "sched/internal/hash.h"

static uint64_t checksum(const struct weir_pool_view *pool)
{
    uint64_t hash = weir_hash_add((uint64_t)pool->workers << 32 | pool->slots, pool->queued_items);

    hash = weir_hash_add(hash, (uint64_t)pool->shape.cpu_units);
    hash = weir_hash_add(hash, (uint64_t)pool->shape.gpu_units << 8 | pool->shape.kind);
    hash = weir_hash_add(hash, (uint64_t)pool->shape.nvdecs << 32 | pool->shape.nvencs);
    return weir_hash_add(hash, (uint64_t)pool->requested_workers << 32 | pool->batch_size);
}

void weir_pools_begin(struct weir_pools *pools, int64_t now_ns)
{
    pools->round++;
    pools->now_ns = now_ns;
    pools->read_count = 0;
}

const struct weir_pool_view *weir_pools_read(struct weir_pools *pools, uint32_t index)
{
    struct weir_host_pool *const pool = &pools->pools[index];
    struct weir_pool_view *const view = &pools->views[index];

    if (pool->round == pools->round)
        return view;
    view->workers = weir_cluster_pool_workers(pools->inventory, index);
    view->estimate =
        pool->has_given ? pool->given : weir_estimator_query(pool->estimator, pools->now_ns);
    pool->round = pools->round;
    pool->sum = checksum(view);
    pools->read[pools->read_count++] = index;
    return view;
}

bool weir_pools_are_whole(const struct weir_pools *pools)
{
    for (uint32_t i = 0; i < pools->read_count; i++) {
        const uint32_t index = pools->read[i];
        if (pools->pools[index].sum != checksum(&pools->views[index]))
            return false;
    }
    return true;
}
