/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Is there room at all? Every shape must fit some node type as the catalogue describes it, and the
 * least number of workers (the fixed count, else one for each stage) must fit the cluster.
 */
#include "sim/scenario/resolve/check.h"

#include <math.h>
#include <string.h>

/* ---- one shape, one node type ---- */

static int64_t cpu_units(double cpus)
{
    return llround(cpus * (double)WEIR_ONE);
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Whether an empty GPU that is cut has, or can make, an instance that will do. */
static bool has_instance(const struct weir_mig *table, const weir_mig_layout *cuts, size_t entry,
                         const struct weir_shape *shape)
{
    const struct weir_mig_state empty = { .cut = cuts == NULL ? 0 : cuts[entry] };
    return table != NULL &&
           weir_mig_any_free(table, empty, weir_shape_profiles(shape, table, empty.cut != 0));
}

bool sim_check_gpu(const struct sim_scenario *scenario, const struct sim_node_type *type,
                   size_t entry, const struct weir_shape *shape)
{
    const struct sim_gpu_type *gpu = &scenario->gpu_types[type->gpus[entry].type];
    const bool has_codecs = shape->kind == WEIR_SHAPE_ENTIRE ||
                            (gpu->nvdecs >= shape->nvdecs && gpu->nvencs >= shape->nvencs);
    const bool is_cut = type->share == SIM_SHARING_MIG;
    if (!weir_shape_takes_type(shape, type->gpus[entry].type))
        return false;
    if (is_cut || shape->kind == WEIR_SHAPE_SLICE)
        return is_cut && has_instance(gpu->mig, type->cuts, entry, shape);
    return has_codecs && gpu->mem_bytes >= shape->gpu_mem_bytes;
}

/* GPUs of the node that can hold the shape's part of one GPU. */
static uint32_t suitable_gpus(const struct sim_scenario *scenario, const struct sim_node_type *type,
                              const struct weir_shape *shape)
{
    uint32_t count = 0;
    for (size_t i = 0; i < type->gpus_count; i++)
        count += sim_check_gpu(scenario, type, i, shape) ? type->gpus[i].count : 0;
    return count;
}

static uint64_t node_engines(const struct sim_scenario *scenario, const struct sim_node_type *type,
                             bool is_encoder)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < type->gpus_count; i++) {
        const struct sim_gpu_type *gpu = &scenario->gpu_types[type->gpus[i].type];
        sum += (uint64_t)type->gpus[i].count * (is_encoder ? gpu->nvencs : gpu->nvdecs);
    }
    return sum;
}

static bool gpus_fit(const struct sim_scenario *scenario, const struct sim_node_type *type,
                     const struct weir_shape *shape)
{
    switch ((enum weir_shape_kind)shape->kind) {
    case WEIR_SHAPE_CPU:
    case WEIR_SHAPE_KIND_COUNT:
        return true;
    case WEIR_SHAPE_CODEC:
        if (shape->codec_same_gpu != 0)
            return suitable_gpus(scenario, type, shape) > 0;
        return node_engines(scenario, type, false) >= shape->nvdecs &&
               node_engines(scenario, type, true) >= shape->nvencs;
    case WEIR_SHAPE_FRACTIONAL:
    case WEIR_SHAPE_WHOLE:
    case WEIR_SHAPE_ENTIRE:
    case WEIR_SHAPE_SPMD_SMALL:
    case WEIR_SHAPE_SPMD_MULTI:
    case WEIR_SHAPE_SLICE:
        return suitable_gpus(scenario, type, shape) >= shape->gpu_count;
    }
    return false;
}

/* Can one worker of this shape be placed on an empty node of this type, by the catalogue? */
static bool shape_fits(const struct sim_scenario *scenario, const struct sim_node_type *type,
                       const struct weir_shape *shape)
{
    return cpu_units(type->cpus) >= shape->cpu_units && type->ram_bytes >= shape->ram_bytes &&
           gpus_fit(scenario, type, shape);
}

