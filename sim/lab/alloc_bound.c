/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The problem of the upper bound and the bound without a solver; see the header. */
#include "sim/lab/alloc_bound.h"

#include "sim/engine/digest.h"
#include "sim/lab/bound_shelf.h"

#include <math.h>
#include <stdlib.h>

/* ---- groups of nodes ---- */

static bool is_equal_gpu(const struct sim_gpu *left, const struct sim_gpu *right)
{
    return left->type == right->type && left->mem_total_bytes == right->mem_total_bytes &&
           left->mig == right->mig && left->mig_cut == right->mig_cut;
}

static bool is_equal(const struct sim_cluster *cluster, uint32_t a, uint32_t b)
{
    const struct sim_node *left = &cluster->nodes[a];
    const struct sim_node *right = &cluster->nodes[b];
    if (left->cpu_total != right->cpu_total || left->ram_total_bytes != right->ram_total_bytes ||
        left->gpu_count != right->gpu_count)
        return false;
    for (uint32_t g = 0; g < left->gpu_count; g++)
        if (!is_equal_gpu(&cluster->gpus[left->gpu_first + g],
                          &cluster->gpus[right->gpu_first + g]))
            return false;
    return true;
}

static void group_nodes(struct sim_alloc_problem *problem)
{
    for (uint32_t n = 0; n < problem->cluster->node_count; n++) {
        uint32_t g = 0;
        if (problem->cluster->nodes[n].gpu_count == 0)
            continue;
        while (g < problem->group_count && !is_equal(problem->cluster, problem->groups[g].node, n))
            g++;
        if (g == problem->group_count)
            problem->groups[problem->group_count++] = (struct sim_alloc_group){ .node = n };
        problem->groups[g].nodes++;
    }
}

/* ---- instances ---- */

/* NULL where it is not cut, and where scheduler and truth do not mean the same by its instances. */
static const struct weir_mig *table_of(const struct sim_cluster *cluster, const struct sim_gpu *gpu)
{
    const struct sim_scenario *scenario = cluster->scenario;
    return scenario == NULL || scenario->gpu_types[gpu->type].mig == gpu->mig ? gpu->mig : NULL;
}

static uint32_t profiles_on(const struct weir_mig *table, const struct sim_gpu *gpu,
                            const struct weir_shape *shape)
{
    uint32_t profiles = weir_shape_profiles(shape, table, gpu->mig_cut != 0);
    for (uint32_t p = 0; gpu->mig_cut != 0 && profiles >> p != 0; p++) {
        bool is_there = false;
        for (uint32_t s = 0; s < table->slots; s++)
            is_there = is_there || weir_mig_at(gpu->mig_cut, s) == (int)p;
        profiles &= is_there ? UINT32_MAX : ~(UINT32_C(1) << p);
    }
    return profiles;
}

/* The first GPU of a group whose GPUs are cut for good and alike, NULL elsewhere. */
static const struct sim_gpu *cut_of(const struct sim_alloc_problem *problem, uint32_t group)
{
    const struct sim_node *node = &problem->cluster->nodes[problem->groups[group].node];
    const struct sim_gpu *first = &problem->cluster->gpus[node->gpu_first];
    for (uint32_t g = 1; g < node->gpu_count; g++)
        if (first[g].mig != first->mig || first[g].mig_cut == 0)
            return NULL;
    return table_of(problem->cluster, first) == NULL || first->mig_cut == 0 ? NULL : first;
}

uint32_t sim_alloc_profiles(const struct sim_alloc_problem *problem, uint32_t kind, uint32_t group)
{
    const struct sim_gpu *gpus = cut_of(problem, group);
    const uint32_t count =
        gpus == NULL ? 0 : problem->cluster->nodes[problem->groups[group].node].gpu_count;
    uint32_t profiles = 0;
    for (uint32_t g = 0; g < count; g++)
        profiles |= profiles_on(gpus->mig, &gpus[g], problem->shapes[kind]);
    return profiles;
}

uint32_t sim_alloc_instances(const struct sim_alloc_problem *problem, uint32_t group,
                             uint32_t profiles)
{
    const struct sim_gpu *gpus = cut_of(problem, group);
    const uint32_t count =
        gpus == NULL ? 0 : problem->cluster->nodes[problem->groups[group].node].gpu_count;
    uint32_t instances = 0;
    for (uint32_t g = 0; g < count; g++)
        for (uint32_t s = 0; s < gpus->mig->slots; s++) {
            const int profile = weir_mig_at(gpus[g].mig_cut, s);
            instances += profile >= 0 && ((profiles >> profile) & 1) != 0 ? 1 : 0;
        }
    return instances;
}

