/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory of nodes in time; see the header. */
#include "sim/cluster/memory.h"

#include "sim/cluster/compute.h"
#include "sim/cluster/gpu_pools.h"

#include <assert.h>
#include <math.h>

static int64_t store_room(const struct sim_cluster *cluster, const struct sim_node *node)
{
    return node->ram_total_bytes == 0
               ? INT64_MAX
               : llround(cluster->scenario->memory.store_frac * (double)node->ram_total_bytes);
}

static int64_t stored(const struct sim_cluster *cluster, const struct sim_node *node)
{
    const int64_t room = store_room(cluster, node);
    return node->store_bytes < room ? node->store_bytes : room;
}

void sim_memory_note(struct sim_cluster *cluster, uint32_t node)
{
    struct sim_node *host = &cluster->nodes[node];
    if (host->has_grown)
        return;
    host->has_grown = true;
    host->next_grown = cluster->first_grown;
    cluster->first_grown = node + 1;
}

void sim_memory_work(struct sim_cluster *cluster, uint32_t node, int64_t bytes)
{
    cluster->nodes[node].work_bytes += bytes;
    assert(cluster->nodes[node].work_bytes >= 0);
    if (bytes > 0)
        sim_memory_note(cluster, node);
}

int64_t sim_memory_store(struct sim_cluster *cluster, uint32_t node, int64_t bytes)
{
    struct sim_node *host = &cluster->nodes[node];
    const int64_t on_disk = host->store_bytes - stored(cluster, host);
    host->store_bytes += bytes;
    assert(host->store_bytes >= 0);
    if (bytes > 0)
        sim_memory_note(cluster, node);
    const int64_t more = host->store_bytes - stored(cluster, host) - on_disk;
    return more > 0 ? more : 0;
}

int64_t sim_memory_in_use(const struct sim_cluster *cluster, uint32_t node)
{
    const struct sim_node *host = &cluster->nodes[node];
    return host->ram_used_bytes + host->work_bytes + stored(cluster, host);
}

/* Ray: above max(f total, total - min_free). */
static double limit_of(const struct sim_memory *memory, double total)
{
    return total > 0 && memory->rule == SIM_MEMORY_MONITOR
               ? fmax(memory->threshold * total, total - (double)memory->min_free_bytes)
               : total;
}

double sim_memory_limit(const struct sim_cluster *cluster, uint32_t node)
{
    return limit_of(&cluster->scenario->memory, (double)cluster->nodes[node].ram_total_bytes);
}

bool sim_memory_is_over(const struct sim_cluster *cluster, uint32_t node)
{
    const double limit = sim_memory_limit(cluster, node);
    return limit > 0 && (double)sim_memory_in_use(cluster, node) > limit;
}

uint32_t sim_memory_next(struct sim_cluster *cluster)
{
    if (cluster->first_grown == 0)
        return WEIR_NO_INDEX;
    const uint32_t node = cluster->first_grown - 1;
    cluster->first_grown = cluster->nodes[node].next_grown;
    cluster->nodes[node].has_grown = false;
    return node;
}

/* ---- GPUs ---- */

static struct sim_gpu *gpu_of(const struct sim_cluster *cluster, const struct sim_lease *lease,
                              uint32_t u)
{
    return &cluster->gpus[cluster->nodes[lease->node].gpu_first + lease->claim->parts[u].use.gpu];
}

static enum sim_gpu_memory look(const struct sim_cluster *cluster, const struct sim_lease *lease,
                                uint32_t u, int64_t bytes)
{
    const struct sim_gpu *gpu = gpu_of(cluster, lease, u);
    const struct sim_use *use = &lease->claim->parts[u].use;
    const uint32_t tenant = lease->claim->tenant;
    if (!sim_pools_allow(cluster, tenant, use->mem_bytes + bytes))
        return SIM_GPU_MEMORY_SHORT;
    if (use->slice != NULL && use->mem_bytes + bytes > use->slice->mem_bytes)
        return SIM_GPU_MEMORY_SHORT;
    if (gpu->mem_total_bytes > 0 &&
        gpu->mem_used_bytes + sim_pools_kept(cluster, gpu, tenant) + bytes > gpu->mem_total_bytes)
        return SIM_GPU_MEMORY_SHORT;
    return sim_extents_fit(cluster, gpu, bytes) ? SIM_GPU_MEMORY_TAKEN : SIM_GPU_MEMORY_SCATTERED;
}

static void book(struct sim_cluster *cluster, struct sim_extent_owner owner, int64_t bytes)
{
    const struct sim_lease *lease = owner.lease;
    for (uint32_t u = 0; u < lease->claim->use_count; u++) {
        struct sim_gpu *gpu = gpu_of(cluster, lease, u);
        gpu->mem_used_bytes += bytes;
        sim_pools_book(cluster, gpu, lease->claim->tenant, bytes);
        sim_extents_book(cluster, gpu, owner, bytes);
        assert(gpu->mem_used_bytes >= 0);
        sim_compute_memory(cluster, &cluster->nodes[lease->node], gpu);
    }
}

enum sim_gpu_memory sim_memory_take(struct sim_cluster *cluster, struct sim_extent_owner owner,
                                    int64_t bytes)
{
    enum sim_gpu_memory found = SIM_GPU_MEMORY_TAKEN;
    for (uint32_t u = 0; u < owner.lease->claim->use_count && found == SIM_GPU_MEMORY_TAKEN; u++)
        found = look(cluster, owner.lease, u, bytes);
    if (found == SIM_GPU_MEMORY_TAKEN)
        book(cluster, owner, bytes);
    return found;
}

void sim_memory_give(struct sim_cluster *cluster, const struct sim_lease *lease, int64_t bytes)
{
    book(cluster, (struct sim_extent_owner){ .lease = lease, .is_work = true }, -bytes);
}