uint64_t sim_check_most(const struct sim_scenario *scenario, const struct sim_node_type *type,
                        const struct weir_shape *shape)
{
    uint64_t most = UINT64_MAX;
    if (!shape_fits(scenario, type, shape))
        return 0;
    if (shape->cpu_units > 0)
        most = (uint64_t)(cpu_units(type->cpus) / shape->cpu_units);
    if (shape->ram_bytes > 0)
        most = smaller(most, (uint64_t)(type->ram_bytes / shape->ram_bytes));
    if (shape->kind == WEIR_SHAPE_WHOLE)
        most = smaller(most, suitable_gpus(scenario, type, shape) / shape->gpu_count);
    else if (shape->kind == WEIR_SHAPE_FRACTIONAL && shape->gpu_units > 0)
        most = smaller(most, suitable_gpus(scenario, type, shape) *
                                 (uint64_t)(WEIR_ONE / shape->gpu_units));
    return most;
}

/* ---- why it fits nowhere ---- */

/* The largest amounts over the node types in use. */
struct largest {
    double cpus;
    int64_t ram_bytes;
    uint32_t gpus;
    int64_t gpu_mem_bytes;
    uint64_t nvdecs; /* of one GPU */
    uint64_t nvencs;
    uint64_t node_nvdecs;
    uint64_t node_nvencs;
};

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void take_gpus(const struct sim_scenario *scenario, const struct sim_node_type *type,
                      struct largest *largest)
{
    uint32_t gpus = 0;
    for (size_t i = 0; i < type->gpus_count; i++) {
        const struct sim_gpu_type *gpu = &scenario->gpu_types[type->gpus[i].type];
        gpus += type->gpus[i].count;
        largest->nvdecs = larger(largest->nvdecs, gpu->nvdecs);
        largest->nvencs = larger(largest->nvencs, gpu->nvencs);
        if (gpu->mem_bytes > largest->gpu_mem_bytes)
            largest->gpu_mem_bytes = gpu->mem_bytes;
    }
    largest->gpus = gpus > largest->gpus ? gpus : largest->gpus;
    largest->node_nvdecs = larger(largest->node_nvdecs, node_engines(scenario, type, false));
    largest->node_nvencs = larger(largest->node_nvencs, node_engines(scenario, type, true));
}

static struct largest find_largest(const struct sim_scenario *scenario)
{
    struct largest largest = { .cpus = 0 };
    for (size_t i = 0; i < scenario->node_groups_count; i++) {
        const struct sim_node_type *type = &scenario->node_types[scenario->node_groups[i].type];
        largest.cpus = fmax(largest.cpus, type->cpus);
        if (type->ram_bytes > largest.ram_bytes)
            largest.ram_bytes = type->ram_bytes;
        take_gpus(scenario, type, &largest);
    }
    return largest;
}

/* "h100: 0, l4: 2" */
static char *engines_text(struct sim_resolver *resolver, bool is_encoder)
{
    const struct sim_scenario *scenario = resolver->scenario;
    char *text = sim_arena_copy(resolver->arena, "");
    for (size_t i = 0; i < scenario->gpu_types_count; i++)
        text = sim_arena_printf(
            resolver->arena, "%s%s%s has %u", text, i == 0 ? "" : ", ", scenario->gpu_types[i].name,
            is_encoder ? scenario->gpu_types[i].nvencs : scenario->gpu_types[i].nvdecs);
    return text[0] == '\0' ? sim_arena_copy(resolver->arena, "there are no GPUs") : text;
}

static const char *engine_way_out(const struct largest *largest, bool is_encoder)
{
    const uint64_t most = is_encoder ? largest->nvencs : largest->nvdecs;
    if (most > 0)
        return is_encoder ? "ask for fewer nvencs" : "ask for fewer nvdecs";
    return is_encoder ? "use a GPU type with NVENC (l4, l40, l40s, rtx6000ada ...) or drop nvencs"
                      : "use a GPU type with NVDEC (h100, a100-80, l4, l40s ...) or drop nvdecs";
}

static const char *say_engines(struct sim_resolver *resolver, const struct weir_shape *shape,
                               const struct largest *largest, bool is_encoder)
{
    const uint32_t need = is_encoder ? shape->nvencs : shape->nvdecs;
    const bool is_node_wide = shape->kind == WEIR_SHAPE_CODEC && shape->codec_same_gpu == 0;
    return sim_arena_printf(resolver->arena, "needs %u %s on one %s, %s; %s", need,
                            is_encoder ? "NVENC" : "NVDEC", is_node_wide ? "node" : "GPU",
                            engines_text(resolver, is_encoder),
                            engine_way_out(largest, is_encoder));
}

