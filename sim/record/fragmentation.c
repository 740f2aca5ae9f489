/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fragmentation of one node (fragmentation.h has the rule).
 *
 * Sums stay in integer units until they are multiplied with the mix, so that 0.1 + 0.2 of a GPU is
 * exactly 0.3 and a value does not depend on the order of the GPUs.
 */
#include "sim/record/fragmentation.h"

struct node_view {
    int64_t cpu_units_free;
    const struct sim_meter_gpu *gpus;
    size_t gpu_count;
};

/* What one shape finds on one node. */
struct survey {
    uint32_t usable;         /* GPUs that can host it */
    uint32_t compute_alone;  /* GPUs that could if engines were no matter */
    int64_t free_units;      /* on all GPUs */
    int64_t lost_to_compute; /* free on GPUs with too little compute or memory */
    int64_t lost_to_codec;   /* free on GPUs with too few engines */
    int64_t engines;         /* free, of the kinds it asks for */
    int64_t engines_lost;    /* those on GPUs that cannot host it */
};

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

static bool instance_fits(const struct sim_meter_gpu *gpu, const struct weir_shape *shape)
{
    return gpu->mig != NULL &&
           weir_mig_any_free(gpu->mig, gpu->mig_state,
                             weir_shape_profiles(shape, gpu->mig, gpu->mig_state.cut != 0));
}

static bool compute_fits(const struct sim_meter_gpu *gpu, const struct weir_shape *shape)
{
    if (gpu->mig != NULL || shape->kind == WEIR_SHAPE_SLICE)
        return instance_fits(gpu, shape);
    return gpu->units_free >= shape->gpu_units && gpu->mem_free_bytes >= shape->gpu_mem_bytes;
}

static bool engines_fit(const struct sim_meter_gpu *gpu, const struct weir_shape *shape)
{
    if (shape->kind == WEIR_SHAPE_ENTIRE)
        return gpu->nvdecs_free == gpu->nvdecs_total && gpu->nvencs_free == gpu->nvencs_total;
    return gpu->nvdecs_free >= shape->nvdecs && gpu->nvencs_free >= shape->nvencs;
}

static int64_t engines_of(const struct sim_meter_gpu *gpu, const struct weir_shape *shape)
{
    return (shape->nvdecs > 0 ? (int64_t)gpu->nvdecs_free : 0) +
           (shape->nvencs > 0 ? (int64_t)gpu->nvencs_free : 0);
}

static struct survey survey_node(const struct node_view *node, const struct weir_shape *shape)
{
    struct survey survey = { 0 };
    for (size_t g = 0; g < node->gpu_count; g++) {
        const struct sim_meter_gpu *gpu = &node->gpus[g];
        const bool has_compute = compute_fits(gpu, shape);
        const bool has_engines = engines_fit(gpu, shape);
        const int64_t engines = engines_of(gpu, shape);
        survey.free_units += gpu->units_free;
        survey.engines += engines;
        survey.compute_alone += has_compute;
        if (has_compute && has_engines) {
            survey.usable++;
            survey.lost_to_compute +=
                gpu->mig == NULL ? 0 : weir_shape_dead_units(shape, gpu->mig, gpu->mig_state);
            continue;
        }
        survey.engines_lost += engines;
        if (has_compute)
            survey.lost_to_codec += gpu->units_free;
        else
            survey.lost_to_compute += gpu->units_free;
    }
    return survey;
}

/* A CODEC shape whose engines may lie on several GPUs is placed by the sums of the node. */
static bool engine_sums_fit(const struct node_view *node, const struct weir_shape *shape)
{
    uint64_t nvdecs = 0;
    uint64_t nvencs = 0;
    for (size_t g = 0; g < node->gpu_count; g++) {
        nvdecs += node->gpus[g].nvdecs_free;
        nvencs += node->gpus[g].nvencs_free;
    }
    return nvdecs >= shape->nvdecs && nvencs >= shape->nvencs;
}

static uint32_t gpus_needed(const struct weir_shape *shape)
{
    return wants_gpu(shape) ? shape->gpu_count : 1;
}

