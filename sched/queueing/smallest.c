/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "smallest": the job that asks for the least GPUs first (without GPUs: the least CPUs);
 * larger ones pass when it does not fit.
 */
#include "sched/queueing/queueings.h"

static double key(void *state, const struct weir_job *job, int64_t now_ns)
{
    const struct weir_shape *const shape = &job->shape;
    const int64_t gpu_units = shape->gpu_units * shape->gpu_count;
    /* CPUs only order jobs without GPUs: all of them are below the smallest share. */
    const double cpus = weir_units_amount(shape->cpu_units);
    const double amount = gpu_units > 0 ? weir_units_amount(gpu_units) : cpus / (cpus + 1) * 1e-6;

    (void)state;
    (void)now_ns;
    return amount * job->members;
}

const struct weir_queueing_ops weir_queueing_smallest = {
    .size = sizeof weir_queueing_smallest,
    .abi = WEIR_ABI_MAJOR,
    .name = "smallest",
    .summary = "the job with the least GPUs first; jobs that fit pass those that do not",
    .flags = WEIR_QUEUEING_PASSES,
    .key = key,
};