static const char *say_gpus(struct sim_resolver *resolver, const struct weir_shape *shape,
                            const struct largest *largest)
{
    if (largest->gpus == 0)
        return "needs a GPU, and no node has one; add gpus to a node type or drop gpus";
    return sim_arena_printf(resolver->arena,
                            "needs %u GPUs in one node, the largest node has %u; ask for fewer "
                            "gpus or use a larger node type",
                            shape->gpu_count, largest->gpus);
}

static const char *say_instance(struct sim_resolver *resolver, const struct weir_shape *shape)
{
    char text[160];
    (void)weir_shape_print(shape, text, sizeof text);
    return sim_arena_printf(resolver->arena,
                            "no GPU that is cut (share: mig) has an instance for %s; change "
                            "partition or ask for another profile",
                            text);
}

/* The first amount that no node type has; NULL when each for itself is there. */
static const char *say_single(struct sim_resolver *resolver, const struct weir_shape *shape,
                              const struct largest *largest)
{
    const bool is_spread = shape->kind == WEIR_SHAPE_CODEC && shape->codec_same_gpu == 0;
    if (cpu_units(largest->cpus) < shape->cpu_units)
        return sim_arena_printf(resolver->arena,
                                "needs %g CPUs in one node, the largest node has %g; ask for fewer "
                                "cpus or use a larger node type",
                                weir_units_amount(shape->cpu_units), largest->cpus);
    if (largest->ram_bytes < shape->ram_bytes)
        return sim_arena_printf(resolver->arena,
                                "needs %s of memory in one node, the largest node has %s; ask for "
                                "less ram or give the node type more",
                                sim_quantity_bytes(resolver->arena, shape->ram_bytes),
                                sim_quantity_bytes(resolver->arena, largest->ram_bytes));
    if (largest->gpus < shape->gpu_count)
        return say_gpus(resolver, shape, largest);
    if (shape->kind == WEIR_SHAPE_SLICE)
        return say_instance(resolver, shape);
    if ((is_spread ? largest->node_nvdecs : largest->nvdecs) < shape->nvdecs)
        return say_engines(resolver, shape, largest, false);
    if ((is_spread ? largest->node_nvencs : largest->nvencs) < shape->nvencs)
        return say_engines(resolver, shape, largest, true);
    if (shape->gpu_count > 0 && largest->gpu_mem_bytes < shape->gpu_mem_bytes)
        return sim_arena_printf(resolver->arena,
                                "needs %s on one GPU, the largest GPU has %s; ask for less "
                                "gpu_memory or use a larger GPU type",
                                sim_quantity_bytes(resolver->arena, shape->gpu_mem_bytes),
                                sim_quantity_bytes(resolver->arena, largest->gpu_mem_bytes));
    return NULL;
}

uint32_t sim_check_nodes(const struct sim_scenario *scenario, const struct sim_node_group *group,
                         const struct weir_shape *shape)
{
    uint32_t count = 0;
    for (uint32_t n = group->first; n < group->first + group->count; n++)
        count += weir_shape_takes_labels(shape, sim_scenario_node_labels(scenario, n)) ? 1 : 0;
    return count;
}

/* What fits some node, but for labels. */
static const char *say_labels(struct sim_resolver *resolver, const struct weir_shape *shape)
{
    const char *text = "";
    for (uint32_t i = 0; i < resolver->labels_count; i++)
        if ((shape->labels >> i & 1) != 0)
            text = sim_arena_printf(resolver->arena, "%s%s%s", text, text[0] == '\0' ? "" : ", ",
                                    resolver->labels[i]);
    if (text[0] == '\0')
        return "the nodes with room for it are kept for others; give it their label as "
               "node_selector, or borrow: true";
    return sim_arena_printf(
        resolver->arena, "no node with the labels of its node_selector (%s) has room for it", text);
}

