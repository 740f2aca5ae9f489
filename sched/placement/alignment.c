/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "alignment": the node whose free CPUs, GPUs and memory are most aligned with what is
 * asked for, so that a node is emptied evenly (Grandl et al., SIGCOMM 2014, section 3.2).
 *
 * Grade = mean over CPU, GPU and memory of (free / scale) * (request / scale), free before the
 * placement. The scale is what the node has in all, as in the paper, or common to all nodes. A
 * resource the node has nothing of counts 0. The opposite choice is dot_product.
 */
#include "sched/placement/policies.h"

#include "sched/cluster/state.h"

enum {
    PARAM_SCALE,
    PARAM_CPU_SCALE,
    PARAM_GPU_SCALE,
    PARAM_RAM_SCALE,
    PARAM_STEPS,
    PARAM_DEVICE,
    PARAM_TIE,
    PARAM_ORDER,
    PARAM_COUNT
};
enum { SCALE_NODE, SCALE_COMMON };

static const struct weir_param params[PARAM_COUNT] = {
    [PARAM_SCALE] = { .name = "scale",
                      .unit = "",
                      .kind = WEIR_PARAM_CHOICE,
                      .min = 0,
                      .max = 1,
                      .initial = SCALE_NODE,
                      .choices = "node|common",
                      .help = "amounts are shares of what the node has, or of a scale common to "
                              "all nodes" },
    [PARAM_CPU_SCALE] = WEIR_GRADE_CPU_SCALE_PARAM("common: "),
    [PARAM_GPU_SCALE] = WEIR_GRADE_GPU_SCALE_PARAM("common: "),
    [PARAM_RAM_SCALE] = { .name = "memory_scale",
                          .unit = "GiB",
                          .kind = WEIR_PARAM_NUMBER,
                          .min = 1e-3,
                          .max = 1e9,
                          .initial = 1024,
                          .help = "common: memory that counts as 1" },
    [PARAM_STEPS] = WEIR_GRADE_STEPS_PARAM("", 100),
    [PARAM_DEVICE] = WEIR_GRADE_DEVICE_PARAM(WEIR_GRADE_TIGHTEST),
    [PARAM_TIE] = WEIR_GRADE_TIE_PARAM(""),
    [PARAM_ORDER] = WEIR_GRADE_ORDER_PARAM(""),
};

/* One resource: free times request, each in units of `scale`. */
static double product(double free, double request, double scale)
{
    return scale > 0 ? free / scale * (request / scale) : 0;
}

static double node_gpus(const struct weir_grade_site *site)
{
    const struct weir_node *const node = &site->cluster->nodes[site->node];
    int64_t sum = 0;

    for (uint32_t g = 0; g < node->gpu_count; g++)
        sum += site->cluster->gpus[node->gpu_first + g].units_total;
    return weir_units_amount(sum);
}

static struct weir_grade grade(const void *rules, const struct weir_grade_site *site)
{
    const double *const values = rules;
    const bool is_common = values[PARAM_SCALE] > SCALE_NODE;
    const struct weir_node *const node = &site->cluster->nodes[site->node];
    const struct weir_shape *const shape = site->shape;
    const double cpus = is_common ? values[PARAM_CPU_SCALE] : weir_units_amount(node->cpu_total);
    const double gpus = is_common ? values[PARAM_GPU_SCALE] : node_gpus(site);
    const double ram = is_common ? values[PARAM_RAM_SCALE] * 0x1p30 : (double)node->ram_total_bytes;
    const double sum =
        product(weir_units_amount(node->cpu_free), weir_units_amount(shape->cpu_units), cpus) +
        product(weir_units_amount(weir_grade_gpu_free(site)),
                weir_units_amount(weir_grade_gpu_request(shape)), gpus) +
        product((double)node->ram_free_bytes, (double)shape->ram_bytes, ram);

    return (struct weir_grade){ .value = sum / 3,
                                .gpu = weir_grade_pick_gpu(site, values[PARAM_DEVICE]) };
}

const struct weir_graded_kind weir_graded_alignment = {
    .params = params,
    .count = PARAM_COUNT,
    .steps = PARAM_STEPS,
    .tie = PARAM_TIE,
    .order_seed = PARAM_ORDER,
    .grade = grade,
    .full = 1,
    .uses_ram = true,
};

static weir_status create(const struct weir_params *given, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error)
{
    return weir_graded_create(&weir_graded_alignment, given, allocator, state, error);
}

const struct weir_placement_ops weir_placement_alignment = {
    .size = sizeof weir_placement_alignment,
    .abi = WEIR_ABI_MAJOR,
    .name = "alignment",
    .summary = "the node whose free CPUs, GPUs and memory are most aligned with the request",
    .params = params,
    .param_count = PARAM_COUNT,
    .create = create,
    .destroy = weir_graded_destroy,
    .place = weir_graded_place,
};
