/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inventories as a whole: creation, copies, nodes and GPUs, and the plain accessors.
 */
#include "sched/cluster/state.h"

#include "sched/internal/alloc.h"
#include "sched/internal/size.h"

#include <string.h>

weir_status weir_cluster_create(const struct weir_allocator *allocator,
                                struct weir_cluster **cluster)
{
    const struct weir_allocator memory = weir_allocator_copy(allocator);
    struct weir_cluster *const created = weir_alloc(&memory, 1, sizeof *created);

    if (created == NULL)
        return WEIR_ENOMEM;
    created->log = weir_alloc(&memory, 1, sizeof *created->log);
    if (created->log == NULL) {
        weir_free(&memory, created);
        return WEIR_ENOMEM;
    }
    created->allocator = memory;
    created->slot_free = WEIR_NO_INDEX;
    for (uint32_t size = 0; size < WEIR_MAX_DEVICES; size++)
        created->more.free_first[size] = WEIR_NO_INDEX;
    *cluster = created;
    return WEIR_OK;
}

void weir_cluster_destroy(struct weir_cluster *cluster)
{
    if (cluster == NULL)
        return;
    const struct weir_allocator memory = cluster->allocator;
    weir_rooms_forget(cluster);
    for (uint32_t s = 0; s < cluster->pool_count; s++)
        weir_pool_list_free(&cluster->pools[s], &memory);
    weir_free(&memory, cluster->pools);
    weir_free(&memory, cluster->log);
    weir_free(&memory, cluster->nodes);
    weir_free(&memory, cluster->lists);
    weir_free(&memory, cluster->topologies);
    weir_free(&memory, cluster->gpus);
    weir_free(&memory, cluster->slots);
    weir_free(&memory, cluster->more.devices);
    weir_free(&memory, cluster->journal);
    weir_free(&memory, cluster->marks);
    weir_id_table_free(&cluster->node_ids, &memory);
    weir_id_table_free(&cluster->worker_ids, &memory);
    weir_id_table_free(&cluster->peers, &memory);
    weir_free(&memory, cluster);
}

static weir_status copy_pools(struct weir_cluster *target, const struct weir_cluster *source)
{
    const uint32_t before = target->pool_count;

    if (source->pool_count > before) {
        WEIR_ROOM(&target->allocator, target->pools, target->pool_capacity, source->pool_count);
        memset(target->pools + before, 0, (source->pool_count - before) * sizeof *target->pools);
        target->pool_count = source->pool_count;
    }
    for (uint32_t s = 0; s < target->pool_count; s++)
        WEIR_TRY(weir_pool_list_copy(&target->pools[s], &target->allocator,
                                     s < source->pool_count ? &source->pools[s]
                                                            : &(struct weir_pool_list){ 0 }));
    return WEIR_OK;
}

/* Copies `count` elements into an array that grows when it must. */
#define COPY_ARRAY(memory, array, capacity, source, count)                                         \
    do {                                                                                           \
        WEIR_ROOM(memory, array, capacity, count);                                                 \
        if ((count) > 0)                                                                           \
            memcpy(array, source, (count) * sizeof *(array));                                      \
    } while (0)

/* The six flat arrays. */
static weir_status copy_arrays(struct weir_cluster *target, const struct weir_cluster *source)
{
    const struct weir_allocator *const memory = &target->allocator;

    COPY_ARRAY(memory, target->nodes, target->node_capacity, source->nodes, source->node_count);
    COPY_ARRAY(memory, target->lists, target->list_capacity, source->lists, source->node_count);
    COPY_ARRAY(memory, target->topologies, target->topology_capacity, source->topologies,
               source->topology_count);
    COPY_ARRAY(memory, target->gpus, target->gpu_capacity, source->gpus, source->gpu_count);
    COPY_ARRAY(memory, target->slots, target->slot_capacity, source->slots, source->slot_count);
    COPY_ARRAY(memory, target->more.devices, target->more.capacity, source->more.devices,
               source->more.count);
    return WEIR_OK;
}

