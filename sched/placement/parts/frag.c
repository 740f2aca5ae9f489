/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fragmentation, recomputed plainly and from kept sums; see frag_state.h.
 */
#include "sched/placement/parts/frag_state.h"

#include "sched/cluster/state.h"
#include "sched/internal/alloc.h"
#include "sched/internal/bits.h"

#include <string.h>

static bool takes_compute(const struct weir_shape *shape)
{
    return shape->kind != WEIR_SHAPE_CPU && shape->kind != WEIR_SHAPE_CODEC;
}

static bool wants_engines(const struct weir_shape *shape)
{
    return shape->kind == WEIR_SHAPE_ENTIRE || shape->nvdecs > 0 || shape->nvencs > 0;
}

/* The shape as one sees it who looks at no more than that. What a slice needs of a GPU decides
 * which instances will do, so that all of it stays. */
static struct weir_shape seen_shape(const struct weir_shape *shape, uint32_t looks)
{
    struct weir_shape seen = *shape;

    if ((looks & WEIR_FRAG_TYPES) == 0)
        seen.gpu_type = 0;
    if ((looks & WEIR_FRAG_RAM) == 0)
        seen.ram_bytes = 0;
    if (seen.kind == WEIR_SHAPE_SLICE)
        return seen;
    if ((looks & WEIR_FRAG_ENGINES) == 0) {
        if (seen.kind == WEIR_SHAPE_ENTIRE)
            seen.kind = WEIR_SHAPE_WHOLE;
        seen.nvdecs = 0;
        seen.nvencs = 0;
    }
    if ((looks & WEIR_FRAG_GPU_MEM) == 0)
        seen.gpu_mem_bytes = 0;
    return seen;
}

/* Whether that is the shape itself. */
static bool is_seen_whole(const struct weir_shape *shape, uint32_t looks)
{
    return ((looks & WEIR_FRAG_TYPES) != 0 || shape->gpu_type == 0) &&
           ((looks & WEIR_FRAG_RAM) != 0 || shape->ram_bytes == 0) &&
           (shape->kind == WEIR_SHAPE_SLICE ||
            (((looks & WEIR_FRAG_ENGINES) != 0 || !wants_engines(shape)) &&
             ((looks & WEIR_FRAG_GPU_MEM) != 0 || shape->gpu_mem_bytes == 0)));
}

static uint32_t looks_of(uint32_t metric)
{
    return metric == WEIR_FRAG_PAPER ? WEIR_FRAG_TYPES : WEIR_FRAG_EVERYTHING;
}

/* Whether a node with `usable` of its `gpu_count` GPUs has enough of them. */
static bool enough_gpus(const struct weir_shape *shape, int64_t usable, uint32_t gpu_count)
{
    if (shape->kind == WEIR_SHAPE_SPMD_MULTI)
        return gpu_count == shape->gpu_count && usable == (int64_t)gpu_count;
    return usable >= (int64_t)shape->gpu_count;
}

/* What of the free compute of one GPU a shape cannot use. */
static int64_t lost_units(const struct weir_gpu *gpu, const struct weir_shape *shape, bool usable)
{
    if (!usable)
        return gpu->units_free;
    return shape->kind == WEIR_SHAPE_SLICE ? weir_shape_dead_units(shape, gpu->mig, gpu->mig_state)
                                           : 0;
}

/* ---- plain ---- */

/* How many GPUs, and what is free on them. */
struct gpu_count {
    uint32_t gpus;
    int64_t units;
};

/* Of those that are not `usable` the ones that would be if engines did not count. */
static struct gpu_count count_without_engines(const struct weir_gpu *gpus, uint32_t gpu_count,
                                              const struct weir_shape *seen, uint64_t usable)
{
    const struct weir_shape without = seen_shape(seen, WEIR_FRAG_EVERYTHING ^ WEIR_FRAG_ENGINES);
    struct gpu_count count = { .gpus = 0 };

    for (uint32_t g = 0; g < gpu_count; g++) {
        if ((usable >> g & 1) != 0 || !weir_gpu_usable(&gpus[g], &without))
            continue;
        count.gpus++;
        count.units += gpus[g].units_free;
    }
    return count;
}

