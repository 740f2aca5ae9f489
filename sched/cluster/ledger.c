/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The books: what every node and GPU has free, the sums over nodes that are up, and the
 * fingerprints and change ring that caches follow.
 *
 * Invariant: a node's version is a function of its flags, totals, free amounts and topology; every
 * change of these goes through here and is in the ring.
 *
 * An unhealthy GPU has all its free amounts at 0, so that nobody who looks for room finds any. What
 * it would have free is not kept: it is totals less what the node's workers hold, and is wanted
 * only when the GPU recovers or a worker is told that came late.
 */
#include "sched/cluster/state.h"

#include "sched/internal/bits.h"
#include "sched/internal/hash.h"

/* The part of a GPU that every worker on it changes. */
static uint64_t free_gpu_fingerprint(const struct weir_gpu *gpu, uint32_t index)
{
    const uint64_t engines = ((uint64_t)gpu->nvdec_free << 32) | gpu->nvenc_free;
    const uint64_t hash =
        weir_hash_words(index, (uint64_t)gpu->units_free, (uint64_t)gpu->mem_free_bytes, engines);

    return gpu->mig == NULL ? hash : weir_hash_add(hash, gpu->mig_state.held);
}

static uint64_t gpu_fingerprint(const struct weir_gpu *gpu, uint32_t index)
{
    uint64_t hash = weir_hash_mix(((uint64_t)gpu->type << 32) | index);

    hash = weir_hash_add(hash, ((uint64_t)gpu->nvdec_all << 32) | gpu->nvenc_all);
    hash = weir_hash_add(hash, (uint64_t)gpu->units_total);
    if (gpu->mig != NULL)
        hash = weir_hash_add(hash, gpu->mig_state.cut + gpu->is_closed);
    else if (gpu->is_closed != 0)
        hash = weir_hash_add(hash, gpu->is_closed);
    hash = weir_hash_add(hash, ((uint64_t)gpu->idle_w << 16) | gpu->full_w);
    return weir_hash_add(hash, (uint64_t)gpu->mem_total_bytes) + free_gpu_fingerprint(gpu, index);
}

uint64_t weir_gpu_likeness(const struct weir_gpu *gpu, uint32_t index)
{
    const uint64_t engines_all = (uint64_t)gpu->nvdec_all << 32 | gpu->nvenc_all;
    const uint64_t all = weir_hash_words((uint64_t)gpu->units_total, (uint64_t)gpu->mem_total_bytes,
                                         engines_all, (uint64_t)gpu->type << 32 | gpu->is_closed);
    const uint64_t engines =
        (uint64_t)weir_bit_count(gpu->nvdec_free) << 32 | weir_bit_count(gpu->nvenc_free);

    return gpu->mig != NULL ? gpu_fingerprint(gpu, index)
                            : weir_hash_words((uint64_t)gpu->units_free,
                                              (uint64_t)gpu->mem_free_bytes, engines, all);
}

/* The part that every worker changes. */
static uint64_t free_fingerprint(const struct weir_node *node)
{
    return weir_hash_words((uint64_t)node->cpu_free, (uint64_t)node->ram_free_bytes, 0, 0);
}

static uint64_t host_fingerprint(const struct weir_node *node)
{
    uint64_t hash = weir_hash_mix(((uint64_t)node->flags << 32) | node->type);

    hash = weir_hash_add(hash, (uint64_t)node->cpu_total);
    return weir_hash_add(hash, (uint64_t)node->ram_total_bytes) + free_fingerprint(node);
}

/* Nothing known adds nothing. */
static uint64_t topology_fingerprint(const struct weir_topology *topology)
{
    const uint64_t inside = ((uint64_t)topology->sockets << 32) | topology->island_gpus;

    if (inside == 0 && topology->rack == 0 && topology->labels == 0)
        return 0;
    const uint64_t hash = weir_hash_add(weir_hash_mix(inside), topology->rack);
    return topology->labels == 0 ? hash : weir_hash_add(hash, topology->labels);
}

static uint64_t sum_node(const struct weir_cluster *cluster, uint32_t node,
                         uint64_t (*of_gpu)(const struct weir_gpu *gpu, uint32_t index))
{
    const struct weir_node *const books = &cluster->nodes[node];
    uint64_t sum = host_fingerprint(books) + topology_fingerprint(weir_topology_of(cluster, node));

    for (uint32_t g = 0; g < books->gpu_count; g++)
        sum += of_gpu(&cluster->gpus[books->gpu_first + g], g);
    return sum;
}

