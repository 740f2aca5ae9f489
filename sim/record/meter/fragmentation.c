/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fragmentation of one node (fragmentation.h has the rule).
 *
 * Sums stay in integer units until they are multiplied with the mix, so that 0.1 + 0.2 of a GPU is
 * exactly 0.3.
 */
#include "sim/record/meter/fragmentation.h"

#include "weir/frag.h"

static bool wants_gpu(const struct weir_shape *shape)
{
    return shape->gpu_units > 0;
}

static bool wants_engines(const struct weir_shape *shape)
{
    return shape->nvdecs > 0 || shape->nvencs > 0;
}

void sim_frag_mix_open(struct sim_frag_mix *mix, const struct sim_meter_stage_info *stages,
                       size_t stage_count)
{
    *mix = (struct sim_frag_mix){ .stage_count = stage_count, .stages = stages };
    int64_t smallest = 0; /* GPU of the whole worker */
    for (size_t s = 0; s < stage_count; s++) {
        const struct weir_shape *shape = &stages[s].shape;
        if (!(stages[s].mix > 0.0) || !wants_gpu(shape))
            continue;
        if (mix->smallest_gpu_units == 0 || shape->gpu_units < mix->smallest_gpu_units)
            mix->smallest_gpu_units = shape->gpu_units;
        const int64_t demand = shape->gpu_units * (int64_t)shape->gpu_count;
        const bool is_smaller = smallest == 0 || demand < smallest ||
                                (demand == smallest && shape->cpu_units < mix->smallest_cpu_units);
        if (is_smaller) {
            smallest = demand;
            mix->smallest_cpu_units = shape->cpu_units;
        }
    }
}

static int64_t engines_of(const struct weir_gpu *gpu, const struct weir_shape *shape)
{
    return (shape->nvdecs > 0 ? __builtin_popcount(gpu->nvdec_free) : 0) +
           (shape->nvencs > 0 ? __builtin_popcount(gpu->nvenc_free) : 0);
}

/* A CODEC shape whose engines may lie on several GPUs is placed by the sums of the node. */
static bool engine_sums_fit(const struct weir_node *node, const struct weir_gpu *gpus,
                            const struct weir_shape *shape)
{
    uint32_t nvdecs = 0;
    uint32_t nvencs = 0;
    for (uint32_t g = 0; g < node->gpu_count; g++) {
        nvdecs += (uint32_t)__builtin_popcount(gpus[g].nvdec_free);
        nvencs += (uint32_t)__builtin_popcount(gpus[g].nvenc_free);
    }
    return nvdecs >= shape->nvdecs && nvencs >= shape->nvencs;
}

static void add_gpu_parts(const struct weir_frag_find *find, double mix, struct sim_frag *frag)
{
    const double lost = mix * weir_units_amount(find->lost_units);
    const double to_engines = mix * weir_units_amount(find->engines_lost_units);
    if ((find->obstacles & WEIR_FRAG_NO_DEMAND) != 0) {
        frag->part[SIM_FRAG_NO_GPU_DEMAND] += lost;
    } else if ((find->obstacles & WEIR_FRAG_NO_CPUS) != 0) {
        frag->part[SIM_FRAG_NO_CPU] += lost;
    } else if ((find->obstacles & WEIR_FRAG_NO_ENGINES) != 0) {
        frag->part[SIM_FRAG_NO_CODEC] += lost;
    } else if (find->obstacles != 0) {
        frag->part[SIM_FRAG_FRACTION] += lost;
    } else {
        frag->part[SIM_FRAG_NO_CODEC] += to_engines;
        frag->part[SIM_FRAG_FRACTION] +=
            mix * weir_units_amount(find->lost_units - find->engines_lost_units);
    }
}

/* Free engines of the kinds the shape asks for that it cannot use. */
static int64_t engines_lost(const struct weir_frag_find *find, const struct weir_node *node,
                            const struct weir_gpu *gpus, const struct weir_shape *shape)
{
    const bool may_spread = shape->kind == WEIR_SHAPE_CODEC && !shape->codec_same_gpu;
    const int needed = wants_gpu(shape) ? (int)shape->gpu_count : 1;
    const bool has_gpus = __builtin_popcountll(find->usable) >= needed;
    int64_t all = 0;
    int64_t unusable = 0;
    for (uint32_t g = 0; g < node->gpu_count; g++) {
        all += engines_of(&gpus[g], shape);
        unusable += (find->usable >> g & 1) == 0 ? engines_of(&gpus[g], shape) : 0;
    }
    if ((find->obstacles & WEIR_FRAG_NO_CPUS) != 0)
        return all;
    if (may_spread)
        return engine_sums_fit(node, gpus, shape) ? 0 : all;
    return has_gpus ? unusable : all;
}

/* Free compute slices of one GPU that no free place of a shape of the mix covers. */
static uint32_t dead_slices(const struct sim_frag_mix *mix, const struct weir_gpu *gpu)
{
    uint32_t wanted = 0;
    if (gpu->mig == NULL)
        return 0;
    for (size_t s = 0; s < mix->stage_count; s++)
        if (mix->stages[s].mix > 0.0)
            wanted |= weir_shape_profiles(&mix->stages[s].shape, gpu->mig, gpu->mig_state.cut != 0);
    return weir_mig_dead(gpu->mig, gpu->mig_state, wanted);
}

static void add_free_parts(const struct sim_frag_mix *mix, const struct weir_node *node,
                           const struct weir_gpu *gpus, struct sim_frag *frag)
{
    int64_t free_units = 0;
    int64_t crumb_units = 0;
    for (uint32_t g = 0; g < node->gpu_count; g++) {
        const int64_t units = gpus[g].units_free;
        free_units += units;
        crumb_units += units < mix->smallest_gpu_units ? units : 0;
        frag->part[SIM_FRAG_WHOLE] += units >= WEIR_ONE ? 1.0 : 0.0;
        frag->part[SIM_FRAG_DEAD] += dead_slices(mix, &gpus[g]);
    }
    const bool is_stranded =
        mix->smallest_gpu_units == 0 || node->cpu_free < mix->smallest_cpu_units;
    frag->part[SIM_FRAG_CRUMBS] = weir_units_amount(crumb_units);
    frag->part[SIM_FRAG_FREE] = weir_units_amount(free_units);
    frag->part[SIM_FRAG_STRANDED] = is_stranded ? weir_units_amount(free_units) : 0.0;
}

struct sim_frag sim_frag_node(const struct sim_frag_mix *mix, const struct weir_node *node,
                              const struct weir_gpu *gpus)
{
    struct sim_frag frag = { { 0 } };
    if (node->gpu_count == 0) /* nothing of it can be lost */
        return frag;
    for (size_t s = 0; s < mix->stage_count; s++) {
        const struct sim_meter_stage_info *stage = &mix->stages[s];
        if (!(stage->mix > 0.0))
            continue;
        const struct weir_frag_find find =
            weir_frag_find(node, gpus, &stage->shape, WEIR_FRAG_DEVICES);
        add_gpu_parts(&find, stage->mix, &frag);
        if (wants_engines(&stage->shape))
            frag.part[SIM_FRAG_CODEC] +=
                stage->mix * (double)engines_lost(&find, node, gpus, &stage->shape);
    }
    frag.part[SIM_FRAG_GPU] = frag.part[SIM_FRAG_NO_CPU] + frag.part[SIM_FRAG_NO_CODEC] +
                              frag.part[SIM_FRAG_FRACTION] + frag.part[SIM_FRAG_NO_GPU_DEMAND];
    add_free_parts(mix, node, gpus, &frag);
    return frag;
}