weir_status weir_cluster_assign(struct weir_cluster *target, const struct weir_cluster *source)
{
    if (target == source || target->lent > 0)
        return WEIR_EINVAL;
    target->mark_count = 0;
    target->journal_count = 0;
    weir_rooms_forget(target);
    WEIR_TRY(copy_arrays(target, source));
    WEIR_TRY(weir_id_table_copy(&target->node_ids, &target->allocator, &source->node_ids));
    WEIR_TRY(weir_id_table_copy(&target->worker_ids, &target->allocator, &source->worker_ids));
    WEIR_TRY(weir_id_table_copy(&target->peers, &target->allocator, &source->peers));
    WEIR_TRY(copy_pools(target, source));
    target->node_count = source->node_count;
    target->removed_count = source->removed_count;
    target->topology_count = source->topology_count;
    target->keeps_nodes = source->keeps_nodes;
    target->gpu_count = source->gpu_count;
    target->whole = source->whole;
    target->total = source->total;
    target->free = source->free;
    target->slot_count = source->slot_count;
    target->slot_free = source->slot_free;
    target->worker_count = source->worker_count;
    target->next_sequence = source->next_sequence;
    target->begun = source->begun;
    target->ended = source->ended;
    target->more.count = source->more.count;
    memcpy(target->more.free_first, source->more.free_first, sizeof target->more.free_first);
    target->flags_sum = source->flags_sum;
    target->change_count = source->change_count;
    target->stamp = source->stamp;
    memcpy(target->changes, source->changes, sizeof target->changes);
    return WEIR_OK;
}

weir_status weir_cluster_copy(const struct weir_cluster *source, struct weir_cluster **copy)
{
    struct weir_cluster *created;

    WEIR_TRY(weir_cluster_create(&source->allocator, &created));
    const weir_status status = weir_cluster_assign(created, source);
    if (status != WEIR_OK) {
        weir_cluster_destroy(created);
        return status;
    }
    *copy = created;
    return WEIR_OK;
}

static weir_status check_node(const struct weir_cluster *cluster, const struct weir_node_spec *spec,
                              struct weir_error *error)
{
    const unsigned long long id = spec->id;

    if (cluster->mark_count > 0)
        return weir_fail(error, WEIR_EINVAL, "node %llu: nodes cannot be added under a mark", id);
    if (weir_id_table_find(&cluster->node_ids, spec->id) != WEIR_NO_INDEX)
        return weir_fail(error, WEIR_EDUPLICATE, "node %llu exists already", id);
    if (spec->cpu_units < 0 || spec->ram_bytes < 0)
        return weir_fail(error, WEIR_EINVAL,
                         "node %llu: amounts must be >= 0, got %.10g CPUs and %lld bytes", id,
                         weir_units_amount(spec->cpu_units), (long long)spec->ram_bytes);
    if (spec->gpu_count > WEIR_MAX_NODE_GPUS)
        return weir_fail(error, WEIR_EINVAL, "node %llu: GPUs must be <= %d, got %u", id,
                         WEIR_MAX_NODE_GPUS, spec->gpu_count);
    if (spec->gpu_count > 0 && spec->gpus == NULL)
        return weir_fail(error, WEIR_EINVAL, "node %llu: %u GPUs and no list of them", id,
                         spec->gpu_count);
    for (uint32_t g = 0; g < spec->gpu_count; g++) {
        const struct weir_gpu_spec *const gpu = &spec->gpus[g];
        if (gpu->nvdecs > WEIR_MAX_ENGINES || gpu->nvencs > WEIR_MAX_ENGINES)
            return weir_fail(error, WEIR_EINVAL,
                             "node %llu GPU %u: engines must be <= %d, got %u NVDECs and %u NVENCs",
                             id, g, WEIR_MAX_ENGINES, gpu->nvdecs, gpu->nvencs);
        if (gpu->units < 0 || gpu->units > WEIR_ONE || gpu->mem_bytes < 0)
            return weir_fail(error, WEIR_EINVAL,
                             "node %llu GPU %u: must be 0 to 1 GPU and >= 0 bytes, got %.10g and "
                             "%lld",
                             id, g, weir_units_amount(gpu->units), (long long)gpu->mem_bytes);
    }
    return WEIR_OK;
}

/* Either divides the other: as many on each, or one on every so many-th. */
static bool divides_evenly(uint32_t parts, uint32_t gpus)
{
    return parts == 0 || gpus == 0 || gpus % parts == 0 || parts % gpus == 0;
}

static weir_status check_topology(const struct weir_topology *topology, uint32_t gpus,
                                  struct weir_error *error)
{
    if (!divides_evenly(topology->sockets, gpus))
        return weir_fail(error, WEIR_EINVAL, "%u GPUs cannot be divided evenly over %u sockets",
                         gpus, topology->sockets);
    if (topology->island_gpus > 0 && gpus % topology->island_gpus != 0)
        return weir_fail(error, WEIR_EINVAL, "%u GPUs cannot be divided into islands of %u", gpus,
                         topology->island_gpus);
    return WEIR_OK;
}

