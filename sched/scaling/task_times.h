/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long tasks of a pool take, over long: a mean that forgets with a time constant, beside the
 * host's estimate of a short window.
 *
 * A window of some tasks that differ much says little: a policy that follows it moves workers after
 * noise. So the two are weighed by what they know (the mean of a normal law with a normal prior):
 * the window by the squared error of its mean, the long mean by how far times drift unnoticed.
 * Where they differ by more than DOUBT errors something has changed, and the window is believed;
 * the long mean comes after it by itself.
 *
 * The mean and the variance are weighted by age, one exponential for both (West, CACM 22, 1979,
 * with weights that decay).
 */
#ifndef SCHED_SCALING_TASK_TIMES_H
#define SCHED_SCALING_TASK_TIMES_H

#include "sched/internal/memory.h"
#include "weir/measure.h"

/* Of one pool; zeroed = nothing is known. */
struct weir_task_times {
    double weight; /* of the tasks seen, at `last_ns` */
    double mean_s;
    double spread; /* sum of weighted squares about the mean */
    int64_t last_ns;
};

/* A task ended. */
void weir_task_times_add(struct weir_task_times *times, const struct weir_measurement *task,
                         double constant_s);
/* Batches per second of a worker: by both, or by the window where it contradicts the long mean or
 * little else is known (NAN = unknown). */
double weir_task_times_speed(const struct weir_task_times *times,
                             const struct weir_estimate *window);
/* Out and in, see memory.h. */
void weir_task_times_remember(struct weir_task_times *times, struct weir_memory *memory);

#endif
