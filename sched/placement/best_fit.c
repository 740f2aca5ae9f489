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

enum {
    PARAM_MEASURE,
    PARAM_CPU_SCALE,
    PARAM_GPU_SCALE,
    PARAM_STEPS,
    PARAM_DEVICE,
    PARAM_TIE,
    PARAM_ORDER,
    PARAM_COUNT
};

static const struct weir_param params[PARAM_COUNT] = {
    [PARAM_MEASURE] = WEIR_LEFTOVER_MEASURE_PARAM,
    [PARAM_CPU_SCALE] = WEIR_GRADE_CPU_SCALE_PARAM("amounts: "),
    [PARAM_GPU_SCALE] = WEIR_GRADE_GPU_SCALE_PARAM("amounts: "),
    [PARAM_STEPS] = WEIR_GRADE_STEPS_PARAM("amounts: ", 100),
    [PARAM_DEVICE] = WEIR_GRADE_DEVICE_PARAM(WEIR_GRADE_TIGHTEST),
    [PARAM_TIE] = WEIR_GRADE_TIE_PARAM("amounts: "),
    [PARAM_ORDER] = WEIR_GRADE_ORDER_PARAM("amounts: "),
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
    const double left = weir_grade_left(site, values[PARAM_CPU_SCALE], values[PARAM_GPU_SCALE]);

    return (struct weir_grade){ .value = 1.0 - left,
                                .gpu = weir_grade_pick_gpu(site, values[PARAM_DEVICE]) };
}

const struct weir_graded_kind weir_graded_best_fit = {
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
    return weir_graded_create(&weir_graded_best_fit, given, allocator, state, error);
}

static weir_status place(void *state, const struct weir_place_query *query,
                         struct weir_place_answer *answer, struct weir_error *error)
{
    if (weir_graded_values(state)[PARAM_MEASURE] > WEIR_LEFTOVER_SHARES)
        return weir_graded_place(state, query, answer, error);
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
