/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long tasks of a pool take, over long: a mean that forgets with a time constant, beside the
 * host's estimate of a short window.
 *
 * A window of some tasks that differ much says little: a policy that follows it moves workers after
 * noise. So the two are weighed by what they know (the mean of a normal law with a normal prior):
 * the window by the squared error of its mean, the long mean by how far times drift unnoticed.
 * Where times have changed the window is believed, and the long mean comes after it by itself. That
 * is told by logarithms of times, of which one task of a heavy tail moves the mean but little:
 * those of the last twenty or so against the long ones (a chart of weighted means, Roberts 1959),
 * by DOUBT errors.
 *
 * Means and variances are weighted by age, one exponential for both (West, CACM 22, 1979, with
 * weights that decay).
 */
#ifndef SCHED_SCALING_TASK_TIMES_H
#define SCHED_SCALING_TASK_TIMES_H

#include "sched/internal/memory.h"
#include "weir/measure.h"

/* Of one pool; zeroed = nothing is known. */
struct weir_task_times {
    double weight; /* of the tasks seen, at `last_ns` */
    double mean_s;
    double spread;               /* sum of weighted squares about the mean */
    double log_mean, log_spread; /* the same of logarithms of seconds */
    double log_lately;           /* their mean over the last tasks */
    int64_t last_ns;
};

/* A task ended. */
void weir_task_times_add(struct weir_task_times *times, const struct weir_measurement *task,
                         double constant_s);
/* Batches per second of a worker: by both, or by the window where times have changed or little else
 * is known (NAN = unknown). */
double weir_task_times_speed(const struct weir_task_times *times,
                             const struct weir_estimate *window);
/* Standard error of that speed relative to it, by how much tasks differ; 0 = nobody knows. */
double weir_task_times_doubt(const struct weir_task_times *times,
                             const struct weir_estimate *window);
/* Out and in, see memory.h. */
void weir_task_times_remember(struct weir_task_times *times, struct weir_memory *memory);

#endif