const char *sim_check_shape(struct sim_resolver *resolver, const struct weir_shape *shape)
{
    const struct sim_scenario *scenario = resolver->scenario;
    bool has_room = false;
    char text[160];
    for (size_t i = 0; i < scenario->node_groups_count; i++) {
        const struct sim_node_group *group = &scenario->node_groups[i];
        const bool fits = shape_fits(scenario, &scenario->node_types[group->type], shape);
        if (fits && sim_check_nodes(scenario, group, shape) > 0)
            return NULL;
        has_room |= fits;
    }
    if (has_room)
        return say_labels(resolver, shape);
    const struct largest largest = find_largest(scenario);
    const char *reason = say_single(resolver, shape, &largest);
    if (reason != NULL)
        return reason;
    (void)weir_shape_print(shape, text, sizeof text);
    return sim_arena_printf(resolver->arena,
                            "no single node has %s; every amount alone would fit somewhere", text);
}

static bool check_shape(struct sim_resolver *resolver, const struct sim_yaml *at,
                        const struct weir_shape *shape)
{
    const char *reason = sim_check_shape(resolver, shape);
    return reason == NULL || sim_report_error(resolver->report, at, "can never run: %s", reason);
}

/* A group needs so many nodes with just its GPUs. */
static bool check_group(struct sim_resolver *resolver, const struct sim_yaml *at,
                        const struct weir_shape *shape)
{
    const struct sim_scenario *scenario = resolver->scenario;
    uint64_t nodes = 0;
    if (shape->kind != WEIR_SHAPE_SPMD_MULTI)
        return true;
    for (size_t i = 0; i < scenario->node_groups_count; i++) {
        const struct sim_node_type *type = &scenario->node_types[scenario->node_groups[i].type];
        uint32_t gpus = 0;
        for (size_t k = 0; k < type->gpus_count; k++)
            gpus += type->gpus[k].count;
        if (gpus == shape->gpu_count && shape_fits(scenario, type, shape))
            nodes += sim_check_nodes(scenario, &scenario->node_groups[i], shape);
    }
    if (nodes >= shape->node_count)
        return true;
    return sim_report_error(resolver->report, at,
                            "can never run: needs %u whole nodes with %u GPUs, the cluster has "
                            "%llu that fit",
                            shape->node_count, shape->gpu_count, (unsigned long long)nodes);
}

/* ---- the least number of workers ---- */

enum resource { RESOURCE_CPU, RESOURCE_GPU, RESOURCE_NVDEC, RESOURCE_NVENC, RESOURCE_COUNT };

static const char *const resource_names[] = { "CPUs", "GPUs", "NVDECs", "NVENCs" };

static void shape_needs(const struct weir_shape *shape, double needs[RESOURCE_COUNT])
{
    const struct weir_amounts amounts = weir_shape_amounts(shape, 0, 0);
    needs[RESOURCE_CPU] = weir_units_amount(amounts.cpu_units);
    needs[RESOURCE_GPU] = weir_units_amount(amounts.gpu_units);
    needs[RESOURCE_NVDEC] = (double)amounts.nvdecs;
    needs[RESOURCE_NVENC] = (double)amounts.nvencs;
}

static void cluster_totals(const struct sim_scenario *scenario, double totals[RESOURCE_COUNT])
{
    for (size_t i = 0; i < scenario->node_groups_count; i++) {
        const double count = scenario->node_groups[i].count;
        const struct sim_node_type *type = &scenario->node_types[scenario->node_groups[i].type];
        totals[RESOURCE_CPU] += count * type->cpus;
        totals[RESOURCE_NVDEC] += count * (double)node_engines(scenario, type, false);
        totals[RESOURCE_NVENC] += count * (double)node_engines(scenario, type, true);
        for (size_t k = 0; k < type->gpus_count; k++)
            totals[RESOURCE_GPU] += count * type->gpus[k].count;
    }
}

enum { USERS_SHOWN = 12 };

/* The first of those that need it, and how many more there are. */
static const char *users_text(struct sim_resolver *resolver, enum resource resource)
{
    const struct sim_scenario *scenario = resolver->scenario;
    const char *text = "";
    uint32_t users = 0;
    for (uint32_t i = 0; i < scenario->stages_total; i++) {
        const struct sim_stage *stage = sim_scenario_stage(scenario, i);
        double needs[RESOURCE_COUNT];
        shape_needs(&stage->shape, needs);
        const double sum = needs[resource] * (stage->workers < 0 ? 1 : stage->workers);
        if (sum > 0 && users++ < USERS_SHOWN)
            text = sim_arena_printf(resolver->arena, "%s%s%s %g", text, text[0] == '\0' ? "" : ", ",
                                    stage->name, sum);
    }
    return users <= USERS_SHOWN
               ? text
               : sim_arena_printf(resolver->arena, "%s, and %u more", text, users - USERS_SHOWN);
}

