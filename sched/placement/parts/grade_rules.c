/* SPDX-License-Identifier: Apache-2.0 */
/* The grades, one after the other; see grade_rules.h. */
#include "sched/placement/parts/grade_rules.h"

#include "sched/cluster/state.h"
#include "sched/placement/parts/candidates.h"

#include <math.h>

/* ---- fits ---- */

struct weir_grade weir_grade_best_fit(const void *rules, const struct weir_grade_site *site)
{
    const double *const values = rules;
    const double left =
        weir_grade_left(site, values[BEST_FIT_CPU_SCALE], values[BEST_FIT_GPU_SCALE]);

    return (struct weir_grade){ .value = 1.0 - left,
                                .gpu = weir_grade_pick_gpu(site, values[BEST_FIT_DEVICE]) };
}

struct weir_grade weir_grade_worst_fit(const void *rules, const struct weir_grade_site *site)
{
    const double *const values = rules;

    return (struct weir_grade){ .value = weir_grade_left(site, values[WORST_FIT_CPU_SCALE],
                                                         values[WORST_FIT_GPU_SCALE]),
                                .gpu = weir_grade_pick_gpu(site, values[WORST_FIT_DEVICE]) };
}

struct weir_grade weir_grade_first_fit(const void *rules, const struct weir_grade_site *site)
{
    const double *const values = rules;
    const struct weir_node *const node = &site->cluster->nodes[site->node];
    struct weir_grade grade = { .gpu = weir_grade_pick_gpu(site, values[FIRST_FIT_DEVICE]) };
    struct weir_slice_place places[WEIR_MIG_SLOTS];

    if (site->shape->kind == WEIR_SHAPE_SLICE && grade.gpu != WEIR_NO_INDEX &&
        weir_slice_places(&site->cluster->gpus[node->gpu_first + grade.gpu], site->shape,
                          !(values[FIRST_FIT_SLOTS] > 0), places) > 0)
        grade.mig = weir_device_instance(places[0].profile, places[0].start);
    return grade;
}

struct weir_grade weir_grade_dot_product(const void *rules, const struct weir_grade_site *site)
{
    const double *const values = rules;
    const struct weir_node *const node = &site->cluster->nodes[site->node];
    const double cpu_scale = values[DOT_PRODUCT_CPU_SCALE];
    const double gpu_scale = values[DOT_PRODUCT_GPU_SCALE];
    const double cpus = weir_units_amount(node->cpu_free) / cpu_scale;
    const double gpus = weir_units_amount(weir_grade_gpu_free(site)) / gpu_scale;
    const double cpu_request = weir_units_amount(site->shape->cpu_units) / cpu_scale;
    const double gpu_request = weir_units_amount(weir_grade_gpu_request(site->shape)) / gpu_scale;
    const double product = (cpus * cpu_request + gpus * gpu_request) / 2;

    return (struct weir_grade){ .value = 1.0 - product,
                                .gpu = weir_grade_pick_gpu(site, values[DOT_PRODUCT_DEVICE]) };
}

/* ---- gpu_packing ---- */

enum { GRADE_MOST = 100, GRADE_USED_NODE = 50, GRADE_FREE_NODE = 33 };

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

static int64_t packing_of(const struct weir_grade_site *site)
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

struct weir_grade weir_grade_gpu_packing(const void *rules, const struct weir_grade_site *site)
{
    const double *const values = rules;

    return (struct weir_grade){ .value = (double)packing_of(site),
                                .gpu = weir_grade_pick_gpu(site, values[GPU_PACKING_DEVICE]) };
}

/* ---- gpu_clustering ---- */

enum { GRADE_ALONE = 75, GRADE_AMONG = 50, GRADE_EMPTY = 25, GRADE_FULL = 25 };

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
        const bool is_ours = weir_shape_is_share(shape)
                                 ? is_share
                                 : !is_share && worker->device_count == shape->gpu_count;
        kinds.has_any = true;
        kinds.has_ours |= is_ours;
        kinds.has_others |= !is_ours;
    }
    return kinds;
}

