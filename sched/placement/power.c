/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "power": the node whose power grows least (PWR: Lettich et al., CCGrid 2025).
 *
 * A GPU draws its idle power while nothing is on it and its full power otherwise; a share therefore
 * goes to a GPU in use where there is one. Of CPUs, two make a core; cores fill one socket after
 * the other, and a socket draws its idle or its full power. What the inventory does not know of a
 * GPU, and all of the CPUs, comes from the parameters: by default the sockets of a Xeon 8163.
 *
 * Grade = power before - power after, in watts, so 0 or less.
 */
#include "sched/placement/candidates.h"
#include "sched/placement/policies.h"

#include "sched/cluster/state.h"

#include <math.h>

enum {
    PARAM_CPU_POWER,
    PARAM_SOCKET_CORES,
    PARAM_SOCKET_IDLE,
    PARAM_SOCKET_FULL,
    PARAM_GPU_IDLE,
    PARAM_GPU_FULL,
    PARAM_STEPS,
    PARAM_DEVICE,
    PARAM_TIE,
    PARAM_ORDER,
    PARAM_COUNT
};

#define WATTS(param_name, watts, text)                                                             \
    {                                                                                              \
        .name = (param_name), .unit = "W", .kind = WEIR_PARAM_NUMBER, .min = 0, .max = 1e5,        \
        .initial = (watts), .help = (text)                                                         \
    }

static const struct weir_param params[PARAM_COUNT] = {
    [PARAM_CPU_POWER] = { .name = "cpu_power",
                          .unit = "",
                          .kind = WEIR_PARAM_CHOICE,
                          .min = 0,
                          .max = 1,
                          .initial = 1,
                          .choices = "off|on",
                          .help = "whether CPU sockets count" },
    [PARAM_SOCKET_CORES] = { .name = "socket_cores",
                             .unit = "",
                             .kind = WEIR_PARAM_COUNT,
                             .min = 1,
                             .max = 1024,
                             .initial = 24,
                             .help = "cores of one CPU socket; a core is two CPUs" },
    [PARAM_SOCKET_IDLE] = WATTS("socket_idle", 20, "power of a CPU socket without work"),
    [PARAM_SOCKET_FULL] = WATTS("socket_full", 165, "power of a CPU socket with work"),
    [PARAM_GPU_IDLE] = WATTS("gpu_idle", 25, "power of a GPU without work whose type says nothing"),
    [PARAM_GPU_FULL] = WATTS("gpu_full", 250, "power of a GPU with work whose type says nothing"),
    [PARAM_STEPS] = WEIR_GRADE_STEPS_PARAM("steps a watt: ", 1),
    [PARAM_DEVICE] = WEIR_GRADE_DEVICE_PARAM(WEIR_GRADE_TIGHTEST),
    [PARAM_TIE] = WEIR_GRADE_TIE_PARAM(""),
    [PARAM_ORDER] = WEIR_GRADE_ORDER_PARAM(""),
};

/* What work on this GPU adds: nothing when it has some already. */
static double gpu_growth(const double *values, const struct weir_gpu *gpu)
{
    if (gpu->units_free < gpu->units_total)
        return 0;
    if (gpu->full_w == 0)
        return values[PARAM_GPU_FULL] - values[PARAM_GPU_IDLE];
    return (double)gpu->full_w - (double)gpu->idle_w;
}

static double busy_sockets(const double *values, int64_t used_units)
{
    return ceil(weir_units_amount(used_units) / 2 / values[PARAM_SOCKET_CORES]);
}

static double cpu_growth(const double *values, const struct weir_node *node, int64_t request)
{
    const int64_t used = node->cpu_total - node->cpu_free;

    if (!(values[PARAM_CPU_POWER] > 0))
        return 0;
    return (busy_sockets(values, used + request) - busy_sockets(values, used)) *
           (values[PARAM_SOCKET_FULL] - values[PARAM_SOCKET_IDLE]);
}

/* The lowest GPUs that whole ones would take. */
static double whole_growth(const double *values, const struct weir_grade_site *site)
{
    const struct weir_node *const node = &site->cluster->nodes[site->node];
    uint32_t missing = site->shape->gpu_count;
    double sum = 0;

    for (uint32_t g = 0; g < node->gpu_count && missing > 0; g++) {
        const struct weir_gpu *const gpu = &site->cluster->gpus[node->gpu_first + g];
        if (!weir_gpu_usable(gpu, site->shape))
            continue;
        sum += gpu_growth(values, gpu);
        missing--;
    }
    return sum;
}

/* A GPU in use by the device rule, else a free one by it. */
static uint32_t pick_gpu(const double *values, const struct weir_grade_site *site)
{
    const struct weir_node *const node = &site->cluster->nodes[site->node];
    const double device = values[PARAM_DEVICE];
    const double sign = device > WEIR_GRADE_TIGHTEST ? -1 : 1;
    uint32_t best = WEIR_NO_INDEX;
    double least = INFINITY;
    double least_rank = INFINITY;

    for (uint32_t g = 0; g < node->gpu_count; g++) {
        const struct weir_gpu *const gpu = &site->cluster->gpus[node->gpu_first + g];
        const double growth = gpu_growth(values, gpu);
        const double rank = device > WEIR_GRADE_LOOSEST ? 0 : sign * (double)gpu->units_free;
        if (!weir_gpu_usable(gpu, site->shape))
            continue;
        if (growth > least || (!(growth < least) && !(rank < least_rank)))
            continue;
        best = g;
        least = growth;
        least_rank = rank;
    }
    return best;
}

static struct weir_grade grade(const void *rules, const struct weir_grade_site *site)
{
    const double *const values = rules;
    const struct weir_node *const node = &site->cluster->nodes[site->node];
    const double cpus = cpu_growth(values, node, site->shape->cpu_units);

    if (!weir_shape_is_share(site->shape))
        return (struct weir_grade){ .value = -(cpus + whole_growth(values, site)) };
    const uint32_t gpu = pick_gpu(values, site);
    const double watts = gpu_growth(values, &site->cluster->gpus[node->gpu_first + gpu]);
    return (struct weir_grade){ .value = -(cpus + watts), .gpu = gpu };
}

const struct weir_graded_kind weir_graded_power = {
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
    return weir_graded_create(&weir_graded_power, given, allocator, state, error);
}

const struct weir_placement_ops weir_placement_power = {
    .size = sizeof weir_placement_power,
    .abi = WEIR_ABI_MAJOR,
    .name = "power",
    .summary = "the node whose power grows least: GPUs and CPU sockets in use first",
    .params = params,
    .param_count = PARAM_COUNT,
    .create = create,
    .destroy = weir_graded_destroy,
    .place = weir_graded_place,
};