/* What the workers need that a pipeline has at the same time at least: of a batch those between two
 * barriers. */
static void add_least(const struct sim_pipeline *pipeline, double sums[RESOURCE_COUNT])
{
    double most[RESOURCE_COUNT] = { 0 };
    double open[RESOURCE_COUNT] = { 0 };
    for (size_t s = 0; s < pipeline->stages_count; s++) {
        const struct sim_stage *stage = &pipeline->stages[s];
        double needs[RESOURCE_COUNT];
        shape_needs(&stage->shape, needs);
        for (int r = 0; r < RESOURCE_COUNT; r++) {
            const double need = needs[r] * (stage->workers < 0 ? 1 : stage->workers);
            const bool is_closed =
                sim_pipeline_is_batch(pipeline) && s > 0 && stage[-1].barriers < stage->barriers;
            open[r] = (is_closed ? 0 : open[r]) + need;
            most[r] = fmax(most[r], open[r]);
        }
    }
    for (int r = 0; r < RESOURCE_COUNT; r++)
        sums[r] += most[r];
}

static void check_minimum(struct sim_resolver *resolver)
{
    const struct sim_scenario *scenario = resolver->scenario;
    double totals[RESOURCE_COUNT] = { 0 };
    double sums[RESOURCE_COUNT] = { 0 };
    const struct sim_yaml *pipelines = sim_yaml_get(resolver->root, "pipelines");
    const struct sim_yaml *services = sim_yaml_get(resolver->root, "services");
    cluster_totals(scenario, totals);
    for (size_t p = 0; p < scenario->pipelines_count; p++)
        add_least(&scenario->pipelines[p], sums);
    for (int r = 0; r < RESOURCE_COUNT; r++)
        if (sums[r] > totals[r] * (1 + 1e-12) + 1e-9)
            sim_report_error(resolver->report, pipelines != NULL ? pipelines : services,
                             "the least numbers of workers need %g %s (%s), the cluster has %g; "
                             "ask for less in these stages or add nodes",
                             sums[r], resource_names[r], users_text(resolver, (enum resource)r),
                             totals[r]);
}

/* An actor that fits nowhere waits, as on Ray; one that asks for labels in vain was meant to be
 * somewhere. */
static void check_roles(struct sim_resolver *resolver)
{
    const struct draft_actor_system *drafts = resolver->draft->actors.items;
    for (size_t a = 0; a < resolver->scenario->actors_count; a++) {
        const struct sim_actor_system *system = &resolver->scenario->actors[a];
        const struct draft_role *roles = drafts[a].roles.items;
        for (size_t r = 0; r < system->roles_count; r++) {
            const struct weir_shape *shape = &system->sets[system->roles[r].set].shape;
            const char *reason = shape->labels == 0 ? NULL : sim_check_shape(resolver, shape);
            if (reason != NULL && roles[r].nodes.selector != NULL)
                sim_report_warning(resolver->report, sim_draft_at(&roles[r].head, "node_selector"),
                                   "waits for ever: %s", reason);
        }
    }
}

void sim_check_fit(struct sim_resolver *resolver)
{
    const struct sim_scenario *scenario = resolver->scenario;
    const struct draft_pipeline *drafts = resolver->draft->pipelines.items;
    if (resolver->is_hardware_unclear || scenario->node_groups_count == 0)
        return;
    bool is_possible = true;
    for (size_t p = 0; p < scenario->pipelines_count; p++) {
        const struct draft_stage *stages = drafts[p].stages.items;
        for (size_t s = 0; s < scenario->pipelines[p].stages_count; s++) {
            const struct weir_shape *shape = &scenario->pipelines[p].stages[s].shape;
            is_possible &= check_shape(resolver, stages[s].head.node, shape) &&
                           check_group(resolver, stages[s].head.node, shape);
        }
    }
    check_roles(resolver);
    if (is_possible && resolver->report->out->errors == 0)
        check_minimum(resolver);
}