static bool is_known(const struct weir_topology *topology)
{
    return topology->sockets != 0 || topology->island_gpus != 0 || topology->rack != 0 ||
           topology->labels != 0;
}

/* Room for one more, if anything is known of it. */
static weir_status reserve_topology(struct weir_cluster *cluster,
                                    const struct weir_topology *topology)
{
    if (is_known(topology))
        WEIR_ROOM(&cluster->allocator, cluster->topologies, cluster->topology_capacity,
                  cluster->node_count + 1);
    return WEIR_OK;
}

static void set_topology(struct weir_cluster *cluster, uint32_t node,
                         const struct weir_topology *topology)
{
    if (!is_known(topology) && node >= cluster->topology_count)
        return;
    for (; cluster->topology_count <= node; cluster->topology_count++)
        cluster->topologies[cluster->topology_count] = (struct weir_topology){ .sockets = 0 };
    cluster->topologies[node] = *topology;
    cluster->keeps_nodes = cluster->keeps_nodes || (topology->labels & WEIR_LABEL_KEPT) != 0;
}

static weir_status reserve_node(struct weir_cluster *cluster, uint32_t gpu_count)
{
    WEIR_ROOM(&cluster->allocator, cluster->nodes, cluster->node_capacity, cluster->node_count + 1);
    WEIR_ROOM(&cluster->allocator, cluster->lists, cluster->list_capacity, cluster->node_count + 1);
    WEIR_ROOM(&cluster->allocator, cluster->gpus, cluster->gpu_capacity,
              cluster->gpu_count + gpu_count);
    return weir_id_table_reserve(&cluster->node_ids, &cluster->allocator, 1);
}

/* Whether the GPU is cut by a sound table, or not at all. */
static weir_status check_mig(const struct weir_gpu_spec *gpu, struct weir_error *error)
{
    if (gpu->mig == NULL)
        return gpu->mig_cut == 0 ? WEIR_OK
                                 : weir_fail(error, WEIR_EINVAL, "has a cut but no MIG table");
    WEIR_TRY(weir_mig_check(gpu->mig, error));
    if (gpu->units != WEIR_ONE)
        return weir_fail(error, WEIR_EINVAL, "a GPU that is cut must be whole");
    if (!weir_mig_is_sound(gpu->mig, gpu->mig_cut))
        return weir_fail(error, WEIR_EINVAL, "%s cannot be cut like this", gpu->mig->name);
    return WEIR_OK;
}

static weir_status check_parts(const struct weir_node_spec *spec, struct weir_error *error)
{
    const weir_status near = check_topology(&spec->topology, spec->gpu_count, error);
    if (near != WEIR_OK) {
        weir_error_wrap(error, "node %llu", (unsigned long long)spec->id);
        return near;
    }
    for (uint32_t g = 0; g < spec->gpu_count; g++) {
        const weir_status status = check_mig(&spec->gpus[g], error);
        if (status != WEIR_OK) {
            weir_error_wrap(error, "node %llu GPU %u", (unsigned long long)spec->id, g);
            return status;
        }
    }
    return WEIR_OK;
}

static uint32_t engine_mask(uint32_t engines)
{
    return engines >= WEIR_MAX_ENGINES ? UINT32_MAX : (UINT32_C(1) << engines) - 1;
}

/* The books of a GPU that nobody uses. */
static int64_t memory_of(const struct weir_gpu_spec *spec)
{
    return spec->mig != NULL ? weir_mig_memory(spec->mig) : spec->mem_bytes;
}

static struct weir_gpu open_gpu(const struct weir_gpu_spec *spec)
{
    const bool is_cut = spec->mig != NULL;
    const uint32_t nvdecs = engine_mask(is_cut ? weir_mig_nvdecs(spec->mig) : spec->nvdecs);
    const uint32_t nvencs = engine_mask(is_cut ? 0 : spec->nvencs);
    const int64_t mem_bytes = memory_of(spec);

    return (struct weir_gpu){ .type = spec->type,
                              .nvdec_free = nvdecs,
                              .nvenc_free = nvencs,
                              .nvdec_all = nvdecs,
                              .nvenc_all = nvencs,
                              .idle_w = spec->idle_w,
                              .full_w = spec->full_w,
                              .units_free = spec->units,
                              .units_total = spec->units,
                              .mem_free_bytes = mem_bytes,
                              .mem_total_bytes = mem_bytes,
                              .mig = spec->mig,
                              .mig_state = { .cut = spec->mig_cut } };
}