uint64_t weir_ledger_version(const struct weir_cluster *cluster, uint32_t node)
{
    return sum_node(cluster, node, gpu_fingerprint);
}

uint64_t weir_ledger_likeness(const struct weir_cluster *cluster, uint32_t node)
{
    return sum_node(cluster, node, weir_gpu_likeness);
}

/* `cause` tells apart changes that leave equal books: another worker, another pool. */
static void record_cause(struct weir_cluster *cluster, uint32_t node, uint64_t cause, uint32_t pool,
                         uint32_t gone)
{
    const uint64_t event = weir_hash_words(node, cluster->nodes[node].version, cause, 0);

    cluster->stamp = weir_hash_add(cluster->stamp, event);
    cluster->lists[node].stamp = weir_hash_add(cluster->lists[node].stamp, event);
    cluster->changes[cluster->change_count % WEIR_CHANGE_RING] =
        (struct weir_change){ .stamp = cluster->stamp, .node = node, .pool = pool, .gone = gone };
    cluster->change_count++;
    weir_cluster_note_change(cluster->log, node);
}

static void record_change(struct weir_cluster *cluster, uint32_t node)
{
    cluster->lists[node].likeness = weir_ledger_likeness(cluster, node);
    record_cause(cluster, node, 0, WEIR_NO_INDEX, WEIR_NO_INDEX);
}

uint32_t weir_cluster_changes(const struct weir_cluster *cluster,
                              const struct weir_change_mark *mark)
{
    if (mark->count == 0 || mark->count > cluster->change_count)
        return WEIR_NO_INDEX;
    const uint64_t distance = cluster->change_count - mark->count;
    if (distance >= WEIR_CHANGE_RING)
        return WEIR_NO_INDEX;
    if (cluster->changes[(mark->count - 1) % WEIR_CHANGE_RING].stamp != mark->stamp)
        return WEIR_NO_INDEX;
    return (uint32_t)distance;
}

static void add_amounts(struct weir_amounts *sum, const struct weir_amounts *part, int64_t sign)
{
    sum->cpu_units += sign * part->cpu_units;
    sum->gpu_units += sign * part->gpu_units;
    sum->nvdecs += sign * part->nvdecs;
    sum->nvencs += sign * part->nvencs;
    sum->ram_bytes += sign * part->ram_bytes;
    sum->gpu_mem_bytes += sign * part->gpu_mem_bytes;
}

static bool is_unhealthy(const struct weir_gpu *gpu)
{
    return (gpu->is_closed & WEIR_GPU_UNHEALTHY) != 0;
}

static void take_device(struct weir_gpu *gpu, uint32_t index, const struct weir_device *device)
{
    if (device->gpu != index)
        return;
    gpu->units_free -= device->units;
    gpu->mem_free_bytes -= device->mem_bytes;
    gpu->nvdec_free &= ~device->nvdec_mask;
    gpu->nvenc_free &= ~device->nvenc_mask;
}

/* A GPU with what nobody holds of it free, as if it were healthy. O(workers of its node). */
static struct weir_gpu healthy_gpu(const struct weir_cluster *cluster, uint32_t node, uint32_t gpu)
{
    struct weir_gpu healthy = cluster->gpus[cluster->nodes[node].gpu_first + gpu];

    healthy.units_free = healthy.units_total;
    healthy.mem_free_bytes = healthy.mem_total_bytes;
    healthy.nvdec_free = healthy.nvdec_all;
    healthy.nvenc_free = healthy.nvenc_all;
    for (uint32_t s = cluster->lists[node].first; s != WEIR_NO_INDEX;
         s = cluster->slots[s].node_next) {
        const struct weir_worker_slot *const slot = &cluster->slots[s];
        const struct weir_device *const more = weir_slot_more(cluster, slot);
        if (slot->device_count > 0)
            take_device(&healthy, gpu, &slot->first);
        for (uint32_t d = 1; more != NULL && d < slot->device_count; d++)
            take_device(&healthy, gpu, &more[d - 1]);
    }
    return healthy;
}

