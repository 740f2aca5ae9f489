/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "gpu_packing": first GPUs that are in use already, then free GPUs of nodes in use, an
 * empty node last (Weng et al., ATC 2023). Grades 50 to 100, 33 to 50, and below; work without
 * GPUs goes to the first node that has room.
 */
#include "sched/placement/candidates.h"
#include "sched/placement/grades.h"
#include "sched/placement/policies.h"

#include "sched/cluster/state.h"

enum { PARAM_DEVICE, PARAM_STEPS, PARAM_TIE, PARAM_ORDER, PARAM_COUNT };
enum { GRADE_MOST = 100, GRADE_USED_NODE = 50, GRADE_FREE_NODE = 33 };

static const struct weir_param params[PARAM_COUNT] = {
    [PARAM_DEVICE] = WEIR_GRADE_DEVICE_PARAM(WEIR_GRADE_TIGHTEST),
    [PARAM_STEPS] = WEIR_GRADE_STEPS_PARAM("", 100),
    [PARAM_TIE] = WEIR_GRADE_TIE_PARAM(""),
    [PARAM_ORDER] = WEIR_GRADE_ORDER_PARAM(""),
};

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static uint32_t free_gpus(const struct weir_gpu *gpus, uint32_t count)
{
    uint32_t whole = 0;

    for (uint32_t g = 0; g < count; g++)
        whole += gpus[g].units_free == gpus[g].units_total ? 1 : 0;
    return whole;
}

/* The GPUs a worker would take when the tightest go first. */
struct taken {
    uint32_t whole;  /* of them free before */
    int64_t percent; /* free compute on them, each cut to whole percent */
};

/* Marks the tightest usable GPU that is not marked yet. */
static uint32_t take_tightest(const struct weir_grade_site *site, const struct weir_gpu *gpus,
                              uint64_t *marked)
{
    const uint32_t count = site->cluster->nodes[site->node].gpu_count;
    uint32_t best = WEIR_NO_INDEX;

    for (uint32_t g = 0; g < count; g++) {
        if ((*marked >> g & 1) != 0 || !weir_gpu_usable(&gpus[g], site->shape))
            continue;
        if (best == WEIR_NO_INDEX || gpus[g].units_free < gpus[best].units_free)
            best = g;
    }
    if (best != WEIR_NO_INDEX)
        *marked |= UINT64_C(1) << best;
    return best;
}

static struct taken take_gpus(const struct weir_grade_site *site, const struct weir_gpu *gpus)
{
    struct taken taken = { .whole = 0 };
    uint64_t marked = 0;

    for (uint32_t k = 0; k < site->shape->gpu_count; k++) {
        const uint32_t gpu = take_tightest(site, gpus, &marked);
        if (gpu == WEIR_NO_INDEX)
            break;
        taken.whole += gpus[gpu].units_free == gpus[gpu].units_total ? 1 : 0;
        taken.percent += gpus[gpu].units_free * 100 / WEIR_ONE;
    }
    return taken;
}

static int64_t grade_of(const struct weir_grade_site *site)
{
    const struct weir_node *const node = &site->cluster->nodes[site->node];
    const struct weir_gpu *const gpus = site->cluster->gpus + node->gpu_first;
    const int64_t whole = free_gpus(gpus, node->gpu_count);

    if (site->shape->gpu_count == 0)
        return 0;
    if (whole == node->gpu_count)
        return larger(GRADE_FREE_NODE - whole, whole);
    const struct taken taken = take_gpus(site, gpus);
    if (taken.whole > 0)
        return larger(GRADE_USED_NODE - taken.whole, GRADE_FREE_NODE);
    return larger(GRADE_MOST - taken.percent / 10, GRADE_USED_NODE);
}

static struct weir_grade grade(const void *rules, const struct weir_grade_site *site)
{
    const double *const values = rules;

    return (struct weir_grade){ .value = (double)grade_of(site),
                                .gpu = weir_grade_pick_gpu(site, values[PARAM_DEVICE]) };
}

const struct weir_graded_kind weir_graded_gpu_packing = {
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
    return weir_graded_create(&weir_graded_gpu_packing, given, allocator, state, error);
}

const struct weir_placement_ops weir_placement_gpu_packing = {
    .size = sizeof weir_placement_gpu_packing,
    .abi = WEIR_ABI_MAJOR,
    .name = "gpu_packing",
    .summary = "GPUs in use first, then free GPUs of nodes in use, an empty node last",
    .params = params,
    .param_count = PARAM_COUNT,
    .create = create,
    .destroy = weir_graded_destroy,
    .place = weir_graded_place,
};
