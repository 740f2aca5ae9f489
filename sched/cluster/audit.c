/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The audit: recomputes from the workers what every device must have free and compares it with the
 * books, the roster and the sums. It shares no arithmetic with ledger.c.
 */
#include "sched/cluster/state.h"

#include "sched/internal/alloc.h"
#include "sched/internal/bits.h"

/* What the workers hold, GPU by GPU and node by node. */
struct held {
    struct weir_gpu *gpus; /* only the *_free fields are used, counting down from the totals */
    int64_t *cpu_units;
    int64_t *ram_bytes;
};

/* The instance of a device in its GPU's layout; the slots are compared one by one. */
static bool take_instance(struct weir_gpu *gpu, const struct weir_device *device)
{
    const struct weir_mig *const table = gpu->mig;
    const uint32_t profile = weir_device_profile(device);
    const uint32_t start = weir_device_start(device);

    if (table == NULL || device->mig == 0)
        return table == NULL && device->mig == 0;
    if (profile >= table->profile_count)
        return false;
    for (uint32_t s = 0; s < table->slots; s++) {
        const int other = weir_mig_at(gpu->mig_state.held, s);
        const uint32_t end = other < 0 ? 0 : s + table->profiles[other].slots;
        if (end > start && s < start + table->profiles[profile].slots)
            return false;
    }
    gpu->mig_state.held |= weir_mig_instance(profile, start);
    return true;
}

static weir_status take_device(const struct weir_cluster *cluster, const struct held *held,
                               const struct weir_worker_slot *worker,
                               const struct weir_device *device, struct weir_error *error)
{
    const struct weir_node *const node = &cluster->nodes[worker->node];

    if (device->gpu >= node->gpu_count)
        return weir_fail(error, WEIR_EINVARIANT, "worker %llu holds GPU %u of %u",
                         (unsigned long long)worker->id, device->gpu, node->gpu_count);
    struct weir_gpu *const gpu = &held->gpus[node->gpu_first + device->gpu];
    if ((device->nvdec_mask & ~gpu->nvdec_free) || (device->nvenc_mask & ~gpu->nvenc_free))
        return weir_fail(error, WEIR_EINVARIANT,
                         "node %llu GPU %u: worker %llu holds an engine twice or beyond the total",
                         (unsigned long long)node->id, device->gpu, (unsigned long long)worker->id);
    if (!take_instance(gpu, device))
        return weir_fail(error, WEIR_EINVARIANT,
                         "node %llu GPU %u: the MIG instance of worker %llu overlaps another or "
                         "does not exist",
                         (unsigned long long)node->id, device->gpu, (unsigned long long)worker->id);
    gpu->nvdec_free &= ~device->nvdec_mask;
    gpu->nvenc_free &= ~device->nvenc_mask;
    gpu->units_free -= device->units;
    gpu->mem_free_bytes -= device->mem_bytes;
    return WEIR_OK;
}

static weir_status take_workers(const struct weir_cluster *cluster, const struct held *held,
                                struct weir_error *error)
{
    uint32_t found = 0;

    for (uint32_t s = 0; s < cluster->slot_count; s++) {
        const struct weir_worker_slot *const worker = &cluster->slots[s];
        if (worker->state == WEIR_SLOT_FREE)
            continue;
        found++;
        if (weir_id_table_find(&cluster->worker_ids, worker->id) != s)
            return weir_fail(error, WEIR_EINVARIANT, "worker %llu is not in the table",
                             (unsigned long long)worker->id);
        held->cpu_units[worker->node] += worker->cpu_units;
        held->ram_bytes[worker->node] += worker->ram_bytes;
        for (uint32_t d = 0; d < worker->device_count; d++)
            WEIR_TRY(take_device(cluster, held, worker,
                                 d == 0 ? &worker->first : weir_slot_more(cluster, worker) + d - 1,
                                 error));
    }
    if (found != cluster->worker_count || found != cluster->worker_ids.count)
        return weir_fail(error, WEIR_EINVARIANT, "%u workers found, %u counted, %u in the table",
                         found, cluster->worker_count, cluster->worker_ids.count);
    return WEIR_OK;
}

/* What must be free of a GPU: nothing when it is unhealthy. */
static struct weir_gpu offered(const struct weir_gpu *recomputed)
{
    struct weir_gpu offered = *recomputed;

    if ((recomputed->is_closed & WEIR_GPU_UNHEALTHY) == 0)
        return offered;
    offered.units_free = 0;
    offered.mem_free_bytes = 0;
    offered.nvdec_free = 0;
    offered.nvenc_free = 0;
    return offered;
}

