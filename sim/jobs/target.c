/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The target workload; see the header. */
#include "sim/jobs/target.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- kinds of jobs ---- */

struct kind {
    struct weir_shape shape;
    const char *models;
    uint64_t count;
};

static int compare_amounts(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* By what is asked for. */
static int compare_demands(const struct kind *a, const struct kind *b)
{
    int order = compare_amounts(a->shape.cpu_units, b->shape.cpu_units);
    order = order != 0 ? order : compare_amounts(a->shape.gpu_units, b->shape.gpu_units);
    order = order != 0 ? order : compare_amounts(a->shape.gpu_count, b->shape.gpu_count);
    return order != 0 ? order : strcmp(a->models, b->models);
}

static int by_demand(const void *a, const void *b)
{
    return compare_demands(a, b);
}

/* The most frequent first, of equals the larger demand. */
static int by_frequency(const void *left, const void *right)
{
    const struct kind *a = left;
    const struct kind *b = right;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return -compare_demands(a, b);
}

/* Rows count one each, classes by their count or weight. */
static uint64_t weight_of(const struct sim_workload *workload, const struct sim_job_spec *job)
{
    if (workload->kind != SIM_WORKLOAD_GENERATED)
        return 1;
    return job->count != UINT64_MAX ? job->count : (uint64_t)llround(job->weight * 1e6);
}

static size_t collect(const struct sim_workload *workload, struct kind *kinds)
{
    size_t count = 0;
    for (size_t i = 0; i < workload->jobs_count; i++) {
        const struct sim_job_spec *job = &workload->jobs[i];
        if (job->shape.gpu_count == 0 && !workload->target_has_cpu_jobs)
            continue;
        kinds[count] = (struct kind){ .shape = job->shape,
                                      .models = job->models,
                                      .count = weight_of(workload, job) };
        kinds[count++].shape.ram_bytes = 0;
    }
    return count;
}

/* Joins equal neighbours. */
static size_t merge(struct kind *kinds, size_t count)
{
    size_t distinct = 0;
    for (size_t i = 0; i < count; i++) {
        if (distinct > 0 && compare_demands(&kinds[distinct - 1], &kinds[i]) == 0)
            kinds[distinct - 1].count += kinds[i].count;
        else
            kinds[distinct++] = kinds[i];
    }
    return distinct;
}

static weir_status take(struct sim_target *target, const struct kind *kinds, uint64_t jobs,
                        double share)
{
    uint64_t covered = 0;
    target->shapes = calloc((size_t)target->distinct + 1, sizeof(*target->shapes));
    target->frequencies = calloc((size_t)target->distinct + 1, sizeof(*target->frequencies));
    if (target->shapes == NULL || target->frequencies == NULL)
        return WEIR_ENOMEM;
    while (target->count < target->distinct && (double)covered < share * (double)jobs) {
        const struct kind *kind = &kinds[target->count];
        target->shapes[target->count] = kind->shape;
        target->frequencies[target->count++] = (double)kind->count / (double)jobs;
        covered += kind->count;
    }
    for (uint32_t i = 0; i < target->count; i++)
        target->frequencies[i] /= (double)covered / (double)jobs;
    return WEIR_OK;
}

weir_status sim_target_create(const struct sim_workload *workload, struct sim_target *target)
{
    struct kind *kinds = calloc(workload->jobs_count + 1, sizeof(*kinds));
    struct sim_target made = { .count = 0 };
    if (kinds == NULL)
        return WEIR_ENOMEM;
    const size_t rows = collect(workload, kinds);
    uint64_t jobs = 0;
    for (size_t i = 0; i < rows; i++)
        jobs += kinds[i].count;
    qsort(kinds, rows, sizeof(*kinds), by_demand);
    made.distinct = (uint32_t)merge(kinds, rows);
    qsort(kinds, made.distinct, sizeof(*kinds), by_frequency);
    const weir_status status = take(&made, kinds, jobs, workload->target_frac);
    free(kinds);
    if (status != WEIR_OK)
        sim_target_clear(&made);
    else
        *target = made;
    return status;
}

void sim_target_clear(struct sim_target *target)
{
    free(target->shapes);
    free(target->frequencies);
    *target = (struct sim_target){ .count = 0 };
}

struct weir_mix sim_target_mix(const struct sim_target *target)
{
    return (struct weir_mix){ .shapes = target->shapes,
                              .frequencies = target->frequencies,
                              .count = target->count };
}

/* ---- fragmentation ---- */

/* Why a kind cannot use what is free, in the order of summation. */
enum cause { NEITHER_FITS, GPU_SHORT, CPU_SHORT, NO_DEMAND_FITS, NO_DEMAND, WRONG_MODEL, CAUSES };

struct free_amounts {
    const struct sim_gpu *gpus;
    uint32_t gpu_count;
    int64_t cpus;
    int64_t all; /* GPU compute */
};

static int64_t gpu_left(const struct sim_gpu *gpu)
{
    return WEIR_ONE - gpu->units_held;
}

/* What of the node's free GPU the kind cannot use. */
static int64_t unusable(const struct free_amounts *free, const struct weir_shape *shape,
                        enum cause *cause)
{
    const bool has_cpus = free->cpus >= shape->cpu_units;
    int64_t too_small = 0;
    uint32_t fitting = 0;
    bool has_model = false;
    *cause = has_cpus ? NO_DEMAND_FITS : NO_DEMAND;
    if (shape->gpu_count == 0)
        return free->all;
    for (uint32_t g = 0; g < free->gpu_count; g++) {
        const bool is_model = weir_shape_takes_type(shape, free->gpus[g].type);
        const int64_t left = gpu_left(&free->gpus[g]);
        has_model |= is_model;
        if (is_model && left >= shape->gpu_units)
            fitting++;
        else
            too_small += left;
    }
    const bool has_gpus = fitting >= shape->gpu_count;
    *cause = !has_model ? WRONG_MODEL
             : has_gpus ? (has_cpus ? GPU_SHORT : CPU_SHORT)
                        : (has_cpus ? GPU_SHORT : NEITHER_FITS);
    return has_model && has_gpus && has_cpus ? too_small : free->all;
}

double sim_target_frag_milli(const struct sim_target *target, const struct sim_cluster *cluster,
                             uint32_t node)
{
    const struct sim_node *host = &cluster->nodes[node];
    struct free_amounts amounts = { .gpus = cluster->gpus + host->gpu_first,
                                    .gpu_count = host->gpu_count,
                                    .cpus = host->cpu_total - host->cpu_held };
    double sums[CAUSES] = { 0 };
    double all = 0;
    for (uint32_t g = 0; g < host->gpu_count; g++)
        amounts.all += gpu_left(&amounts.gpus[g]);
    for (uint32_t i = 0; i < target->count; i++) {
        enum cause cause = NO_DEMAND;
        const int64_t units = unusable(&amounts, &target->shapes[i], &cause);
        sums[cause] += target->frequencies[i] * ((double)units / ((double)WEIR_ONE / 1000));
    }
    for (int i = 0; i < CAUSES; i++)
        all += sums[i];
    return all;
}
