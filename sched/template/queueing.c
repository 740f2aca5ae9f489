/* SPDX-License-Identifier: Apache-2.0 */
/* template: the job with the fewest GPUs is next. The least key wins, of equals the first. */
#include "weir/job.h"

static double key(void *state, const struct weir_job *job, int64_t now_ns)
{
    double gpus = 0;
    (void)state;  /* there is none; `create` would make it */
    (void)now_ns; /* a key that changes with time needs the flag WEIR_QUEUEING_AGES */
    for (uint32_t i = 0; i < job->group_count; i++)
        gpus += weir_units_amount(job->groups[i].shape.gpu_units) * job->groups[i].shape.gpu_count *
                job->groups[i].ranks;
    return gpus;
}

static const struct weir_queueing_ops policy = {
    .size = sizeof(struct weir_queueing_ops),
    .abi = WEIR_ABI_MAJOR,
    .name = "template",
    .summary = "the job with the fewest GPUs is next",
    .key = key,
    .flags = WEIR_QUEUEING_PASSES /* who fits passes who does not */
};
WEIR_MODULE_OF_ONE(queueing, "template", policy)