/* ---- sizes ---- */

/* Of the GPU with most: a bin that is too large keeps the bound above. 0 = some are not known. */
static int64_t largest_memory(const struct sim_cluster *cluster, const struct sim_node *node)
{
    int64_t largest = 0;
    for (uint32_t g = 0; g < node->gpu_count; g++) {
        const int64_t bytes = cluster->gpus[node->gpu_first + g].mem_total_bytes;
        if (bytes == 0)
            return 0;
        largest = bytes > largest ? bytes : largest;
    }
    return largest;
}

/* Of the GPU with most; 0 = none is cut. */
static int64_t most_slots(const struct sim_cluster *cluster, const struct sim_node *node)
{
    int64_t most = 0;
    for (uint32_t g = 0; g < node->gpu_count; g++) {
        const struct weir_mig *table = table_of(cluster, &cluster->gpus[node->gpu_first + g]);
        most = table != NULL && table->slots > most ? table->slots : most;
    }
    return most;
}

/* Of the smallest instance that does on a GPU of the node. */
static int64_t least_slots(const struct sim_cluster *cluster, const struct sim_node *node,
                           const struct weir_shape *shape)
{
    int64_t least = INT64_MAX;
    for (uint32_t g = 0; g < node->gpu_count; g++) {
        const struct sim_gpu *gpu = &cluster->gpus[node->gpu_first + g];
        const struct weir_mig *table = table_of(cluster, gpu);
        const uint32_t profiles = table == NULL ? 0 : profiles_on(table, gpu, shape);
        for (uint32_t p = 0; profiles >> p != 0; p++)
            if (((profiles >> p) & 1) != 0 && table->profiles[p].slots < least)
                least = table->profiles[p].slots;
    }
    return least == INT64_MAX ? 0 : least;
}

struct sim_alloc_bins sim_alloc_bins_of(const struct sim_alloc_problem *problem, uint32_t group,
                                        enum sim_alloc_measure measure)
{
    const struct sim_alloc_group *members = &problem->groups[group];
    const struct sim_node *node = &problem->cluster->nodes[members->node];
    struct sim_alloc_bins bins = { .bins = members->nodes };
    switch (measure) {
    case SIM_ALLOC_DEVICE:
        bins.bins *= node->gpu_count;
        bins.whole = WEIR_ONE;
        break;
    case SIM_ALLOC_DEVICE_MEMORY:
        bins.bins *= node->gpu_count;
        bins.whole = largest_memory(problem->cluster, node);
        break;
    case SIM_ALLOC_DEVICE_SLOTS:
        bins.bins *= node->gpu_count;
        bins.whole = most_slots(problem->cluster, node);
        break;
    case SIM_ALLOC_NODE_GPUS:
        bins.whole = (int64_t)node->gpu_count * WEIR_ONE;
        break;
    case SIM_ALLOC_CPU:
        bins.whole = node->cpu_total;
        break;
    case SIM_ALLOC_MEMORY:
        bins.whole = node->ram_total_bytes;
        break;
    case SIM_ALLOC_MEASURES:
        break;
    }
    return bins;
}

struct sim_alloc_piece sim_alloc_piece_of(const struct sim_alloc_problem *problem, uint32_t kind,
                                          uint32_t group, enum sim_alloc_measure measure)
{
    const struct weir_shape *shape = problem->shapes[kind];
    struct sim_alloc_piece piece = { .parts = 1 };
    switch (measure) {
    case SIM_ALLOC_DEVICE:
        piece = (struct sim_alloc_piece){ shape->gpu_count, shape->gpu_units };
        break;
    case SIM_ALLOC_DEVICE_MEMORY:
        piece = (struct sim_alloc_piece){ shape->gpu_count, shape->gpu_mem_bytes };
        break;
    case SIM_ALLOC_DEVICE_SLOTS:
        piece.size = least_slots(problem->cluster,
                                 &problem->cluster->nodes[problem->groups[group].node], shape);
        break;
    case SIM_ALLOC_NODE_GPUS:
        piece.size = shape->gpu_units * shape->gpu_count;
        break;
    case SIM_ALLOC_CPU:
        piece.size = shape->cpu_units;
        break;
    case SIM_ALLOC_MEMORY:
        piece.size = shape->ram_bytes;
        break;
    case SIM_ALLOC_MEASURES:
        break;
    }
    return piece;
}

