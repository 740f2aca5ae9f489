/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "dot_product": the node whose free CPUs and GPUs are least aligned with what is asked
 * for, so that what is plentiful stays; on it the GPU with the least left. Scales are common to all
 * nodes, scores are cut to whole steps, the first of equals wins (Weng et al., ATC 2023).
 */
#include "sched/placement/grades.h"
#include "sched/placement/policies.h"

#include "sched/cluster/state.h"

enum {
    PARAM_CPU_SCALE,
    PARAM_GPU_SCALE,
    PARAM_STEPS,
    PARAM_DEVICE,
    PARAM_TIE,
    PARAM_ORDER,
    PARAM_COUNT
};

static const struct weir_param params[PARAM_COUNT] = {
    [PARAM_CPU_SCALE] = WEIR_GRADE_CPU_SCALE_PARAM(""),
    [PARAM_GPU_SCALE] = WEIR_GRADE_GPU_SCALE_PARAM(""),
    [PARAM_STEPS] = WEIR_GRADE_STEPS_PARAM("", 100),
    [PARAM_DEVICE] = WEIR_GRADE_DEVICE_PARAM(WEIR_GRADE_TIGHTEST),
    [PARAM_TIE] = WEIR_GRADE_TIE_PARAM(""),
    [PARAM_ORDER] = WEIR_GRADE_ORDER_PARAM(""),
};

static struct weir_grade grade(const void *rules, const struct weir_grade_site *site)
{
    const double *const values = rules;
    const struct weir_node *const node = &site->cluster->nodes[site->node];
    const double cpu_scale = values[PARAM_CPU_SCALE];
    const double gpu_scale = values[PARAM_GPU_SCALE];
    const double cpus = weir_units_amount(node->cpu_free) / cpu_scale;
    const double gpus = weir_units_amount(weir_grade_gpu_free(site)) / gpu_scale;
    const double cpu_request = weir_units_amount(site->shape->cpu_units) / cpu_scale;
    const double gpu_request = weir_units_amount(weir_grade_gpu_request(site->shape)) / gpu_scale;
    const double product = (cpus * cpu_request + gpus * gpu_request) / 2;

    return (struct weir_grade){ .value = 1.0 - product,
                                .gpu = weir_grade_pick_gpu(site, values[PARAM_DEVICE]) };
}

const struct weir_graded_kind weir_graded_dot_product = {
    .params = params,
    .count = PARAM_COUNT,
    .steps = PARAM_STEPS,
    .tie = PARAM_TIE,
    .order_seed = PARAM_ORDER,
    .grade = grade,
    .full = 1,
};

static weir_status create(const struct weir_params *given, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error)
{
    return weir_graded_create(&weir_graded_dot_product, given, allocator, state, error);
}

const struct weir_placement_ops weir_placement_dot_product = {
    .size = sizeof weir_placement_dot_product,
    .abi = WEIR_ABI_MAJOR,
    .name = "dot_product",
    .summary = "the node whose free CPUs and GPUs are least aligned with the request",
    .params = params,
    .param_count = PARAM_COUNT,
    .create = create,
    .destroy = weir_graded_destroy,
    .place = weir_graded_place,
};
