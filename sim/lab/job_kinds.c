/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kinds of jobs; see the header. */
#include "sim/lab/job_kinds.h"

#include <stdlib.h>

struct row {
    const struct weir_shape *shape;
    uint32_t index;
};

static int compare_amounts(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_shapes(const struct weir_shape *a, const struct weir_shape *b)
{
    int order = compare_amounts(b->gpu_units * b->gpu_count, a->gpu_units * a->gpu_count);
    order = order != 0 ? order : compare_amounts(a->gpu_count, b->gpu_count);
    order = order != 0 ? order : compare_amounts(a->cpu_units, b->cpu_units);
    order = order != 0 ? order : compare_amounts(a->ram_bytes, b->ram_bytes);
    order = order != 0 ? order : compare_amounts(a->gpu_mem_bytes, b->gpu_mem_bytes);
    order = order != 0 ? order : compare_amounts(a->nvdecs, b->nvdecs);
    order = order != 0 ? order : compare_amounts(a->nvencs, b->nvencs);
    order = order != 0 ? order : compare_amounts(a->kind, b->kind);
    return order != 0 ? order : compare_amounts(a->gpu_type, b->gpu_type);
}

static int by_shape(const void *left, const void *right)
{
    const struct row *a = left;
    const struct row *b = right;
    const int order = compare_shapes(a->shape, b->shape);
    return order != 0 ? order : compare_amounts(a->index, b->index);
}

static void number_rows(const struct row *rows, size_t count, struct sim_job_kinds *kinds)
{
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || compare_shapes(rows[i - 1].shape, rows[i].shape) != 0)
            kinds->shapes[kinds->count++] = *rows[i].shape;
        kinds->of_row[rows[i].index] = kinds->count - 1;
    }
}

weir_status sim_job_kinds_create(const struct sim_workload *workload, struct sim_job_kinds *kinds)
{
    const size_t count = workload->jobs_count;
    struct row *rows = calloc(count + 1, sizeof(*rows));
    struct sim_job_kinds made = { .shapes = calloc(count + 1, sizeof(*made.shapes)),
                                  .of_row = calloc(count + 1, sizeof(*made.of_row)) };
    if (rows == NULL || made.shapes == NULL || made.of_row == NULL) {
        free(rows);
        sim_job_kinds_clear(&made);
        return WEIR_ENOMEM;
    }
    for (size_t i = 0; i < count; i++)
        rows[i] = (struct row){ .shape = &workload->jobs[i].shape, .index = (uint32_t)i };
    qsort(rows, count, sizeof(*rows), by_shape);
    number_rows(rows, count, &made);
    free(rows);
    *kinds = made;
    return WEIR_OK;
}

void sim_job_kinds_clear(struct sim_job_kinds *kinds)
{
    free(kinds->shapes);
    free(kinds->of_row);
    *kinds = (struct sim_job_kinds){ .shapes = NULL };
}

double sim_kind_gpus(const struct weir_shape *shape)
{
    return weir_units_amount(shape->gpu_units) * shape->gpu_count;
}
