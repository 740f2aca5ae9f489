/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many workers of a shape an empty cluster could hold: the border between infeasible and busy
 * (see weir/policy.h); and how many more a node could hold as it is.
 */
#include "sched/placement/parts/room.h"

#include "sched/cluster/state.h"
#include "sched/internal/bits.h"
#include "sched/placement/parts/candidates.h"

/* How often `request` goes into `total`; a request of nothing always does. */
static uint64_t times(int64_t total, int64_t request)
{
    return request <= 0 ? UINT64_MAX : (uint64_t)(total / request);
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t engines(uint32_t mask)
{
    return (uint64_t)weir_bit_count(mask);
}

/* A GPU as if what is free now were all it has. */
static struct weir_gpu rest_of(const struct weir_gpu *gpu)
{
    struct weir_gpu rest = *gpu;

    rest.units_total = gpu->units_free;
    rest.mem_total_bytes = gpu->mem_free_bytes;
    rest.nvdec_all = gpu->nvdec_free;
    rest.nvenc_all = gpu->nvenc_free;
    return rest;
}

/* The same of a GPU that is cut, or can be: side by side for one shape alone, beside `held`. */
static uint64_t slice_room(const struct weir_gpu *gpu, const struct weir_shape *shape,
                           weir_mig_layout held)
{
    const weir_mig_layout cut = gpu->mig_state.cut;
    uint64_t room = 0;

    if (gpu->mig == NULL || shape->kind != WEIR_SHAPE_SLICE)
        return 0;
    const uint32_t profiles = weir_shape_profiles(shape, gpu->mig, cut != 0);
    for (uint32_t p = 0; profiles >> p != 0; p++) {
        for (uint32_t s = 0; ((profiles >> p) & 1) != 0 && s < gpu->mig->slots; s++) {
            if (!weir_mig_free(gpu->mig, (struct weir_mig_state){ held, cut }, p, s))
                continue;
            held |= weir_mig_instance(p, s);
            room++;
        }
    }
    return room;
}

/* How many devices of the shape one empty GPU could host. */
static uint64_t gpu_room(const struct weir_gpu *gpu, const struct weir_shape *shape)
{
    const uint64_t decs = shape->nvdecs == 0 ? UINT64_MAX : engines(gpu->nvdec_all) / shape->nvdecs;
    const uint64_t encs = shape->nvencs == 0 ? UINT64_MAX : engines(gpu->nvenc_all) / shape->nvencs;

    if (!weir_shape_takes_type(shape, gpu->type))
        return 0;
    if (gpu->mig != NULL || shape->kind == WEIR_SHAPE_SLICE)
        return slice_room(gpu, shape, 0);
    return smaller(smaller(decs, encs), smaller(times(gpu->units_total, shape->gpu_units),
                                                times(gpu->mem_total_bytes, shape->gpu_mem_bytes)));
}

/* Engines of all GPUs of the node together, for workers that may take them from several. */
static uint64_t split_room(const struct weir_gpu *gpus, uint32_t count,
                           const struct weir_shape *shape)
{
    uint64_t decs = 0;
    uint64_t encs = 0;

    for (uint32_t g = 0; g < count; g++) {
        if (!weir_shape_takes_type(shape, gpus[g].type) || gpus[g].mig != NULL)
            continue;
        decs += engines(gpus[g].nvdec_all);
        encs += engines(gpus[g].nvenc_all);
    }
    return smaller(shape->nvdecs == 0 ? UINT64_MAX : decs / shape->nvdecs,
                   shape->nvencs == 0 ? UINT64_MAX : encs / shape->nvencs);
}

static uint64_t gpus_room(const struct weir_gpu *gpus, uint32_t count,
                          const struct weir_shape *shape)
{
    const bool is_split = shape->kind == WEIR_SHAPE_CODEC && shape->codec_same_gpu == 0;
    uint64_t sum = 0;

    if (shape->kind == WEIR_SHAPE_CPU)
        return UINT64_MAX;
    if (shape->gpu_count > WEIR_MAX_DEVICES ||
        (shape->kind == WEIR_SHAPE_SPMD_MULTI && shape->gpu_count != count))
        return 0;
    if (is_split)
        return split_room(gpus, count, shape);
    for (uint32_t g = 0; g < count; g++)
        sum += gpu_room(&gpus[g], shape);
    return shape->gpu_count > 1 ? sum / shape->gpu_count : sum;
}

/* On a node that is empty, and up whether it is or not. */
static uint64_t empty_room(const struct weir_cluster *cluster, uint32_t node,
                           const struct weir_shape *shape)
{
    const struct weir_node *const books = &cluster->nodes[node];
    const uint64_t host = smaller(times(books->cpu_total, shape->cpu_units),
                                  times(books->ram_total_bytes, shape->ram_bytes));
    const struct weir_gpu *const gpus =
        books->gpu_count == 0 ? NULL : cluster->gpus + books->gpu_first;

    if (!weir_node_takes(cluster, node, shape))
        return 0;
    return smaller(host, gpus_room(gpus, books->gpu_count, shape));
}

uint64_t weir_cluster_room(const struct weir_cluster *cluster, const struct weir_shape *shape,
                           uint64_t most)
{
    uint64_t sum = 0;

    for (uint32_t n = 0; n < cluster->node_count && sum < most; n++)
        sum += smaller(empty_room(cluster, n, shape), most - sum);
    return sum;
}

bool weir_cluster_serves(const struct weir_cluster *cluster, const struct weir_shape *shape)
{
    for (uint32_t n = 0; n < cluster->node_count; n++)
        if (cluster->nodes[n].flags == WEIR_NODE_UP && empty_room(cluster, n, shape) > 0)
            return true;
    return false;
}

/* On one GPU as it is. */
static uint64_t free_room(const struct weir_gpu *gpu, const struct weir_shape *shape)
{
    if (!weir_gpu_usable(gpu, shape))
        return 0;
    if (gpu->mig != NULL)
        return slice_room(gpu, shape, gpu->mig_state.held);
    const struct weir_gpu rest = rest_of(gpu);
    return gpu_room(&rest, shape);
}

uint64_t weir_node_room(const struct weir_cluster *cluster, uint32_t node,
                        const struct weir_shape *shape)
{
    const struct weir_node *const books = &cluster->nodes[node];
    const uint64_t host = smaller(times(books->cpu_free, shape->cpu_units),
                                  times(books->ram_free_bytes, shape->ram_bytes));
    uint64_t sum = 0;

    if (weir_candidates_reason(cluster, shape, node) != WEIR_REASON_NONE)
        return 0;
    if (shape->kind == WEIR_SHAPE_CPU)
        return host;
    for (uint32_t g = 0; g < books->gpu_count; g++)
        sum += free_room(&cluster->gpus[books->gpu_first + g], shape);
    const uint64_t room = smaller(host, shape->gpu_count > 1 ? sum / shape->gpu_count : sum);
    return room > 0 ? room : 1; /* engines of several GPUs */
}
