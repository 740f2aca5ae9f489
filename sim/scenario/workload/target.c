/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The target workload; see the header. */
#include "sim/scenario/workload/target.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- kinds of jobs ---- */

struct kind {
    struct weir_shape shape;
    const char *models;
    int64_t ram_bytes; /* not a part of what makes a kind */
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
    order = order != 0 ? order : compare_amounts(a->shape.gpu_mem_bytes, b->shape.gpu_mem_bytes);
    order = order != 0 ? order : compare_amounts(a->shape.nvdecs, b->shape.nvdecs);
    order = order != 0 ? order : compare_amounts(a->shape.nvencs, b->shape.nvencs);
    order = order != 0 ? order : strcmp(a->shape.mig_profile, b->shape.mig_profile);
    return order != 0 ? order : strcmp(a->models, b->models);
}

/* Memory orders the jobs of a kind, so that the one in the middle is a middle one. */
static int by_demand(const void *left, const void *right)
{
    const struct kind *a = left;
    const struct kind *b = right;
    const int order = compare_demands(a, b);
    return order != 0 ? order : compare_amounts(a->ram_bytes, b->ram_bytes);
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
                                      .ram_bytes = job->shape.ram_bytes,
                                      .count = weight_of(workload, job) };
        kinds[count++].shape.ram_bytes = 0;
    }
    return count;
}

/* Memory of the (lower) middle one of so many jobs of one kind. */
static int64_t middle_memory(const struct kind *kinds, uint64_t jobs)
{
    uint64_t passed = kinds[0].count;
    size_t i = 0;
    while (2 * passed < jobs)
        passed += kinds[++i].count;
    return kinds[i].ram_bytes;
}

/* Joins equal neighbours; of their memories the middle one stays. */
static size_t merge(struct kind *kinds, size_t count)
{
    size_t distinct = 0;
    for (size_t first = 0, next = 0; first < count; first = next) {
        uint64_t jobs = 0;
        for (; next < count && compare_demands(&kinds[first], &kinds[next]) == 0; next++)
            jobs += kinds[next].count;
        const int64_t middle_bytes = middle_memory(kinds + first, jobs);
        kinds[distinct] = kinds[first];
        kinds[distinct].count = jobs;
        kinds[distinct++].ram_bytes = middle_bytes;
    }
    return distinct;
}

static uint32_t alike_of(const struct weir_shape *shapes, uint32_t kind)
{
    struct weir_shape shape = shapes[kind];
    for (uint32_t i = 0; i < kind && i < SIM_TARGET_ALIKE; i++) {
        shape.cpu_units = shapes[i].cpu_units;
        if (memcmp(&shape, &shapes[i], sizeof shape) == 0) /* without padding */
            return i;
    }
    return kind;
}

static weir_status take(struct sim_target *target, const struct kind *kinds, uint64_t jobs,
                        double share)
{
    uint64_t covered = 0;
    target->shapes = calloc((size_t)target->distinct + 1, sizeof(*target->shapes));
    target->frequencies = calloc((size_t)target->distinct + 1, sizeof(*target->frequencies));
    target->ram_bytes = calloc((size_t)target->distinct + 1, sizeof(*target->ram_bytes));
    target->alike = calloc((size_t)target->distinct + 1, sizeof(*target->alike));
    if (target->shapes == NULL || target->frequencies == NULL || target->ram_bytes == NULL ||
        target->alike == NULL)
        return WEIR_ENOMEM;
    while (target->count < target->distinct && (double)covered < share * (double)jobs) {
        const struct kind *kind = &kinds[target->count];
        target->shapes[target->count] = kind->shape;
        target->alike[target->count] = alike_of(target->shapes, target->count);
        target->ram_bytes[target->count] = kind->ram_bytes;
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
    free(target->ram_bytes);
    free(target->alike);
    *target = (struct sim_target){ .count = 0 };
}

struct weir_mix sim_target_mix(const struct sim_target *target)
{
    return (struct weir_mix){ .shapes = target->shapes,
                              .frequencies = target->frequencies,
                              .count = target->count };
}

double sim_target_cpu_share(const struct sim_target *target)
{
    double share = 0;
    for (uint32_t i = 0; i < target->count; i++)
        share += target->shapes[i].gpu_count == 0 ? target->frequencies[i] : 0;
    return share;
}