static int64_t clustering_of(const struct weir_grade_site *site, int64_t gpu_scale)
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

struct weir_grade weir_grade_gpu_clustering(const void *rules, const struct weir_grade_site *site)
{
    const double *const values = rules;

    return (struct weir_grade){ .value = (double)clustering_of(
                                    site, (int64_t)values[GPU_CLUSTERING_GPU_SCALE]),
                                .gpu = weir_grade_pick_gpu(site, values[GPU_CLUSTERING_DEVICE]) };
}

/* ---- alignment ---- */

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

struct weir_grade weir_grade_alignment(const void *rules, const struct weir_grade_site *site)
{
    const double *const values = rules;
    const bool is_common = values[ALIGNMENT_SCALE] > ALIGNMENT_NODE;
    const struct weir_node *const node = &site->cluster->nodes[site->node];
    const struct weir_shape *const shape = site->shape;
    const double cpus =
        is_common ? values[ALIGNMENT_CPU_SCALE] : weir_units_amount(node->cpu_total);
    const double gpus = is_common ? values[ALIGNMENT_GPU_SCALE] : node_gpus(site);
    const double ram =
        is_common ? values[ALIGNMENT_RAM_SCALE] * 0x1p30 : (double)node->ram_total_bytes;
    const double sum =
        product(weir_units_amount(node->cpu_free), weir_units_amount(shape->cpu_units), cpus) +
        product(weir_units_amount(weir_grade_gpu_free(site)),
                weir_units_amount(weir_grade_gpu_request(shape)), gpus) +
        product((double)node->ram_free_bytes, (double)shape->ram_bytes, ram);

    return (struct weir_grade){ .value = sum / 3,
                                .gpu = weir_grade_pick_gpu(site, values[ALIGNMENT_DEVICE]) };
}

/* ---- power ---- */

/* What work on this GPU adds: nothing when it has some already. */
static double gpu_growth(const double *values, const struct weir_gpu *gpu)
{
    if (gpu->units_free < gpu->units_total)
        return 0;
    if (gpu->full_w == 0)
        return values[POWER_GPU_FULL] - values[POWER_GPU_IDLE];
    return (double)gpu->full_w - (double)gpu->idle_w;
}

static double busy_sockets(const double *values, int64_t used_units)
{
    return ceil(weir_units_amount(used_units) / 2 / values[POWER_SOCKET_CORES]);
}

static double cpu_growth(const double *values, const struct weir_node *node, int64_t request)
{
    const int64_t used = node->cpu_total - node->cpu_free;

    if (!(values[POWER_CPU_POWER] > 0))
        return 0;
    return (busy_sockets(values, used + request) - busy_sockets(values, used)) *
           (values[POWER_SOCKET_FULL] - values[POWER_SOCKET_IDLE]);
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
static uint32_t pick_by_power(const double *values, const struct weir_grade_site *site)
{
    const struct weir_node *const node = &site->cluster->nodes[site->node];
    const double device = values[POWER_DEVICE];
    const double sign = device > WEIR_GRADE_TIGHTEST ? -1 : 1;
    uint32_t best = WEIR_NO_INDEX;
    double least = (double)INFINITY;
    double least_rank = (double)INFINITY;

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

struct weir_grade weir_grade_power(const void *rules, const struct weir_grade_site *site)
{
    const double *const values = rules;
    const struct weir_node *const node = &site->cluster->nodes[site->node];
    const double cpus = cpu_growth(values, node, site->shape->cpu_units);

    if (!weir_shape_is_share(site->shape))
        return (struct weir_grade){ .value = -(cpus + whole_growth(values, site)) };
    const uint32_t gpu = pick_by_power(values, site);
    const double watts = gpu_growth(values, &site->cluster->gpus[node->gpu_first + gpu]);
    return (struct weir_grade){ .value = -(cpus + watts), .gpu = gpu };
}
