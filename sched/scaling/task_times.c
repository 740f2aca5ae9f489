/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Long means of task times; see task_times.h.
 */
#include "sched/scaling/task_times.h"

#include <math.h>

static const double NS_PER_S = 1e9;
static const double DOUBT = 4;     /* standard errors */
static const double DRIFT = 0.2;   /* relative: by so much times change unnoticed */
static const double KNOWN_AT = 20; /* tasks that make a variance worth something */

void weir_task_times_add(struct weir_task_times *times, const struct weir_measurement *task,
                         double constant_s)
{
    const double took_s = task->duration_s > 0 ? task->duration_s
                                               : (double)(task->end_ns - task->start_ns) / NS_PER_S;
    const double age_s = (double)(task->end_ns - times->last_ns) / NS_PER_S;
    const double kept = times->weight > 0 && age_s > 0 ? exp(-age_s / constant_s) : 1;
    const double before_s = times->mean_s;

    if (!(took_s > 0))
        return;
    times->weight = times->weight * kept + 1;
    times->mean_s += (took_s - before_s) / times->weight;
    times->spread = times->spread * kept + (took_s - before_s) * (took_s - times->mean_s);
    if (task->end_ns > times->last_ns)
        times->last_ns = task->end_ns;
}

double weir_task_times_speed(const struct weir_task_times *times,
                             const struct weir_estimate *window)
{
    const double window_s = 1 / window->batches_per_s;

    if (!(times->weight >= KNOWN_AT) || !(window_s > 0) || isinf(window_s))
        return window->batches_per_s;
    const double error = times->spread / times->weight / fmax(window->points, 1); /* squared */
    const double drift = DRIFT * DRIFT * times->mean_s * times->mean_s;
    const double off_s = window_s - times->mean_s;
    if (off_s * off_s > DOUBT * DOUBT * error)
        return window->batches_per_s;
    return 1 / (times->mean_s + off_s * drift / (drift + error));
}

void weir_task_times_remember(struct weir_task_times *times, struct weir_memory *memory)
{
    weir_memory_number(memory, &times->weight);
    weir_memory_number(memory, &times->mean_s);
    weir_memory_number(memory, &times->spread);
    weir_memory_amount(memory, &times->last_ns);
}