static void add_gpu_parts(const struct node_view *node, const struct weir_shape *shape, double mix,
                          struct sim_frag *frag)
{
    const struct survey survey = survey_node(node, shape);
    const double all = mix * weir_units_amount(survey.free_units);
    if (!wants_gpu(shape)) {
        frag->part[SIM_FRAG_NO_GPU_DEMAND] += all;
    } else if (node->cpu_units_free < shape->cpu_units) {
        frag->part[SIM_FRAG_NO_CPU] += all;
    } else if (survey.usable < gpus_needed(shape)) {
        const bool is_codec = survey.compute_alone >= gpus_needed(shape);
        frag->part[is_codec ? SIM_FRAG_NO_CODEC : SIM_FRAG_FRACTION] += all;
    } else {
        frag->part[SIM_FRAG_NO_CODEC] += mix * weir_units_amount(survey.lost_to_codec);
        frag->part[SIM_FRAG_FRACTION] += mix * weir_units_amount(survey.lost_to_compute);
    }
}

static void add_codec_part(const struct node_view *node, const struct weir_shape *shape, double mix,
                           struct sim_frag *frag)
{
    const struct survey survey = survey_node(node, shape);
    const bool may_spread = shape->kind == WEIR_SHAPE_CODEC && !shape->codec_same_gpu;
    int64_t lost = survey.engines;
    if (node->cpu_units_free >= shape->cpu_units) {
        if (may_spread)
            lost = engine_sums_fit(node, shape) ? 0 : survey.engines;
        else if (survey.usable >= gpus_needed(shape))
            lost = survey.engines_lost;
    }
    frag->part[SIM_FRAG_CODEC] += mix * (double)lost;
}

/* Free compute slices of one GPU that no free place of a shape of the mix covers. */
static uint32_t dead_slices(const struct sim_frag_mix *mix, const struct sim_meter_gpu *gpu)
{
    uint32_t wanted = 0;
    if (gpu->mig == NULL)
        return 0;
    for (size_t s = 0; s < mix->stage_count; s++)
        if (mix->stages[s].mix > 0.0)
            wanted |= weir_shape_profiles(&mix->stages[s].shape, gpu->mig, gpu->mig_state.cut != 0);
    return weir_mig_dead(gpu->mig, gpu->mig_state, wanted);
}

static void add_free_parts(const struct sim_frag_mix *mix, const struct node_view *node,
                           struct sim_frag *frag)
{
    int64_t free_units = 0;
    int64_t crumb_units = 0;
    for (size_t g = 0; g < node->gpu_count; g++) {
        const int64_t units = node->gpus[g].units_free;
        free_units += units;
        crumb_units += units < mix->smallest_gpu_units ? units : 0;
        frag->part[SIM_FRAG_WHOLE] += units >= WEIR_ONE ? 1.0 : 0.0;
        frag->part[SIM_FRAG_DEAD] += dead_slices(mix, &node->gpus[g]);
    }
    const bool is_stranded =
        mix->smallest_gpu_units == 0 || node->cpu_units_free < mix->smallest_cpu_units;
    frag->part[SIM_FRAG_CRUMBS] = weir_units_amount(crumb_units);
    frag->part[SIM_FRAG_FREE] = weir_units_amount(free_units);
    frag->part[SIM_FRAG_STRANDED] = is_stranded ? weir_units_amount(free_units) : 0.0;
}

struct sim_frag sim_frag_node(const struct sim_frag_mix *mix, int64_t cpu_units_free,
                              const struct sim_meter_gpu *gpus, size_t gpu_count)
{
    const struct node_view node = { cpu_units_free, gpus, gpu_count };
    struct sim_frag frag = { { 0 } };
    for (size_t s = 0; s < mix->stage_count; s++) {
        const struct sim_meter_stage_info *stage = &mix->stages[s];
        if (!(stage->mix > 0.0))
            continue;
        add_gpu_parts(&node, &stage->shape, stage->mix, &frag);
        if (wants_engines(&stage->shape))
            add_codec_part(&node, &stage->shape, stage->mix, &frag);
    }
    frag.part[SIM_FRAG_GPU] = frag.part[SIM_FRAG_NO_CPU] + frag.part[SIM_FRAG_NO_CODEC] +
                              frag.part[SIM_FRAG_FRACTION] + frag.part[SIM_FRAG_NO_GPU_DEMAND];
    add_free_parts(mix, &node, &frag);
    return frag;
}
