/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Resolving work on codec engines: frames to seconds of one engine, by GPU type.
 *
 * A stage keeps to the GPU types whose engines know its codec; when none of the cluster's does, it
 * can never run, and that is said.
 */
#include "sim/scenario/catalog/catalog_codecs.h"
#include "sim/scenario/resolve/check.h"

#include <math.h>

static const double table_pixels = 1920.0 * 1080.0;

/* Frames a second of one engine, 0 = it cannot, NAN = not known. */
static double rate_of(const struct sim_scenario *scenario, uint32_t type,
                      const struct draft_codec *draft, bool is_encoder)
{
    const struct sim_gpu_type *truth = &scenario->gpu_truth[type];
    const double fps = is_encoder
                           ? sim_catalog_encode_fps(truth->codecs, draft->codec, draft->preset)
                           : sim_catalog_decode_fps(truth->codecs, draft->codec);
    const double pixels = (double)draft->width * draft->height;
    return fps * table_pixels / pixels * draft->attained * (isnan(truth->speed) ? 1 : truth->speed);
}

static void assume_rate(struct sim_resolver *resolver, uint32_t type,
                        const struct draft_codec *draft, bool is_encoder, double fps)
{
    sim_resolve_assume(
        resolver, sim_arena_printf(
                      resolver->arena,
                      "an engine of %s %s %g frames/s of %s at %u x %u: the %g %% that a program "
                      "attains of NVIDIA's %s application note [derived]",
                      resolver->scenario->gpu_types[type].name, is_encoder ? "encodes" : "decodes",
                      round(fps), sim_codec_name(draft->codec), draft->width, draft->height,
                      100 * draft->attained, is_encoder ? "NVENC" : "NVDEC"));
}

/* Engines without compute may come from several GPUs of a node. */
static bool may_hold(const struct sim_scenario *scenario, const struct sim_node_type *node,
                     size_t entry, const struct weir_shape *shape)
{
    const struct sim_gpu_type *gpu = &scenario->gpu_types[node->gpus[entry].type];
    if (shape->kind != WEIR_SHAPE_CODEC || shape->codec_same_gpu != 0)
        return sim_check_gpu(scenario, node, entry, shape);
    return (shape->nvdecs == 0 || gpu->nvdecs > 0) && (shape->nvencs == 0 || gpu->nvencs > 0);
}

/* The types of the cluster that can hold it and whose engines can do it, as a set; 0 = none. Those
 * that can hold it and cannot do it are counted. */
static uint32_t able_types(const struct sim_scenario *scenario, const struct sim_stage *stage,
                           const double *seconds, uint32_t *unable)
{
    uint32_t set = 0;
    for (size_t g = 0; g < scenario->node_groups_count; g++) {
        const struct sim_node_type *node = &scenario->node_types[scenario->node_groups[g].type];
        for (size_t i = 0; i < node->gpus_count; i++) {
            const uint32_t type = node->gpus[i].type;
            if (!may_hold(scenario, node, i, &stage->shape))
                continue;
            if (type < 31 && isfinite(seconds[type]))
                set |= UINT32_C(1) << type;
            else
                ++*unable;
        }
    }
    return set;
}

/* What would help. */
static const char *way_out(const struct draft_codec *draft, bool is_encoder)
{
    if (is_encoder && draft->codec == SIM_CODEC_VP9)
        return "no NVENC does";
    if (draft->codec == SIM_CODEC_AV1)
        return is_encoder ? "Ada and Blackwell do"
                          : "Turing, GA100, Hopper and older have no AV1; Ada and Blackwell do";
    return "catalog.gpu_types.NAME.codecs names a built-in type with its engines";
}