static weir_status compare_gpu(const struct weir_gpu *books, const struct weir_gpu *held,
                               uint64_t node_id, uint32_t index, struct weir_error *error)
{
    const struct weir_gpu expected = offered(held);
    const struct weir_gpu *const recomputed = &expected;

    if (books->units_free == recomputed->units_free && books->units_free >= 0 &&
        books->units_free <= books->units_total &&
        books->mem_free_bytes == recomputed->mem_free_bytes && books->mem_free_bytes >= 0 &&
        books->mem_free_bytes <= books->mem_total_bytes &&
        books->nvdec_free == recomputed->nvdec_free &&
        books->nvenc_free == recomputed->nvenc_free &&
        books->mig_state.held == recomputed->mig_state.held)
        return WEIR_OK;
    return weir_fail(error, WEIR_EINVARIANT,
                     "node %llu GPU %u: books say %lld units, %lld bytes, engines %x/%x free; "
                     "workers leave %lld, %lld, %x/%x",
                     (unsigned long long)node_id, index, (long long)books->units_free,
                     (long long)books->mem_free_bytes, books->nvdec_free, books->nvenc_free,
                     (long long)recomputed->units_free, (long long)recomputed->mem_free_bytes,
                     recomputed->nvdec_free, recomputed->nvenc_free);
}

static weir_status compare_node(const struct weir_cluster *cluster, const struct held *held,
                                uint32_t index, struct weir_error *error)
{
    const struct weir_node *const node = &cluster->nodes[index];

    if ((node->flags & WEIR_NODE_REMOVED) != 0 &&
        (node->flags != WEIR_NODE_REMOVED || node->gpu_count != 0 || node->cpu_total != 0 ||
         node->ram_total_bytes != 0 || weir_id_table_find(&cluster->node_ids, node->id) == index))
        return weir_fail(error, WEIR_EINVARIANT, "node index %u: was removed and is not empty",
                         index);
    if (node->cpu_free != node->cpu_total - held->cpu_units[index] || node->cpu_free < 0 ||
        node->ram_free_bytes != node->ram_total_bytes - held->ram_bytes[index] ||
        node->ram_free_bytes < 0)
        return weir_fail(error, WEIR_EINVARIANT,
                         "node %llu: books say %lld CPU units and %lld bytes free, workers leave "
                         "%lld and %lld",
                         (unsigned long long)node->id, (long long)node->cpu_free,
                         (long long)node->ram_free_bytes,
                         (long long)(node->cpu_total - held->cpu_units[index]),
                         (long long)(node->ram_total_bytes - held->ram_bytes[index]));
    if (node->version != weir_ledger_version(cluster, index) ||
        cluster->lists[index].likeness != weir_ledger_likeness(cluster, index))
        return weir_fail(error, WEIR_EINVARIANT, "node %llu: stale version",
                         (unsigned long long)node->id);
    for (uint32_t g = 0; g < node->gpu_count; g++)
        WEIR_TRY(compare_gpu(&cluster->gpus[node->gpu_first + g], &held->gpus[node->gpu_first + g],
                             node->id, g, error));
    return WEIR_OK;
}

static bool same_amounts(const struct weir_amounts *a, const struct weir_amounts *b)
{
    return a->cpu_units == b->cpu_units && a->ram_bytes == b->ram_bytes &&
           a->gpu_units == b->gpu_units && a->gpu_mem_bytes == b->gpu_mem_bytes &&
           a->nvdecs == b->nvdecs && a->nvencs == b->nvencs;
}

/* `held` has the GPU's free amounts as its workers leave them. */
static void sum_gpu(const struct weir_gpu *gpu, const struct weir_gpu *held,
                    struct weir_amounts *total, struct weir_amounts *free)
{
    const bool is_ill = (gpu->is_closed & WEIR_GPU_UNHEALTHY) != 0;

    total->gpu_units += gpu->units_total - (is_ill ? held->units_free : 0);
    total->gpu_mem_bytes += gpu->mem_total_bytes - (is_ill ? held->mem_free_bytes : 0);
    total->nvdecs += weir_bit_count(gpu->nvdec_all & ~(is_ill ? held->nvdec_free : 0));
    total->nvencs += weir_bit_count(gpu->nvenc_all & ~(is_ill ? held->nvenc_free : 0));
    free->gpu_units += gpu->units_free;
    free->gpu_mem_bytes += gpu->mem_free_bytes;
    free->nvdecs += weir_bit_count(gpu->nvdec_free);
    free->nvencs += weir_bit_count(gpu->nvenc_free);
}

static weir_status compare_sums(const struct weir_cluster *cluster, const struct held *held,
                                struct weir_error *error)
{
    struct weir_amounts total = { .cpu_units = 0 };
    struct weir_amounts free = { .cpu_units = 0 };

    for (uint32_t n = 0; n < cluster->node_count; n++) {
        const struct weir_node *const node = &cluster->nodes[n];
        if (!(node->flags & WEIR_NODE_UP))
            continue;
        total.cpu_units += node->cpu_total;
        total.ram_bytes += node->ram_total_bytes;
        free.cpu_units += node->cpu_free;
        free.ram_bytes += node->ram_free_bytes;
        for (uint32_t g = 0; g < node->gpu_count; g++)
            sum_gpu(&cluster->gpus[node->gpu_first + g], &held->gpus[node->gpu_first + g], &total,
                    &free);
    }
    if (!same_amounts(&free, &cluster->free))
        return weir_fail(error, WEIR_EINVARIANT, "the sum of free amounts differs from the nodes'");
    if (!same_amounts(&total, &cluster->total))
        return weir_fail(error, WEIR_EINVARIANT, "the sum of amounts differs from the nodes'");
    return WEIR_OK;
}