/* What a GPU adds to the sums: all of it, or what is held when it is unhealthy. */
static struct weir_amounts counted_total(const struct weir_cluster *cluster,
                                         const struct weir_node *node, uint32_t gpu)
{
    const struct weir_gpu *const books = &cluster->gpus[node->gpu_first + gpu];
    struct weir_gpu unused = { .units_free = 0 };

    if (is_unhealthy(books))
        unused = healthy_gpu(cluster, (uint32_t)(node - cluster->nodes), gpu);
    return (struct weir_amounts){
        .gpu_units = books->units_total - unused.units_free,
        .nvdecs = weir_bit_count(books->nvdec_all & ~unused.nvdec_free),
        .nvencs = weir_bit_count(books->nvenc_all & ~unused.nvenc_free),
        .gpu_mem_bytes = books->mem_total_bytes - unused.mem_free_bytes,
    };
}

/* Adds (1) or takes (-1) all of a node to or from the sums of nodes that are up. */
static void count_node(struct weir_cluster *cluster, const struct weir_node *node, int64_t sign)
{
    struct weir_amounts total = { .cpu_units = node->cpu_total,
                                  .ram_bytes = node->ram_total_bytes };
    struct weir_amounts rest = { .cpu_units = node->cpu_free, .ram_bytes = node->ram_free_bytes };

    for (uint32_t g = 0; g < node->gpu_count; g++) {
        const struct weir_gpu *const gpu = &cluster->gpus[node->gpu_first + g];
        const struct weir_amounts counted = counted_total(cluster, node, g);
        add_amounts(&total, &counted, 1);
        rest.gpu_units += gpu->units_free;
        rest.nvdecs += weir_bit_count(gpu->nvdec_free);
        rest.nvencs += weir_bit_count(gpu->nvenc_free);
        rest.gpu_mem_bytes += gpu->mem_free_bytes;
    }
    add_amounts(&cluster->total, &total, sign);
    add_amounts(&cluster->free, &rest, sign);
}

void weir_ledger_open(struct weir_cluster *cluster, uint32_t node)
{
    struct weir_node *const books = &cluster->nodes[node];

    books->version = weir_ledger_version(cluster, node);
    if (books->flags & WEIR_NODE_UP)
        count_node(cluster, books, 1);
    record_change(cluster, node);
}

void weir_ledger_close(struct weir_cluster *cluster, uint32_t node)
{
    struct weir_node *const books = &cluster->nodes[node];

    if (books->flags & WEIR_NODE_UP)
        count_node(cluster, books, -1);
    cluster->whole.cpu_units -= books->cpu_total;
    cluster->whole.ram_bytes -= books->ram_total_bytes;
    for (uint32_t g = 0; g < books->gpu_count; g++)
        cluster->whole.gpu_mem_bytes -= cluster->gpus[books->gpu_first + g].mem_total_bytes;
    *books = (struct weir_node){ .id = books->id,
                                 .flags = WEIR_NODE_REMOVED,
                                 .gpu_first = books->gpu_first };
    if (node < cluster->topology_count)
        cluster->topologies[node] = (struct weir_topology){ .sockets = 0 };
    books->version = weir_ledger_version(cluster, node);
    record_change(cluster, node);
}

void weir_ledger_resize(struct weir_cluster *cluster, uint32_t node, int64_t cpu_units,
                        int64_t ram_bytes)
{
    struct weir_node *const books = &cluster->nodes[node];

    if (books->flags & WEIR_NODE_UP)
        count_node(cluster, books, -1);
    books->version -= host_fingerprint(books);
    books->cpu_free += cpu_units - books->cpu_total;
    books->cpu_total = cpu_units;
    books->ram_free_bytes += ram_bytes - books->ram_total_bytes;
    books->ram_total_bytes = ram_bytes;
    books->version += host_fingerprint(books);
    if (books->flags & WEIR_NODE_UP)
        count_node(cluster, books, 1);
    record_change(cluster, node);
}

void weir_ledger_set_flags(struct weir_cluster *cluster, uint32_t node, uint32_t flags)
{
    struct weir_node *const books = &cluster->nodes[node];

    if (books->flags == flags)
        return;
    if (books->flags & WEIR_NODE_UP)
        count_node(cluster, books, -1);
    cluster->flags_sum += weir_hash_add(node, flags) - weir_hash_add(node, books->flags);
    books->version -= host_fingerprint(books);
    books->flags = flags;
    books->version += host_fingerprint(books);
    if (books->flags & WEIR_NODE_UP)
        count_node(cluster, books, 1);
    record_change(cluster, node);
}

