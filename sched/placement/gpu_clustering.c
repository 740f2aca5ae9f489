/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "gpu_clustering": work of one kind together. Kinds are "a share of a GPU" and "k whole
 * GPUs". Best is a node with this kind alone, then one with this kind among others, then one
 * without GPU work; fuller nodes first (Weng et al., ATC 2023). Work without GPUs goes to the first
 * node that has room.
 */
#include "sched/placement/grades.h"
#include "sched/placement/policies.h"

#include "sched/cluster/state.h"

enum { PARAM_GPU_SCALE, PARAM_DEVICE, PARAM_STEPS, PARAM_TIE, PARAM_ORDER, PARAM_COUNT };
enum { GRADE_MOST = 100, GRADE_ALONE = 75, GRADE_AMONG = 50, GRADE_EMPTY = 25, GRADE_FULL = 25 };

static const struct weir_param params[PARAM_COUNT] = {
    [PARAM_GPU_SCALE] = { .name = "gpu_scale",
                          .unit = "GPU",
                          .kind = WEIR_PARAM_COUNT,
                          .min = 1,
                          .max = WEIR_MAX_NODE_GPUS,
                          .initial = 8,
                          .help = "GPUs of a node that counts as empty" },
    [PARAM_DEVICE] = WEIR_GRADE_DEVICE_PARAM(WEIR_GRADE_TIGHTEST),
    [PARAM_STEPS] = WEIR_GRADE_STEPS_PARAM("", 100),
    [PARAM_TIE] = WEIR_GRADE_TIE_PARAM(""),
    [PARAM_ORDER] = WEIR_GRADE_ORDER_PARAM(""),
};

/* What runs on a node that takes GPU compute. */
struct kinds {
    bool has_any, has_ours, has_others;
};

static struct kinds kinds_on(const struct weir_cluster *cluster, uint32_t node,
                             const struct weir_shape *shape)
{
    struct kinds kinds = { .has_any = false };

    for (uint32_t s = cluster->lists[node].first; s != WEIR_NO_INDEX;
         s = cluster->slots[s].node_next) {
        const struct weir_worker_slot *const worker = &cluster->slots[s];
        if (worker->device_count == 0 || worker->first.units == 0)
            continue;
        const bool is_share = worker->first.units < WEIR_ONE;
        const bool is_ours = shape->kind == WEIR_SHAPE_FRACTIONAL
                                 ? is_share
                                 : !is_share && worker->device_count == shape->gpu_count;
        kinds.has_any = true;
        kinds.has_ours |= is_ours;
        kinds.has_others |= !is_ours;
    }
    return kinds;
}

static int64_t grade_of(const struct weir_grade_site *site, int64_t gpu_scale)
{
    const int64_t all = gpu_scale * WEIR_ONE;
    const int64_t fullness = GRADE_FULL * (all - weir_grade_gpu_free(site)) / all;

    if (site->shape->gpu_count == 0)
        return 0;
    const struct kinds kinds = kinds_on(site->cluster, site->node, site->shape);
    if (!kinds.has_any)
        return fullness + GRADE_EMPTY;
    if (!kinds.has_ours)
        return fullness;
    return fullness + (kinds.has_others ? GRADE_AMONG : GRADE_ALONE);
}

static struct weir_grade grade(const void *rules, const struct weir_grade_site *site)
{
    const double *const values = rules;

    return (struct weir_grade){ .value = (double)grade_of(site, (int64_t)values[PARAM_GPU_SCALE]),
                                .gpu = weir_grade_pick_gpu(site, values[PARAM_DEVICE]) };
}

const struct weir_graded_kind weir_graded_gpu_clustering = {
    .params = params,
    .count = PARAM_COUNT,
    .steps = PARAM_STEPS,
    .tie = PARAM_TIE,
    .order_seed = PARAM_ORDER,
    .grade = grade,
    .full = GRADE_MOST,
};

static weir_status create(const struct weir_params *given, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error)
{
    return weir_graded_create(&weir_graded_gpu_clustering, given, allocator, state, error);
}

const struct weir_placement_ops weir_placement_gpu_clustering = {
    .size = sizeof weir_placement_gpu_clustering,
    .abi = WEIR_ABI_MAJOR,
    .name = "gpu_clustering",
    .summary = "work of one kind together: shares of GPUs, or the same number of whole GPUs",
    .params = params,
    .param_count = PARAM_COUNT,
    .create = create,
    .destroy = weir_graded_destroy,
    .place = weir_graded_place,
};