/* `more`: GPUs that would be usable if engines did not count. */
static uint32_t obstacles_of(const struct weir_node *node, const struct weir_shape *seen,
                             uint32_t usable, uint32_t more)
{
    uint32_t bits = 0;

    if (!takes_compute(seen))
        bits |= WEIR_FRAG_NO_DEMAND;
    if (!enough_gpus(seen, usable, node->gpu_count))
        bits |= WEIR_FRAG_NO_GPUS;
    if ((bits & WEIR_FRAG_NO_GPUS) != 0 && enough_gpus(seen, usable + more, node->gpu_count))
        bits |= WEIR_FRAG_NO_ENGINES;
    if (node->cpu_free < seen->cpu_units)
        bits |= WEIR_FRAG_NO_CPUS;
    if (node->ram_free_bytes < seen->ram_bytes)
        bits |= WEIR_FRAG_NO_RAM;
    return bits;
}

/* Nothing is asked more often by a static run: sums are local, so that they stay in registers. */
static struct weir_frag_find find_seen(const struct weir_node *node, const struct weir_gpu *gpus,
                                       const struct weir_shape *seen)
{
    struct gpu_count more = { .gpus = 0 };
    uint64_t usable = 0;
    uint32_t usable_count = 0;
    uint32_t type = WEIR_FRAG_NO_TYPE;
    int64_t free_units = 0;
    int64_t unusable_units = 0;

    for (uint32_t g = 0; g < node->gpu_count; g++) {
        const bool is_usable = weir_gpu_usable(&gpus[g], seen);
        usable |= (uint64_t)is_usable << g;
        usable_count += is_usable;
        free_units += gpus[g].units_free;
        unusable_units += lost_units(&gpus[g], seen, is_usable);
        type = weir_shape_takes_type(seen, gpus[g].type) ? 0 : type;
    }
    if (wants_engines(seen))
        more = count_without_engines(gpus, node->gpu_count, seen, usable);
    const uint32_t obstacles = obstacles_of(node, seen, usable_count, more.gpus) | type;
    return (struct weir_frag_find){ .free_units = free_units,
                                    .lost_units = obstacles == 0 ? unusable_units : free_units,
                                    .engines_lost_units = obstacles == 0 ? more.units : 0,
                                    .usable = usable,
                                    .obstacles = obstacles };
}

struct weir_frag_find weir_frag_find(const struct weir_node *node, const struct weir_gpu *gpus,
                                     const struct weir_shape *shape, uint32_t looks)
{
    if (is_seen_whole(shape, looks))
        return find_seen(node, gpus, shape);
    const struct weir_shape seen = seen_shape(shape, looks);
    return find_seen(node, gpus, &seen);
}

/* A node and its GPUs outside the inventory, to try a change on. */
struct trial {
    struct weir_node node;
    struct weir_gpu gpus[WEIR_MAX_NODE_GPUS];
};

static void trial_load(struct trial *trial, const struct weir_cluster *cluster, uint32_t node)
{
    trial->node = cluster->nodes[node];
    if (trial->node.gpu_count > 0)
        memcpy(trial->gpus, &cluster->gpus[trial->node.gpu_first],
               trial->node.gpu_count * sizeof trial->gpus[0]);
}

static void trial_apply(struct trial *trial, const struct weir_alloc *alloc, int64_t direction)
{
    trial->node.cpu_free -= direction * alloc->cpu_units;
    trial->node.ram_free_bytes -= direction * alloc->ram_bytes;
    for (uint32_t d = 0; d < alloc->device_count; d++) {
        const struct weir_device *const device = &alloc->devices[d];
        weir_gpu_move(&trial->gpus[device->gpu], device, direction);
    }
}

static int64_t trial_units(const struct trial *trial, const struct weir_shape *shape,
                           uint32_t metric)
{
    return weir_frag_find(&trial->node, trial->gpus, shape, looks_of(metric)).lost_units;
}

int64_t weir_frag_units(const struct weir_cluster *cluster, uint32_t node,
                        const struct weir_shape *shape, uint32_t metric)
{
    struct trial trial;

    trial_load(&trial, cluster, node);
    return trial_units(&trial, shape, metric);
}

double weir_frag_node(const struct weir_cluster *cluster, uint32_t node, const struct weir_mix *mix,
                      uint32_t metric)
{
    double sum = 0;

    for (uint32_t i = 0; i < mix->count; i++)
        sum += mix->frequencies[i] *
               weir_units_amount(weir_frag_units(cluster, node, &mix->shapes[i], metric));
    return sum;
}

