/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "smallest": the job that asks for the least GPUs first (without GPUs: the least CPUs);
 * larger ones pass when it does not fit.
 */
#include "sched/queueing/queueings.h"

/* What one rank asks for. CPUs only order jobs without GPUs: all of them are below the smallest
 * share. */
static double amount(const struct weir_shape *shape)
{
    const int64_t gpu_units = shape->gpu_units * shape->gpu_count;
    const double cpus = weir_units_amount(shape->cpu_units);

    return gpu_units > 0 ? weir_units_amount(gpu_units) : cpus / (cpus + 1) * 1e-6;
}

static double key(void *state, const struct weir_job *job, int64_t now_ns)
{
    double sum = 0;

    (void)state;
    (void)now_ns;
    for (uint32_t i = 0; i < job->group_count; i++)
        sum += amount(&job->groups[i].shape) * job->groups[i].ranks;
    return sum;
}

const struct weir_queueing_ops weir_queueing_smallest = {
    .size = sizeof weir_queueing_smallest,
    .abi = WEIR_ABI_MAJOR,
    .name = "smallest",
    .summary = "the job with the least GPUs first; jobs that fit pass those that do not",
    .flags = WEIR_QUEUEING_PASSES,
    .key = key,
};