/* The record of a removed node of this id, or a new one; room must have been reserved. */
static uint32_t take_record(struct weir_cluster *cluster, const struct weir_node_spec *spec)
{
    for (uint32_t n = 0; cluster->removed_count > 0 && n < cluster->node_count; n++) {
        if ((cluster->nodes[n].flags & WEIR_NODE_REMOVED) == 0 ||
            cluster->nodes[n].id != spec->id || cluster->lists[n].gpu_room != spec->gpu_count)
            continue;
        cluster->removed_count--;
        return n;
    }
    const uint32_t node = cluster->node_count++;
    cluster->nodes[node].gpu_first = cluster->gpu_count;
    cluster->gpu_count += spec->gpu_count;
    cluster->lists[node] =
        (struct weir_node_list){ .first = WEIR_NO_INDEX, .gpu_room = spec->gpu_count };
    return node;
}

weir_status weir_cluster_grow(struct weir_cluster *cluster, uint64_t id,
                              const struct weir_amounts *more, struct weir_error *error)
{
    struct weir_amounts whole = cluster->whole;

    if (__builtin_add_overflow(whole.cpu_units, more->cpu_units, &whole.cpu_units) ||
        __builtin_add_overflow(whole.ram_bytes, more->ram_bytes, &whole.ram_bytes) ||
        __builtin_add_overflow(whole.gpu_mem_bytes, more->gpu_mem_bytes, &whole.gpu_mem_bytes))
        return weir_fail(error, WEIR_ERANGE,
                         "node %llu: all nodes together would have more CPUs or memory than can be "
                         "counted in 64 bits",
                         (unsigned long long)id);
    cluster->whole = whole;
    return WEIR_OK;
}

/* Counted GPU by GPU: even those of one node may be too many. */
static weir_status grow_by(struct weir_cluster *cluster, const struct weir_node_spec *spec,
                           struct weir_error *error)
{
    struct weir_amounts more = { .cpu_units = spec->cpu_units, .ram_bytes = spec->ram_bytes };
    const struct weir_amounts before = cluster->whole;
    weir_status status = weir_cluster_grow(cluster, spec->id, &more, error);

    for (uint32_t g = 0; g < spec->gpu_count && status == WEIR_OK; g++) {
        more = (struct weir_amounts){ .gpu_mem_bytes = memory_of(&spec->gpus[g]) };
        status = weir_cluster_grow(cluster, spec->id, &more, error);
    }
    if (status != WEIR_OK)
        cluster->whole = before;
    return status;
}

static weir_status add_node(struct weir_cluster *cluster, const struct weir_node_spec *spec,
                            uint32_t *index, struct weir_error *error)
{
    WEIR_TRY(check_node(cluster, spec, error));
    WEIR_TRY(check_parts(spec, error));
    if (reserve_node(cluster, spec->gpu_count) != WEIR_OK ||
        reserve_topology(cluster, &spec->topology) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "node %llu: out of memory",
                         (unsigned long long)spec->id);
    WEIR_TRY(grow_by(cluster, spec, error));
    const uint32_t node = take_record(cluster, spec);
    const uint32_t gpu_first = cluster->nodes[node].gpu_first;
    cluster->nodes[node] = (struct weir_node){ .id = spec->id,
                                               .type = spec->type,
                                               .flags = WEIR_NODE_UP,
                                               .gpu_first = gpu_first,
                                               .gpu_count = spec->gpu_count,
                                               .cpu_free = spec->cpu_units,
                                               .cpu_total = spec->cpu_units,
                                               .ram_free_bytes = spec->ram_bytes,
                                               .ram_total_bytes = spec->ram_bytes };
    set_topology(cluster, node, &spec->topology);
    for (uint32_t g = 0; g < spec->gpu_count; g++)
        cluster->gpus[gpu_first + g] = open_gpu(&spec->gpus[g]);
    weir_id_table_put(&cluster->node_ids, spec->id, node);
    weir_ledger_open(cluster, node);
    if (index != NULL)
        *index = node;
    return WEIR_OK;
}

weir_status weir_cluster_add_node(struct weir_cluster *cluster, const struct weir_node_spec *spec,
                                  uint32_t *index, struct weir_error *error)
{
    struct weir_node_spec whole;

    if (cluster == NULL || spec == NULL)
        return weir_fail(error, WEIR_EINVAL, "no inventory or no node");
    WEIR_TRY(
        weir_size_check(spec->size, offsetof(struct weir_node_spec, topology), "the node", error));
    weir_size_take(&whole, sizeof whole, spec, spec->size);
    return add_node(cluster, &whole, index, error);
}