double weir_frag_cluster(const struct weir_cluster *cluster, const struct weir_mix *mix,
                         uint32_t metric)
{
    double sum = 0;

    for (uint32_t n = 0; n < cluster->node_count; n++)
        sum += weir_frag_node(cluster, n, mix, metric);
    return sum;
}

double weir_frag_change(const struct weir_cluster *cluster, const struct weir_mix *mix,
                        uint32_t metric, const struct weir_alloc *alloc, int64_t direction)
{
    struct trial trial; /* large: there and back on one */
    double sum = 0;

    trial_load(&trial, cluster, alloc->node);
    for (uint32_t i = 0; i < mix->count; i++) {
        const int64_t before = trial_units(&trial, &mix->shapes[i], metric);
        trial_apply(&trial, alloc, direction);
        const int64_t after = trial_units(&trial, &mix->shapes[i], metric);
        trial_apply(&trial, alloc, -direction);
        sum += mix->frequencies[i] * (double)(after - before);
    }
    return sum / (double)WEIR_ONE;
}

float weir_frag_single(const struct weir_cluster *cluster, const struct weir_mix *mix,
                       uint32_t node, const struct weir_alloc *alloc, int64_t direction)
{
    struct trial trial;
    float sum = 0;

    trial_load(&trial, cluster, node);
    if (alloc != NULL)
        trial_apply(&trial, alloc, direction);
    for (uint32_t i = 0; i < mix->count; i++) {
        const int64_t units = trial_units(&trial, &mix->shapes[i], WEIR_FRAG_XENNA);
        sum += (float)mix->frequencies[i] * (float)weir_units_amount(units);
    }
    return sum;
}

double weir_frag_reference(const struct weir_cluster *cluster, const struct weir_mix *mix,
                           const struct weir_alloc *alloc, int64_t direction, const double *free)
{
    struct trial trial;
    double sum = 0;

    trial_load(&trial, cluster, alloc->node);
    trial_apply(&trial, alloc, direction);
    for (uint32_t i = 0; i < mix->count; i++) {
        const struct weir_frag_find find =
            weir_frag_find(&trial.node, trial.gpus, &mix->shapes[i], WEIR_FRAG_EVERYTHING);
        double lost = 0;
        for (uint32_t g = 0; g < trial.node.gpu_count; g++)
            lost += find.obstacles != 0 || (find.usable >> g & 1) == 0 ? free[g] : 0;
        sum += mix->frequencies[i] * lost;
    }
    return sum;
}

static int64_t engines(uint32_t nvdecs, uint32_t nvencs)
{
    int64_t count = 0;

    if (nvdecs != 0)
        count += weir_bit_count(nvdecs);
    if (nvencs != 0)
        count += weir_bit_count(nvencs);
    return count * WEIR_ONE;
}

int64_t weir_stock_free(const struct weir_cluster *cluster, uint32_t node)
{
    const struct weir_node *const books = &cluster->nodes[node];
    int64_t sum = books->cpu_free;

    for (uint32_t g = 0; g < books->gpu_count; g++) {
        const struct weir_gpu *const gpu = &cluster->gpus[books->gpu_first + g];
        sum += gpu->units_free + engines(gpu->nvdec_free, gpu->nvenc_free);
    }
    return sum;
}

int64_t weir_stock_total(const struct weir_cluster *cluster, uint32_t node)
{
    const struct weir_node *const books = &cluster->nodes[node];
    int64_t sum = books->cpu_total;

    for (uint32_t g = 0; g < books->gpu_count; g++) {
        const struct weir_gpu *const gpu = &cluster->gpus[books->gpu_first + g];
        sum += gpu->units_total + engines(gpu->nvdec_all, gpu->nvenc_all);
    }
    return sum;
}

int64_t weir_stock_alloc(const struct weir_alloc *alloc)
{
    int64_t sum = alloc->cpu_units;

    for (uint32_t d = 0; d < alloc->device_count; d++) {
        const struct weir_device *const device = &alloc->devices[d];
        sum += device->units + engines(device->nvdec_mask, device->nvenc_mask);
    }
    return sum;
}

/* ---- prepared ---- */