static bool carries(const struct sim_cluster *cluster, const struct sim_gpu *gpu,
                    const struct weir_shape *shape)
{
    const struct weir_mig *table = table_of(cluster, gpu);
    const bool is_slice = shape->kind == WEIR_SHAPE_SLICE;
    if (!weir_shape_takes_type(shape, gpu->type) || is_slice != (gpu->mig != NULL))
        return false;
    return is_slice ? table == NULL || profiles_on(table, gpu, shape) != 0
                    : gpu->mem_total_bytes == 0 || shape->gpu_mem_bytes <= gpu->mem_total_bytes;
}

static bool fits_empty(const struct sim_cluster *cluster, uint32_t node,
                       const struct weir_shape *shape)
{
    const struct sim_node *host = &cluster->nodes[node];
    uint32_t gpus = 0;
    for (uint32_t g = 0; g < host->gpu_count; g++) {
        const struct sim_gpu *gpu = &cluster->gpus[host->gpu_first + g];
        gpus += carries(cluster, gpu, shape) ? 1 : 0;
    }
    return gpus >= shape->gpu_count && shape->cpu_units <= host->cpu_total &&
           (host->ram_total_bytes == 0 || shape->ram_bytes <= host->ram_total_bytes);
}

/* ---- making ---- */

static void clear(struct sim_alloc_problem *problem)
{
    free(problem->groups);
    free(problem->shapes);
    free(problem->jobs);
    free(problem->worth);
    free(problem->fits);
}

static void fill_kinds(struct sim_alloc_problem *problem, const struct sim_alloc_question *question)
{
    for (uint32_t k = 0; k < question->kinds->count; k++) {
        const struct weir_shape *shape = &question->kinds->shapes[k];
        if (!(question->jobs[k] > 0) || shape->gpu_count == 0)
            continue;
        problem->shapes[problem->kind_count] = shape;
        problem->worth[problem->kind_count] =
            question->worth == NULL ? sim_kind_gpus(shape) : question->worth[k];
        problem->jobs[problem->kind_count++] = question->jobs[k];
    }
}

static weir_status create(const struct sim_alloc_question *question,
                          struct sim_alloc_problem *problem)
{
    const size_t nodes = (size_t)question->cluster->node_count + 1;
    const size_t kinds = (size_t)question->kinds->count + 1;
    *problem =
        (struct sim_alloc_problem){ .cluster = question->cluster,
                                    .groups = calloc(nodes, sizeof(*problem->groups)),
                                    .shapes = calloc(kinds, sizeof(const struct weir_shape *)),
                                    .jobs = calloc(kinds, sizeof(*problem->jobs)),
                                    .worth = calloc(kinds, sizeof(*problem->worth)) };
    if (problem->groups == NULL || problem->shapes == NULL || problem->jobs == NULL ||
        problem->worth == NULL)
        return WEIR_ENOMEM;
    group_nodes(problem);
    fill_kinds(problem, question);
    problem->fits =
        calloc((size_t)problem->kind_count * problem->group_count + 1, sizeof(*problem->fits));
    if (problem->fits == NULL)
        return WEIR_ENOMEM;
    for (uint32_t k = 0; k < problem->kind_count; k++)
        for (uint32_t g = 0; g < problem->group_count; g++)
            problem->fits[k * problem->group_count + g] =
                fits_empty(problem->cluster, problem->groups[g].node, problem->shapes[k]);
    return WEIR_OK;
}

/* ---- the simple bound ---- */

struct bargain {
    double gpus, size, jobs;
};

/* The most GPU for the size first; what needs nothing stands in front. */
static int by_bargain(const void *left, const void *right)
{
    const struct bargain *a = left;
    const struct bargain *b = right;
    const double gain = b->gpus * a->size - a->gpus * b->size;
    return (gain > 0) - (gain < 0);
}

