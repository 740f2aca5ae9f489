/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "dot_product": the node whose free CPUs and GPUs are least aligned with what is asked
 * for, so that what is plentiful stays; on it the GPU with the least left. Scales are common to all
 * nodes, scores are cut to whole steps, the first of equals wins (Weng et al., ATC 2023).
 */
#include "sched/placement/grades.h"
#include "sched/placement/policies.h"

#include "sched/cluster/state.h"

enum { PARAM_CPU_SCALE, PARAM_GPU_SCALE, PARAM_STEPS, PARAM_DEVICE, PARAM_COUNT };

static const struct weir_param params[PARAM_COUNT] = {
    [PARAM_CPU_SCALE] = { .name = "cpu_scale",
                          .unit = "CPU",
                          .kind = WEIR_PARAM_NUMBER,
                          .min = 1e-3,
                          .max = 1e6,
                          .initial = 128,
                          .help = "CPUs that count as 1" },
    [PARAM_GPU_SCALE] = { .name = "gpu_scale",
                          .unit = "GPU",
                          .kind = WEIR_PARAM_NUMBER,
                          .min = 1e-3,
                          .max = 1e6,
                          .initial = 8,
                          .help = "GPUs that count as 1" },
    [PARAM_STEPS] = { .name = "steps",
                      .unit = "",
                      .kind = WEIR_PARAM_COUNT,
                      .min = 0,
                      .max = 1e9,
                      .initial = 100,
                      .help = "scores are cut to this many steps; 0 = full precision" },
    [PARAM_DEVICE] = WEIR_GRADE_DEVICE_PARAM,
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

    return (struct weir_grade){ .value = weir_grade_cut(1.0 - product, values[PARAM_STEPS]),
                                .gpu = weir_grade_pick_gpu(site, values[PARAM_DEVICE]) };
}

static weir_status create(const struct weir_params *given, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error)
{
    const struct weir_graded_table table = { params, PARAM_COUNT };

    return weir_graded_create(table, given, allocator, state, error);
}

static weir_status place(void *state, const struct weir_place_query *query,
                         struct weir_place_answer *answer, struct weir_error *error)
{
    return weir_graded_place(state, (struct weir_grader){ .grade = grade }, query, answer, error);
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
    .place = place,
};
