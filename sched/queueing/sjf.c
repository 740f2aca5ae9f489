/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "sjf": the shortest estimate first, without preemption; the first job is picked anew
 * at every pass, and while it does not fit all wait. Jobs without an estimate come last.
 */
#include "sched/queueing/queueings.h"

#include <math.h>

static double key(void *state, const struct weir_job *job, int64_t now_ns)
{
    (void)state;
    (void)now_ns;
    return job->estimate_ns == WEIR_UNKNOWN_TIME ? HUGE_VAL : (double)job->estimate_ns;
}

const struct weir_queueing_ops weir_queueing_sjf = {
    .size = sizeof weir_queueing_sjf,
    .abi = WEIR_ABI_MAJOR,
    .name = "sjf",
    .summary = "the shortest estimate first; while it does not fit, all wait",
    .key = key,
};