/* GPUs that a measure of a group allows: a knapsack whose items may be divided (Dantzig, 1957). */
static double knapsack(const struct sim_alloc_problem *problem, uint32_t group,
                       enum sim_alloc_measure measure, struct bargain *bargains)
{
    const struct sim_alloc_bins bins = sim_alloc_bins_of(problem, group, measure);
    double left = bins.bins * (double)bins.whole;
    double gpus = 0;
    size_t count = 0;
    if (bins.whole == 0)
        return (double)INFINITY;
    for (uint32_t k = 0; k < problem->kind_count; k++) {
        const struct sim_alloc_piece piece = sim_alloc_piece_of(problem, k, group, measure);
        if (problem->fits[k * problem->group_count + group])
            bargains[count++] = (struct bargain){ .gpus = problem->worth[k],
                                                  .size = (double)piece.parts * (double)piece.size,
                                                  .jobs = problem->jobs[k] };
    }
    qsort(bargains, count, sizeof(*bargains), by_bargain);
    for (size_t i = 0; i < count; i++) {
        const double all = bargains[i].size * bargains[i].jobs;
        const double taken = all > left ? left / all : 1;
        gpus += taken * bargains[i].gpus * bargains[i].jobs;
        left -= taken * all;
    }
    return gpus;
}

static weir_status solve_simple(const struct sim_alloc_problem *problem, double *gpus)
{
    struct bargain *bargains = calloc((size_t)problem->kind_count + 1, sizeof(*bargains));
    double demand = 0;
    double sum = 0;
    if (bargains == NULL)
        return WEIR_ENOMEM;
    for (uint32_t k = 0; k < problem->kind_count; k++)
        demand += problem->worth[k] * problem->jobs[k];
    for (uint32_t g = 0; g < problem->group_count; g++) {
        double least = (double)INFINITY;
        for (int m = 0; m < SIM_ALLOC_MEASURES; m++)
            least = fmin(least, knapsack(problem, g, (enum sim_alloc_measure)m, bargains));
        sum += least;
    }
    free(bargains);
    *gpus = fmin(demand, sum);
    return WEIR_OK;
}

/* ---- who asks again ---- */

static uint64_t digest_gpu(uint64_t digest, const struct sim_cluster *cluster,
                           const struct sim_gpu *gpu)
{
    const struct weir_mig *table = table_of(cluster, gpu);
    const uint64_t amounts[] = { gpu->type, (uint64_t)gpu->mem_total_bytes, gpu->mig != NULL,
                                 gpu->mig_cut };
    digest = sim_digest_bytes(digest, amounts, sizeof amounts);
    return table == NULL ? digest : sim_digest_bytes(digest, table, sizeof *table);
}

/* Of all that the programme is made of. */
static uint64_t digest_of(const struct sim_alloc_problem *problem)
{
    uint64_t digest = SIM_DIGEST_START;
    for (uint32_t g = 0; g < problem->group_count; g++) {
        const struct sim_node *node = &problem->cluster->nodes[problem->groups[g].node];
        const uint64_t amounts[] = { problem->groups[g].nodes, node->gpu_count,
                                     (uint64_t)node->cpu_total, (uint64_t)node->ram_total_bytes };
        digest = sim_digest_bytes(digest, amounts, sizeof amounts);
        for (uint32_t i = 0; i < node->gpu_count; i++)
            digest =
                digest_gpu(digest, problem->cluster, &problem->cluster->gpus[node->gpu_first + i]);
    }
    for (uint32_t k = 0; k < problem->kind_count; k++) {
        digest = sim_digest_bytes(digest, problem->shapes[k], sizeof *problem->shapes[k]);
        digest = sim_digest_bytes(digest, &problem->jobs[k], sizeof problem->jobs[k]);
        digest = sim_digest_bytes(digest, &problem->worth[k], sizeof problem->worth[k]);
    }
    return digest;
}

static weir_status solve(const struct sim_alloc_problem *problem, struct sim_alloc_bound *bound)
{
    WEIR_TRY(solve_simple(problem, &bound->simple_gpus));
    WEIR_TRY(sim_alloc_program_solve(problem, &bound->gpus, &bound->rounds));
    bound->gpus = fmin(bound->gpus, bound->simple_gpus);
    bound->groups = problem->group_count;
    bound->kinds = problem->kind_count;
    return WEIR_OK;
}

weir_status sim_alloc_bound_compute(const struct sim_alloc_question *question,
                                    struct sim_alloc_bound *bound)
{
    struct sim_alloc_problem problem;
    struct sim_alloc_bound made = { .rounds = 0 };
    weir_status status = create(question, &problem);
    const uint64_t key = status == WEIR_OK ? digest_of(&problem) : 0;
    if (status == WEIR_OK && !sim_bound_shelf_find(question->shelf, key, &made)) {
        status = solve(&problem, &made);
        if (status == WEIR_OK)
            sim_bound_shelf_put(question->shelf, key, &made);
    }
    clear(&problem);
    if (status == WEIR_OK)
        *bound = made;
    return status;
}