static void keep_to(struct sim_resolver *resolver, const struct draft_codec *draft,
                    struct sim_stage *stage, const struct sim_codec_work *work, bool is_encoder)
{
    uint32_t unable = 0;
    const uint32_t able = able_types(resolver->scenario, stage, work->seconds, &unable);
    for (uint32_t t = 0; t < resolver->scenario->gpu_types_count && t < 31; t++)
        if ((able >> t & 1) != 0)
            assume_rate(resolver, t, draft, is_encoder, draft->frames / work->seconds[t]);
    const bool is_hidden = stage->shape.kind == WEIR_SHAPE_CPU;
    if (able == 0 && (unable > 0 || is_hidden))
        sim_report_error(resolver->report, draft->head.node,
                         "can never run: no GPU of the cluster that can hold it %s %s; %s",
                         is_encoder ? "encodes" : "decodes", sim_codec_name(draft->codec),
                         way_out(draft, is_encoder));
    else if (unable > 0 && is_hidden)
        sim_report_error(resolver->report, draft->head.node,
                         "not every GPU of the cluster %s %s: ask for the engines, and the stage "
                         "keeps to those that do",
                         is_encoder ? "encodes" : "decodes", sim_codec_name(draft->codec));
    else if (unable > 0)
        stage->shape.gpu_type = WEIR_GPU_TYPE_SET | able;
}

/* Here, so that a stage without such work has no such keys in the canonical text. */
static void fill_defaults(struct draft_codec *draft, bool is_encoder)
{
    draft->width = draft->width == SIM_ABSENT_COUNT ? 1920 : draft->width;
    draft->height = draft->height == SIM_ABSENT_COUNT ? 1080 : draft->height;
    draft->attained = isnan(draft->attained) ? .65 : draft->attained;
    if (is_encoder && draft->preset == SIM_ABSENT_COUNT)
        draft->preset = SIM_PRESET_P3;
}

static void resolve_work(struct sim_resolver *resolver, struct draft_codec *draft,
                         struct sim_stage *stage, struct sim_codec_work *work, bool is_encoder)
{
    const struct sim_scenario *scenario = resolver->scenario;
    const struct weir_shape *uses = &stage->uses_shape;
    const uint32_t engines = is_encoder ? uses->nvencs : uses->nvdecs;
    const uint32_t gpus = uses->kind == WEIR_SHAPE_WHOLE ? uses->gpu_count : 1;
    if (draft->head.node == NULL || isnan(draft->frames) || draft->codec == SIM_ABSENT_COUNT)
        return;
    fill_defaults(draft, is_encoder);
    if (engines == 0 && uses->kind != WEIR_SHAPE_ENTIRE) {
        sim_report_error(resolver->report, draft->head.node, "the stage uses no %s; give it some",
                         is_encoder ? "nvencs" : "nvdecs");
        return;
    }
    work->engines = engines == 0 ? WEIR_MAX_ENGINES : engines * gpus;
    work->fastest_s = (double)INFINITY;
    work->seconds = sim_arena_alloc(resolver->arena, scenario->gpu_types_count + 1, sizeof(double));
    for (uint32_t t = 0; t < scenario->gpu_types_count; t++) {
        const double fps = rate_of(scenario, t, draft, is_encoder);
        work->seconds[t] = fps > 0 ? draft->frames / fps : (double)INFINITY;
        work->fastest_s = fmin(work->fastest_s, work->seconds[t]);
    }
    keep_to(resolver, draft, stage, work, is_encoder);
}

void sim_resolve_codecs(struct sim_resolver *resolver)
{
    struct sim_scenario *scenario = resolver->scenario;
    const struct draft_pipeline *pipelines = resolver->draft->pipelines.items;
    if (resolver->is_hardware_unclear)
        return;
    for (size_t p = 0; p < scenario->pipelines_count; p++) {
        struct draft_stage *drafts = pipelines[p].stages.items;
        for (size_t s = 0; s < scenario->pipelines[p].stages_count; s++) {
            struct sim_stage *stage = &scenario->pipelines[p].stages[s];
            resolve_work(resolver, &drafts[s].service.decode, stage, &stage->service.decode, false);
            resolve_work(resolver, &drafts[s].service.encode, stage, &stage->service.encode, true);
        }
    }
}
