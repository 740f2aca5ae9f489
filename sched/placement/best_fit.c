/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "best_fit": the place that leaves least behind. It packs. Removes the youngest worker.
 *
 * Measure SHARES: least left of its GPUs, then of its node, as shares of what they have
 * (leftover.h). Measure AMOUNTS: the node with the least left of CPUs and GPUs on a scale common to
 * all nodes, in whole steps, the first of equals; on it the GPU with the least left. The second is
 * the rule of the FGD evaluation (Weng et al., ATC 2023).
 */
#include "sched/placement/grades.h"
#include "sched/placement/leftover.h"
#include "sched/placement/policies.h"
#include "sched/placement/scan.h"

#include "sched/cluster/state.h"

enum { PARAM_MEASURE, PARAM_CPU_SCALE, PARAM_GPU_SCALE, PARAM_STEPS, PARAM_DEVICE, PARAM_COUNT };
enum { MEASURE_SHARES, MEASURE_AMOUNTS };

static const struct weir_param params[PARAM_COUNT] = {
    [PARAM_MEASURE] = { .name = "measure",
                        .unit = "",
                        .kind = WEIR_PARAM_CHOICE,
                        .min = 0,
                        .max = 1,
                        .initial = MEASURE_SHARES,
                        .choices = "shares|amounts",
                        .help = "what is left: shares of GPU, then node; or amounts on a scale "
                                "common to all nodes" },
    [PARAM_CPU_SCALE] = { .name = "cpu_scale",
                          .unit = "CPU",
                          .kind = WEIR_PARAM_NUMBER,
                          .min = 1e-3,
                          .max = 1e6,
                          .initial = 128,
                          .help = "amounts: CPUs that count as 1" },
    [PARAM_GPU_SCALE] = { .name = "gpu_scale",
                          .unit = "GPU",
                          .kind = WEIR_PARAM_NUMBER,
                          .min = 1e-3,
                          .max = 1e6,
                          .initial = 8,
                          .help = "amounts: GPUs that count as 1" },
    [PARAM_STEPS] = { .name = "steps",
                      .unit = "",
                      .kind = WEIR_PARAM_COUNT,
                      .min = 0,
                      .max = 1e9,
                      .initial = 100,
                      .help = "amounts: scores are cut to this many steps; 0 = full precision" },
    [PARAM_DEVICE] = WEIR_GRADE_DEVICE_PARAM,
};

static struct weir_score score(void *state, const struct weir_place_query *query,
                               const struct weir_alloc *candidate)
{
    (void)state; /* there is none */
    return weir_leftover(query->cluster, candidate);
}

static struct weir_grade grade(const void *rules, const struct weir_grade_site *site)
{
    const double *const values = rules;
    const struct weir_node *const node = &site->cluster->nodes[site->node];
    const double cpus = weir_units_amount(node->cpu_free - site->shape->cpu_units);
    const double gpus =
        weir_units_amount(weir_grade_gpu_free(site) - weir_grade_gpu_request(site->shape));
    const double left =
        0.5 * (cpus / values[PARAM_CPU_SCALE]) + 0.5 * (gpus / values[PARAM_GPU_SCALE]);

    return (struct weir_grade){ .value = weir_grade_cut(1.0 - left, values[PARAM_STEPS]),
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
    if (weir_graded_values(state)[PARAM_MEASURE] > 0)
        return weir_graded_place(state, (struct weir_grader){ .grade = grade }, query, answer,
                                 error);
    const struct weir_scan scan = { .score = score, .mode = WEIR_CANDIDATES_DISTINCT };
    return weir_scan_place(&scan, query, answer, error);
}

const struct weir_placement_ops weir_placement_best_fit = {
    .size = sizeof weir_placement_best_fit,
    .abi = WEIR_ABI_MAJOR,
    .name = "best_fit",
    .summary = "the place that leaves the smallest share free, on its GPUs, then on its node",
    .params = params,
    .param_count = PARAM_COUNT,
    .create = create,
    .destroy = weir_graded_destroy,
    .score = score,
    .place = place,
};