weir_status weir_cluster_set_node_flags(struct weir_cluster *cluster, uint32_t node, uint32_t flags)
{
    if (node >= cluster->node_count || cluster->nodes[node].flags == WEIR_NODE_REMOVED)
        return WEIR_ENOTFOUND;
    if ((flags & ~(uint32_t)(WEIR_NODE_UP | WEIR_NODE_CORDONED)) != 0)
        return WEIR_EINVAL;
    WEIR_TRY(weir_journal_reserve(cluster));
    weir_journal_write_flags(cluster, node);
    weir_ledger_set_flags(cluster, node, flags);
    return WEIR_OK;
}

/* The GPU if it is cut and may be changed now. */
static weir_status find_cut_gpu(const struct weir_cluster *cluster, uint32_t node, uint32_t gpu,
                                const struct weir_gpu **found)
{
    *found = weir_cluster_gpu(cluster, node, gpu);
    if (*found == NULL)
        return WEIR_ENOTFOUND;
    return (*found)->mig == NULL || cluster->mark_count > 0 ? WEIR_EINVAL : WEIR_OK;
}

weir_status weir_cluster_close_gpu(struct weir_cluster *cluster, uint32_t node, uint32_t gpu,
                                   bool is_closed)
{
    const struct weir_gpu *found;

    WEIR_TRY(find_cut_gpu(cluster, node, gpu, &found));
    weir_ledger_set_closed(cluster, node, gpu, is_closed);
    return WEIR_OK;
}

weir_status weir_cluster_cut_gpu(struct weir_cluster *cluster, uint32_t node, uint32_t gpu,
                                 weir_mig_layout cut, struct weir_error *error)
{
    const struct weir_gpu *found;
    const weir_status status = find_cut_gpu(cluster, node, gpu, &found);

    if (status != WEIR_OK)
        return weir_fail(error, status, "node index %u GPU %u cannot be cut now", node, gpu);
    if (found->mig_state.held != 0)
        return weir_fail(error, WEIR_EBUSY,
                         "node index %u GPU %u: an instance is in use, it must be drained first",
                         node, gpu);
    if (!weir_mig_is_sound(found->mig, cut))
        return weir_fail(error, WEIR_EINVAL, "node index %u GPU %u: %s cannot be cut like this",
                         node, gpu, found->mig->name);
    weir_ledger_set_cut(cluster, node, gpu, cut);
    return WEIR_OK;
}

uint32_t weir_cluster_node_count(const struct weir_cluster *cluster)
{
    return cluster->node_count;
}

const struct weir_node *weir_cluster_node(const struct weir_cluster *cluster, uint32_t node)
{
    return node < cluster->node_count ? &cluster->nodes[node] : NULL;
}

const struct weir_gpu *weir_cluster_gpu(const struct weir_cluster *cluster, uint32_t node,
                                        uint32_t gpu)
{
    if (node >= cluster->node_count || gpu >= cluster->nodes[node].gpu_count)
        return NULL;
    return &cluster->gpus[cluster->nodes[node].gpu_first + gpu];
}

struct weir_topology weir_cluster_topology(const struct weir_cluster *cluster, uint32_t node)
{
    return *weir_topology_of(cluster, node);
}

uint32_t weir_cluster_find_node(const struct weir_cluster *cluster, uint64_t id)
{
    return weir_id_table_find(&cluster->node_ids, id);
}

struct weir_amounts weir_cluster_total(const struct weir_cluster *cluster)
{
    return cluster->total;
}

struct weir_amounts weir_cluster_free(const struct weir_cluster *cluster)
{
    return cluster->free;
}

uint32_t weir_cluster_usual_gpus(const struct weir_cluster *cluster)
{
    uint32_t nodes[WEIR_MAX_NODE_GPUS + 1] = { 0 };
    uint32_t usual = 0;

    for (uint32_t n = 0; n < cluster->node_count; n++)
        nodes[cluster->nodes[n].gpu_count]++;
    for (uint32_t gpus = 1; gpus <= WEIR_MAX_NODE_GPUS; gpus++) {
        if (nodes[gpus] > 0 && (usual == 0 || nodes[gpus] >= nodes[usual]))
            usual = gpus;
    }
    return usual;
}
