/* SPDX-License-Identifier: Apache-2.0 */
/* What a place must give a worker; see the header. */
#include "sched/host/covers.h"

#include "sched/cluster/state.h"
#include "sched/internal/bits.h"

/* Most have none, and to count bits is a call where the processor is not told to. */
static uint32_t engines_of(uint32_t mask)
{
    return mask == 0 ? 0 : weir_bit_count(mask);
}

/* Whether every GPU gives a worker of this shape what it needs of one GPU. */
static bool covers_gpus(const struct weir_cluster *cluster, const struct weir_shape *shape,
                        const struct weir_alloc *alloc)
{
    for (uint32_t i = 0; i < alloc->device_count; i++) {
        const struct weir_device *const device = &alloc->devices[i];
        const struct weir_gpu *const gpu = weir_cluster_gpu(cluster, alloc->node, device->gpu);
        const bool all = shape->kind == WEIR_SHAPE_ENTIRE;
        const uint32_t nvdecs = all ? engines_of(gpu->nvdec_all) : shape->nvdecs;
        const uint32_t nvencs = all ? engines_of(gpu->nvenc_all) : shape->nvencs;
        if (device->units < shape->gpu_units || device->mem_bytes < shape->gpu_mem_bytes ||
            engines_of(device->nvdec_mask) < nvdecs || engines_of(device->nvenc_mask) < nvencs)
            return false;
    }
    return alloc->device_count == shape->gpu_count;
}

static bool covers_slice(const struct weir_cluster *cluster, const struct weir_shape *shape,
                         const struct weir_alloc *alloc)
{
    if (alloc->device_count != 1 || alloc->devices[0].mig == 0)
        return false;
    const struct weir_device *const device = &alloc->devices[0];
    const struct weir_gpu *const gpu = weir_cluster_gpu(cluster, alloc->node, device->gpu);
    const struct weir_mig_profile *const profile = &gpu->mig->profiles[weir_device_profile(device)];
    return weir_shape_takes_profile(shape, profile) &&
           engines_of(device->nvdec_mask) >= shape->nvdecs;
}

static bool covers_codecs(const struct weir_shape *shape, const struct weir_alloc *alloc)
{
    uint32_t nvdecs = 0;
    uint32_t nvencs = 0;

    for (uint32_t i = 0; i < alloc->device_count; i++) {
        nvdecs += engines_of(alloc->devices[i].nvdec_mask);
        nvencs += engines_of(alloc->devices[i].nvenc_mask);
    }
    return nvdecs >= shape->nvdecs && nvencs >= shape->nvencs &&
           (shape->codec_same_gpu == 0 || alloc->device_count == 1);
}

/* Whether labels let the worker stand on its node. */
static weir_status check_labels(const struct weir_cluster *cluster, const struct weir_shape *shape,
                                uint32_t node, struct weir_error *error)
{
    const uint32_t labels = weir_topology_of(cluster, node)->labels;
    const uint32_t missing = shape->labels & ~labels & ~WEIR_LABEL_KEPT;

    if (missing != 0)
        return weir_fail(error, WEIR_EPOLICY, "node %llu has no label %d",
                         (unsigned long long)weir_cluster_node(cluster, node)->id,
                         __builtin_ctz(missing));
    if ((labels & WEIR_LABEL_KEPT) != 0 && shape->labels == 0)
        return weir_fail(error, WEIR_EPOLICY, "node %llu is kept for others",
                         (unsigned long long)weir_cluster_node(cluster, node)->id);
    return WEIR_OK;
}

weir_status weir_check_covers(const struct weir_cluster *cluster, const struct weir_shape *shape,
                              const struct weir_alloc *alloc, struct weir_error *error)
{
    char text[128];

    WEIR_TRY(check_labels(cluster, shape, alloc->node, error));
    bool is_covered = alloc->cpu_units >= shape->cpu_units && alloc->ram_bytes >= shape->ram_bytes;
    if (shape->kind == WEIR_SHAPE_CODEC)
        is_covered = is_covered && covers_codecs(shape, alloc);
    else if (shape->kind == WEIR_SHAPE_SLICE)
        is_covered = is_covered && covers_slice(cluster, shape, alloc);
    else
        is_covered = is_covered && covers_gpus(cluster, shape, alloc);
    if (is_covered)
        return WEIR_OK;
    (void)weir_shape_print(shape, text, sizeof text);
    return weir_fail(error, WEIR_EPOLICY, "gives less than the %s that it needs", text);
}