static bool same_mix(const struct weir_frag *frag, const struct weir_mix *mix)
{
    /* Bytes are compared: the structs have no padding, and -0 against 0 only costs a refresh. */
    return frag->count == mix->count &&
           (mix->count == 0 ||
            (memcmp(frag->frequencies, mix->frequencies, mix->count * sizeof mix->frequencies[0]) ==
                 0 &&
             memcmp(frag->raw, mix->shapes, mix->count * sizeof mix->shapes[0]) == 0));
}

static weir_status reserve_entries(struct weir_frag *frag, const struct weir_allocator *allocator,
                                   uint32_t count)
{
    if (count <= frag->capacity)
        return WEIR_OK;
    const struct weir_frag room = {
        .metric = frag->metric,
        .capacity = count,
        .frequencies = weir_alloc(allocator, count, sizeof *room.frequencies),
        .raw = weir_alloc(allocator, count, sizeof *room.raw),
        .which = weir_alloc(allocator, count, sizeof *room.which),
        .shapes = weir_alloc(allocator, count, sizeof *room.shapes),
        .units = weir_alloc(allocator, count, sizeof *room.units),
        .changes = weir_alloc(allocator, count, sizeof *room.changes),
    };
    weir_frag_free(frag, allocator);
    *frag = room;
    if (room.frequencies != NULL && room.raw != NULL && room.which != NULL && room.shapes != NULL &&
        room.units != NULL && room.changes != NULL)
        return WEIR_OK;
    weir_frag_free(frag, allocator);
    return WEIR_ENOMEM;
}

/* Index of a shape among the distinct ones, added when it is new. */
static uint32_t distinct_index(struct weir_frag *frag, const struct weir_shape *shape)
{
    for (uint32_t k = 0; k < frag->distinct; k++) {
        if (memcmp(&frag->shapes[k], shape, sizeof *shape) == 0)
            return k;
    }
    frag->shapes[frag->distinct] = *shape;
    return frag->distinct++;
}

weir_status weir_frag_prepare(struct weir_frag *frag, const struct weir_allocator *allocator,
                              const struct weir_mix *mix, bool *changed)
{
    *changed = frag->capacity == 0 || !same_mix(frag, mix);
    if (!*changed)
        return WEIR_OK;
    WEIR_TRY(reserve_entries(frag, allocator, mix->count > 0 ? mix->count : 1));
    frag->count = mix->count;
    frag->distinct = 0;
    for (uint32_t i = 0; i < mix->count; i++) {
        frag->frequencies[i] = mix->frequencies[i];
        frag->raw[i] = mix->shapes[i];
        const struct weir_shape seen = seen_shape(&mix->shapes[i], looks_of(frag->metric));
        frag->which[i] = takes_compute(&seen) ? distinct_index(frag, &seen) : WEIR_NO_INDEX;
    }
    return WEIR_OK;
}

void weir_frag_free(struct weir_frag *frag, const struct weir_allocator *allocator)
{
    weir_free(allocator, frag->frequencies);
    weir_free(allocator, frag->raw);
    weir_free(allocator, frag->which);
    weir_free(allocator, frag->shapes);
    weir_free(allocator, frag->units);
    weir_free(allocator, frag->changes);
    *frag = (struct weir_frag){ .metric = frag->metric };
}

void weir_frag_survey(const struct weir_frag *frag, const struct weir_cluster *cluster,
                      uint32_t node, struct weir_frag_book *book, struct weir_frag_count *counts)
{
    const struct weir_node *const books = &cluster->nodes[node];

    book->version = books->version;
    book->gpu_free = 0;
    book->stock_free = weir_stock_free(cluster, node);
    book->stock_total = weir_stock_total(cluster, node);
    weir_twins_find(cluster, node, &book->twins);
    for (uint32_t k = 0; k < frag->distinct; k++)
        counts[k] = (struct weir_frag_count){ .usable = 0 };
    for (uint32_t g = 0; g < books->gpu_count; g++) {
        const struct weir_gpu *const gpu = &cluster->gpus[books->gpu_first + g];
        book->gpu_free += gpu->units_free;
        for (uint32_t k = 0; k < frag->distinct; k++) {
            const bool is_usable = weir_gpu_usable(gpu, &frag->shapes[k]);
            counts[k].usable += is_usable;
            counts[k].unusable_units += lost_units(gpu, &frag->shapes[k], is_usable);
        }
    }
}