/* Changes of a GPU that move no amounts. */
struct gpu_change {
    struct weir_node *node;
    struct weir_gpu *gpu;
    uint32_t index;
};

static struct gpu_change begin_change(struct weir_cluster *cluster, uint32_t node, uint32_t gpu)
{
    struct weir_node *const books = &cluster->nodes[node];
    struct weir_gpu *const changed = &cluster->gpus[books->gpu_first + gpu];

    books->version -= gpu_fingerprint(changed, gpu);
    return (struct gpu_change){ .node = books, .gpu = changed, .index = gpu };
}

static void end_change(struct weir_cluster *cluster, const struct gpu_change *change)
{
    change->node->version += gpu_fingerprint(change->gpu, change->index);
    record_change(cluster, (uint32_t)(change->node - cluster->nodes));
}

void weir_ledger_set_cut(struct weir_cluster *cluster, uint32_t node, uint32_t gpu,
                         weir_mig_layout cut)
{
    const struct gpu_change change = begin_change(cluster, node, gpu);

    change.gpu->mig_state.cut = cut;
    end_change(cluster, &change);
}

void weir_ledger_set_closed(struct weir_cluster *cluster, uint32_t node, uint32_t gpu,
                            bool is_closed)
{
    const struct gpu_change change = begin_change(cluster, node, gpu);

    change.gpu->is_closed &= ~(uint32_t)WEIR_GPU_DRAINED;
    change.gpu->is_closed |= is_closed ? WEIR_GPU_DRAINED : 0;
    end_change(cluster, &change);
}

void weir_ledger_set_health(struct weir_cluster *cluster, uint32_t node, uint32_t gpu,
                            bool is_healthy)
{
    struct weir_node *const books = &cluster->nodes[node];
    const bool is_counted = (books->flags & WEIR_NODE_UP) != 0;

    if (is_unhealthy(&cluster->gpus[books->gpu_first + gpu]) != is_healthy)
        return;
    if (is_counted)
        count_node(cluster, books, -1);
    const struct gpu_change change = begin_change(cluster, node, gpu);
    *change.gpu = healthy_gpu(cluster, node, gpu);
    change.gpu->is_closed &= ~(uint32_t)WEIR_GPU_UNHEALTHY;
    if (!is_healthy) {
        change.gpu->is_closed |= WEIR_GPU_UNHEALTHY;
        change.gpu->units_free = 0;
        change.gpu->mem_free_bytes = 0;
        change.gpu->nvdec_free = 0;
        change.gpu->nvenc_free = 0;
    }
    if (is_counted)
        count_node(cluster, books, 1);
    end_change(cluster, &change);
}

void weir_ledger_keep_memory(struct weir_cluster *cluster, uint32_t node, uint32_t gpu,
                             int64_t bytes)
{
    const struct gpu_change change = begin_change(cluster, node, gpu);

    change.gpu->mem_free_bytes -= bytes;
    if (change.node->flags & WEIR_NODE_UP)
        cluster->free.gpu_mem_bytes -= bytes;
    end_change(cluster, &change);
}

bool weir_ledger_instance_fits(const struct weir_gpu *gpu, const struct weir_device *device)
{
    const uint32_t profile = weir_device_profile(device);

    if (gpu->mig == NULL || device->mig == 0)
        return gpu->mig == NULL && device->mig == 0;
    return profile < gpu->mig->profile_count &&
           weir_mig_free(gpu->mig, gpu->mig_state, profile, weir_device_start(device)) &&
           device->units == weir_mig_units(gpu->mig, profile) &&
           device->mem_bytes == gpu->mig->profiles[profile].mem_bytes;
}