/* Every worker is in its node's list, and in that of its peers. */
static weir_status compare_node_lists(const struct weir_cluster *cluster, uint32_t listed,
                                      struct weir_error *error)
{
    uint32_t peers = 0;

    for (uint32_t n = 0; n < cluster->node_count; n++) {
        for (uint32_t s = cluster->lists[n].first; s != WEIR_NO_INDEX;
             s = cluster->slots[s].node_next) {
            const struct weir_worker_slot *const worker = &cluster->slots[s];
            if (worker->node != n || listed == 0)
                return weir_fail(error, WEIR_EINVARIANT, "node index %u: list is broken", n);
            listed--;
            peers += worker->peer_previous == WEIR_NO_INDEX;
            if ((worker->peer_previous == WEIR_NO_INDEX) !=
                (weir_first_peer(cluster, n, &worker->owner) == s))
                return weir_fail(error, WEIR_EINVARIANT, "node index %u stage %u: list is broken",
                                 n, worker->owner.index);
        }
    }
    if (listed != 0 || peers != cluster->peers.count)
        return weir_fail(error, WEIR_EINVARIANT, "%u workers in no node's list, %u of %u lists",
                         listed, peers, cluster->peers.count);
    return WEIR_OK;
}

static uint32_t workers_of_pools(const struct weir_cluster *cluster)
{
    uint32_t count = 0;

    for (uint32_t s = 0; s < cluster->slot_count; s++)
        count += cluster->slots[s].state != WEIR_SLOT_FREE &&
                 cluster->slots[s].owner.kind == WEIR_OWNER_POOL;
    return count;
}

static weir_status compare_lists(const struct weir_cluster *cluster, struct weir_error *error)
{
    uint32_t listed = 0;

    for (uint32_t s = 0; s < cluster->pool_count; s++) {
        struct weir_pool_list *const list = &cluster->pools[s];
        const struct weir_worker_slot *last = NULL;
        listed += list->count;
        for (uint32_t i = 0; i < list->count; i++) {
            const struct weir_worker_slot *const worker =
                &cluster->slots[weir_pool_list_at(list, i)];
            if (worker->owner.kind != WEIR_OWNER_POOL || worker->owner.index != s ||
                (last != NULL && last->sequence >= worker->sequence))
                return weir_fail(error, WEIR_EINVARIANT, "stage %u: list is broken at %u", s, i);
            last = worker;
        }
    }
    if (listed != workers_of_pools(cluster))
        return weir_fail(error, WEIR_EINVARIANT, "%u of %u workers of stages are in a list", listed,
                         workers_of_pools(cluster));
    return compare_node_lists(cluster, cluster->worker_count, error);
}

static weir_status compare_all(const struct weir_cluster *cluster, const struct held *held,
                               struct weir_error *error)
{
    for (uint32_t g = 0; g < cluster->gpu_count; g++) {
        struct weir_gpu *const gpu = &held->gpus[g];
        *gpu = cluster->gpus[g];
        gpu->units_free = gpu->units_total;
        gpu->mem_free_bytes = gpu->mem_total_bytes;
        gpu->nvdec_free = gpu->nvdec_all;
        gpu->nvenc_free = gpu->nvenc_all;
        gpu->mig_state.held = 0;
    }
    WEIR_TRY(take_workers(cluster, held, error));
    for (uint32_t n = 0; n < cluster->node_count; n++)
        WEIR_TRY(compare_node(cluster, held, n, error));
    WEIR_TRY(compare_sums(cluster, held, error));
    return compare_lists(cluster, error);
}

weir_status weir_cluster_check(const struct weir_cluster *cluster, struct weir_error *error)
{
    const struct weir_allocator *const memory = &cluster->allocator;
    if (weir_cluster_broken(cluster) > 0)
        return weir_fail(error, WEIR_EINVARIANT, "%u invariants did not hold",
                         weir_cluster_broken(cluster));
    const struct held held = {
        .gpus = weir_alloc(memory, cluster->gpu_count, sizeof *held.gpus),
        .cpu_units = weir_alloc(memory, cluster->node_count, sizeof *held.cpu_units),
        .ram_bytes = weir_alloc(memory, cluster->node_count, sizeof *held.ram_bytes),
    };
    weir_status status;

    if (held.gpus == NULL || held.cpu_units == NULL || held.ram_bytes == NULL)
        status = weir_fail(error, WEIR_ENOMEM, "audit: out of memory");
    else
        status = compare_all(cluster, &held, error);
    weir_free(memory, held.gpus);
    weir_free(memory, held.cpu_units);
    weir_free(memory, held.ram_bytes);
    return status;
}