/* A GPU before and after one device is given out or taken back. */
struct device_change {
    const struct weir_gpu *before;
    struct weir_gpu after;
};

static void count_device(const struct device_change *device, const struct weir_shape *shape,
                         struct weir_frag_count *count)
{
    const bool was_usable = weir_gpu_usable(device->before, shape);
    const bool is_usable = weir_gpu_usable(&device->after, shape);

    count->usable += is_usable - was_usable;
    count->unusable_units += lost_units(&device->after, shape, is_usable) -
                             lost_units(device->before, shape, was_usable);
}

/* F(node, shape) from counts, when `cpu` and `ram` are free and `all` is the free compute. */
static int64_t count_units(const struct weir_shape *shape, const struct weir_frag_count *count,
                           const struct weir_node *node, int64_t all)
{
    const bool fits = node->cpu_free >= shape->cpu_units &&
                      node->ram_free_bytes >= shape->ram_bytes &&
                      enough_gpus(shape, count->usable, node->gpu_count);
    return fits ? count->unusable_units : all;
}

/* What F of each distinct shape is and by how much it changes, kept in the scratch of the mix;
 * returns the change of the free compute. */
static int64_t find_changes(const struct weir_frag_site *site, const struct weir_alloc *alloc,
                            int64_t direction)
{
    const struct weir_frag *const frag = site->frag;
    const struct weir_node *const before = &site->cluster->nodes[alloc->node];
    struct device_change devices[WEIR_MAX_DEVICES];
    struct weir_node after = { .cpu_free = before->cpu_free - direction * alloc->cpu_units,
                               .ram_free_bytes =
                                   before->ram_free_bytes - direction * alloc->ram_bytes,
                               .gpu_count = before->gpu_count };
    int64_t compute = 0;

    for (uint32_t d = 0; d < alloc->device_count; d++) {
        const struct weir_device *const device = &alloc->devices[d];
        devices[d].before = &site->cluster->gpus[before->gpu_first + device->gpu];
        devices[d].after = *devices[d].before;
        weir_gpu_move(&devices[d].after, device, direction);
        compute -= direction * device->units;
    }
    for (uint32_t k = 0; k < frag->distinct; k++) {
        const struct weir_shape *const shape = &frag->shapes[k];
        struct weir_frag_count count = site->counts[k];
        for (uint32_t d = 0; d < alloc->device_count; d++)
            count_device(&devices[d], shape, &count);
        frag->units[k] = count_units(shape, &site->counts[k], before, site->book->gpu_free);
        frag->changes[k] =
            count_units(shape, &count, &after, site->book->gpu_free + compute) - frag->units[k];
    }
    return compute;
}

double weir_frag_site_change(const struct weir_frag_site *site, const struct weir_alloc *alloc,
                             int64_t direction)
{
    const struct weir_frag *const frag = site->frag;
    const int64_t compute = find_changes(site, alloc, direction);
    bool any = compute != 0;

    for (uint32_t k = 0; k < frag->distinct && !any; k++)
        any = frag->changes[k] != 0;
    if (!any)
        return 0;
    double sum = 0;
    for (uint32_t i = 0; i < frag->count; i++) {
        const uint32_t k = frag->which[i];
        sum += frag->frequencies[i] * (double)(k == WEIR_NO_INDEX ? compute : frag->changes[k]);
    }
    return sum / (double)WEIR_ONE;
}

struct weir_frag_singles weir_frag_site_singles(const struct weir_frag_site *site,
                                                const struct weir_alloc *alloc, int64_t direction)
{
    const struct weir_frag *const frag = site->frag;
    const int64_t compute = find_changes(site, alloc, direction);
    struct weir_frag_singles sum = { 0, 0 };

    for (uint32_t i = 0; i < frag->count; i++) {
        const uint32_t k = frag->which[i];
        const int64_t before = k == WEIR_NO_INDEX ? site->book->gpu_free : frag->units[k];
        const int64_t after = before + (k == WEIR_NO_INDEX ? compute : frag->changes[k]);
        const float frequency = (float)frag->frequencies[i];
        sum.before += frequency * (float)weir_units_amount(before);
        sum.after += frequency * (float)weir_units_amount(after);
    }
    return sum;
}