static weir_status report_instance(const struct weir_gpu *gpu, const struct weir_device *device,
                                   uint64_t node_id, struct weir_error *error)
{
    const unsigned long long id = node_id;
    const uint32_t profile = weir_device_profile(device);

    if (gpu->mig == NULL)
        return weir_fail(error, WEIR_EINVAL, "node %llu GPU %u: is not cut into instances", id,
                         device->gpu);
    if (device->mig == 0)
        return weir_fail(error, WEIR_EINVAL,
                         "node %llu GPU %u: is cut, and the device names no instance", id,
                         device->gpu);
    if (profile >= gpu->mig->profile_count)
        return weir_fail(error, WEIR_EINVAL, "node %llu GPU %u: %s has no profile %u", id,
                         device->gpu, gpu->mig->name, profile);
    const struct weir_mig_profile *const wanted = &gpu->mig->profiles[profile];
    if (!weir_mig_free(gpu->mig, gpu->mig_state, profile, weir_device_start(device)))
        return weir_fail(error, WEIR_EOVERCOMMIT,
                         "node %llu GPU %u: instance %s at slot %u is not free", id, device->gpu,
                         wanted->name, weir_device_start(device));
    return weir_fail(error, WEIR_EINVAL,
                     "node %llu GPU %u: an instance %s has %.10g GPUs and %lld bytes, the device "
                     "names %.10g and %lld",
                     id, device->gpu, wanted->name,
                     weir_units_amount(weir_mig_units(gpu->mig, profile)),
                     (long long)wanted->mem_bytes, weir_units_amount(device->units),
                     (long long)device->mem_bytes);
}

static weir_status check_amounts(const struct weir_gpu *gpu, const struct weir_device *device,
                                 uint64_t node_id, struct weir_error *error)
{
    const char *what = NULL;
    double wanted = 0;
    double there = 0;

    if (device->units < 0 || device->mem_bytes < 0)
        return weir_fail(error, WEIR_EINVAL, "node %llu GPU %u: amounts must be >= 0",
                         (unsigned long long)node_id, device->gpu);
    if (!weir_ledger_instance_fits(gpu, device))
        return report_instance(gpu, device, node_id, error);
    if (device->units > gpu->units_free) {
        what = "GPUs";
        wanted = weir_units_amount(device->units);
        there = weir_units_amount(gpu->units_free);
    } else if (device->mem_bytes > gpu->mem_free_bytes) {
        what = "bytes of GPU memory";
        wanted = (double)device->mem_bytes;
        there = (double)gpu->mem_free_bytes;
    }
    if (what != NULL)
        return weir_fail(error, WEIR_EOVERCOMMIT,
                         "node %llu GPU %u: wants %.10g %s, %.10g are free (%.10g too many)",
                         (unsigned long long)node_id, device->gpu, wanted, what, there,
                         wanted - there);

    const uint32_t nvdec_taken = device->nvdec_mask & ~gpu->nvdec_free;
    const uint32_t nvenc_taken = device->nvenc_mask & ~gpu->nvenc_free;
    if ((nvdec_taken | nvenc_taken) == 0)
        return WEIR_OK;
    return weir_fail(error, WEIR_EOVERCOMMIT, "node %llu GPU %u: %s %d is not free",
                     (unsigned long long)node_id, device->gpu, nvdec_taken ? "NVDEC" : "NVENC",
                     __builtin_ctz(nvdec_taken ? nvdec_taken : nvenc_taken));
}

/* What is told to run on an unhealthy GPU is believed if it could run there. */
static weir_status check_device(const struct weir_cluster *cluster, uint32_t node,
                                const struct weir_device *device, struct weir_error *error)
{
    const struct weir_node *const books = &cluster->nodes[node];
    const struct weir_gpu *const gpu = &cluster->gpus[books->gpu_first + device->gpu];

    if (!is_unhealthy(gpu))
        return check_amounts(gpu, device, books->id, error);
    const struct weir_gpu healthy = healthy_gpu(cluster, node, device->gpu);
    return check_amounts(&healthy, device, books->id, error);
}

