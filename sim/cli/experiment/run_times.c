/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long runs take; see the header. */
#include "sim/cli/experiment/run_times.h"

#include <math.h>
#include <stdlib.h>

bool sim_run_times_begin(struct sim_run_times *times, size_t variants)
{
    *times = (struct sim_run_times){ .prior = calloc(variants + 1, sizeof *times->prior),
                                     .sum_s = calloc(variants + 1, sizeof *times->sum_s),
                                     .runs = calloc(variants + 1, sizeof *times->runs) };
    for (size_t v = 0; times->prior != NULL && v < variants; v++)
        times->prior[v] = 1;
    return times->prior != NULL && times->sum_s != NULL && times->runs != NULL;
}

void sim_run_times_end(struct sim_run_times *times)
{
    free(times->prior);
    free(times->sum_s);
    free(times->runs);
    *times = (struct sim_run_times){ .prior = NULL };
}

void sim_run_times_measured(struct sim_run_times *times, size_t variant, double took_s)
{
    times->sum_s[variant] += fmax(took_s, 0);
    times->runs[variant]++;
    times->all_s += fmax(took_s, 0);
    times->all_prior += times->prior[variant];
}

void sim_run_times_running(struct sim_run_times *times, size_t variant, double fraction,
                           double so_far_s)
{
    if (fraction > 0.01)
        times->s_per_prior = so_far_s / fraction / times->prior[variant];
}

double sim_run_times_s(const struct sim_run_times *times, size_t variant)
{
    if (times->runs[variant] > 0)
        return times->sum_s[variant] / times->runs[variant];
    const double scale = times->all_prior > 0     ? times->all_s / times->all_prior
                         : times->s_per_prior > 0 ? times->s_per_prior
                                                  : 1;
    return scale * times->prior[variant];
}
