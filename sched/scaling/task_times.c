/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Long means of task times; see task_times.h.
 */
#include "sched/scaling/task_times.h"

#include <math.h>

static const double NS_PER_S = 1e9;
static const double DOUBT = 3;     /* standard errors, as of a control chart */
static const double DRIFT = 0.2;   /* relative: by so much times change unnoticed */
static const double KNOWN_AT = 20; /* tasks that make a variance worth something */
static const double LATELY = 0.05; /* weight of a task among the last ones */

void weir_task_times_add(struct weir_task_times *times, const struct weir_measurement *task,
                         double constant_s)
{
    const double took_s = task->duration_s > 0 ? task->duration_s
                                               : (double)(task->end_ns - task->start_ns) / NS_PER_S;
    const double age_s = (double)(task->end_ns - times->last_ns) / NS_PER_S;
    const double kept = times->weight > 0 && age_s > 0 ? exp(-age_s / constant_s) : 1;
    const double before_s = times->mean_s;
    const double log_before = times->log_mean;

    if (!(took_s > 0))
        return;
    const double log_took = log(took_s);
    times->log_lately += (log_took - times->log_lately) * (times->weight > 0 ? LATELY : 1);
    times->weight = times->weight * kept + 1;
    times->mean_s += (took_s - before_s) / times->weight;
    times->spread = times->spread * kept + (took_s - before_s) * (took_s - times->mean_s);
    times->log_mean += (log_took - log_before) / times->weight;
    times->log_spread =
        times->log_spread * kept + (log_took - log_before) * (log_took - times->log_mean);
    if (task->end_ns > times->last_ns)
        times->last_ns = task->end_ns;
}

/* Squared, of the mean of the tasks in the window. */
static double window_error(const struct weir_task_times *times, const struct weir_estimate *window)
{
    return times->weight > 0 ? times->spread / times->weight / fmax(window->points, 1) : 0;
}

/* Nothing tells that times changed, so the long mean says something beside the window. */
static bool is_steady(const struct weir_task_times *times)
{
    const double off = times->log_lately - times->log_mean;

    return times->weight >= KNOWN_AT &&
           off * off <= DOUBT * DOUBT * times->log_spread / times->weight * LATELY / (2 - LATELY);
}

double weir_task_times_speed(const struct weir_task_times *times,
                             const struct weir_estimate *window)
{
    const double window_s = 1 / window->batches_per_s;
    const double drift = DRIFT * DRIFT * times->mean_s * times->mean_s; /* squared */

    if (!is_steady(times) || !(window_s > 0) || isinf(window_s))
        return window->batches_per_s;
    return 1 / (times->mean_s +
                (window_s - times->mean_s) * drift / (drift + window_error(times, window)));
}

double weir_task_times_doubt(const struct weir_task_times *times,
                             const struct weir_estimate *window)
{
    const double error = is_steady(times) ? times->spread / (times->weight * times->weight)
                                          : window_error(times, window);

    return error > 0 ? sqrt(error) / times->mean_s : 0;
}

void weir_task_times_remember(struct weir_task_times *times, struct weir_memory *memory)
{
    weir_memory_number(memory, &times->weight);
    weir_memory_number(memory, &times->mean_s);
    weir_memory_number(memory, &times->spread);
    weir_memory_number(memory, &times->log_mean);
    weir_memory_number(memory, &times->log_spread);
    weir_memory_number(memory, &times->log_lately);
    weir_memory_amount(memory, &times->last_ns);
}