weir_status weir_ledger_check(const struct weir_cluster *cluster, const struct weir_alloc *alloc,
                              struct weir_error *error)
{
    if (alloc->node >= cluster->node_count)
        return weir_fail(error, WEIR_ENOTFOUND, "node index %u: there are %u nodes", alloc->node,
                         cluster->node_count);
    const struct weir_node *const node = &cluster->nodes[alloc->node];
    const unsigned long long id = node->id;
    if (alloc->cpu_units < 0 || alloc->ram_bytes < 0 || alloc->device_count > WEIR_MAX_DEVICES)
        return weir_fail(error, WEIR_EINVAL,
                         "node %llu: amounts must be >= 0 and devices <= %d, got %lld units, %lld "
                         "bytes, %u devices",
                         id, WEIR_MAX_DEVICES, (long long)alloc->cpu_units,
                         (long long)alloc->ram_bytes, alloc->device_count);
    if (alloc->cpu_units > node->cpu_free)
        return weir_fail(error, WEIR_EOVERCOMMIT,
                         "node %llu: wants %.10g CPUs, %.10g are free (%.10g too many)", id,
                         weir_units_amount(alloc->cpu_units), weir_units_amount(node->cpu_free),
                         weir_units_amount(alloc->cpu_units - node->cpu_free));
    if (alloc->ram_bytes > node->ram_free_bytes)
        return weir_fail(error, WEIR_EOVERCOMMIT,
                         "node %llu: wants %lld bytes of memory, %lld are free (%lld too many)", id,
                         (long long)alloc->ram_bytes, (long long)node->ram_free_bytes,
                         (long long)(alloc->ram_bytes - node->ram_free_bytes));
    for (uint32_t d = 0; d < alloc->device_count; d++) {
        const struct weir_device *const device = &alloc->devices[d];
        if (device->gpu >= node->gpu_count)
            return weir_fail(error, WEIR_ENOTFOUND, "node %llu GPU %u: the node has %u GPUs", id,
                             device->gpu, node->gpu_count);
        if (d > 0 && device->gpu <= alloc->devices[d - 1].gpu)
            return weir_fail(error, WEIR_EINVAL,
                             "node %llu GPU %u: devices must ascend by GPU, the one before is %u",
                             id, device->gpu, alloc->devices[d - 1].gpu);
        WEIR_TRY(check_device(cluster, alloc->node, device, error));
    }
    return WEIR_OK;
}

static void count_device(struct weir_amounts *sum, const struct weir_device *device, int64_t sign)
{
    sum->gpu_units += sign * device->units;
    sum->gpu_mem_bytes += sign * device->mem_bytes;
    if (device->nvdec_mask != 0)
        sum->nvdecs += sign * weir_bit_count(device->nvdec_mask);
    if (device->nvenc_mask != 0)
        sum->nvencs += sign * weir_bit_count(device->nvenc_mask);
}

/* What moves between free and held; of an unhealthy GPU, what comes into or leaves the totals. */
static void apply_device(struct weir_cluster *cluster, struct weir_node *node,
                         const struct weir_device *device, int64_t direction)
{
    struct weir_gpu *const gpu = &cluster->gpus[node->gpu_first + device->gpu];
    const struct weir_device instance = { .mig = device->mig };
    const bool is_held_back = is_unhealthy(gpu);
    uint64_t *const likeness = &cluster->lists[node - cluster->nodes].likeness;

    node->version -= free_gpu_fingerprint(gpu, device->gpu);
    *likeness -= weir_gpu_likeness(gpu, device->gpu);
    weir_gpu_move(gpu, is_held_back ? &instance : device, direction);
    node->version += free_gpu_fingerprint(gpu, device->gpu);
    *likeness += weir_gpu_likeness(gpu, device->gpu);
    if ((node->flags & WEIR_NODE_UP) == 0)
        return;
    if (is_held_back)
        count_device(&cluster->total, device, direction);
    else
        count_device(&cluster->free, device, -direction);
}

void weir_ledger_apply(struct weir_cluster *cluster, const struct weir_alloc *alloc,
                       int64_t direction, const struct weir_worker_slot *worker)
{
    struct weir_node *const node = &cluster->nodes[alloc->node];
    const uint64_t before = free_fingerprint(node);

    node->cpu_free -= direction * alloc->cpu_units;
    node->ram_free_bytes -= direction * alloc->ram_bytes;
    node->version += free_fingerprint(node) - before;
    cluster->lists[alloc->node].likeness += free_fingerprint(node) - before;
    if (node->flags & WEIR_NODE_UP) {
        cluster->free.cpu_units -= direction * alloc->cpu_units;
        cluster->free.ram_bytes -= direction * alloc->ram_bytes;
    }
    for (uint32_t d = 0; d < alloc->device_count; d++)
        apply_device(cluster, node, &alloc->devices[d], direction);
    record_cause(cluster, alloc->node,
                 weir_hash_words(worker->id, direction > 0, worker->owner.index, worker->sequence),
                 worker->owner.kind == WEIR_OWNER_POOL ? worker->owner.index : WEIR_NO_INDEX,
                 direction > 0 ? WEIR_NO_INDEX : (uint32_t)(worker - cluster->slots));
}
