/* SPDX-License-Identifier: GPL-3.0-or-later */
/* weir trace info --groups: the jobs of a trace by what they need (weir/needs.h). */
#include "sim/cli/look/trace.h"
#include "weir/needs.h"

#include <math.h>
#include <stdlib.h>

/* Logarithms, but of shares: a job of 64 GPUs is as far from one of 8 as that from one of one. */
enum { NEED_GPUS, NEED_SHARE, NEED_CPUS, NEED_MEMORY, NEED_RUN, NEEDS };

static double known(int64_t amount)
{
    return amount == WL_UNKNOWN || amount < 0 ? 0 : (double)amount;
}

static void need_of(const struct wl_job *job, double *need)
{
    need[NEED_GPUS] = log1p(job->gpus);
    need[NEED_SHARE] = job->gpus == 0 ? 0 : job->gpu_milli / 1000.0;
    need[NEED_CPUS] = log1p(known(job->cpu_milli) / 1000);
    need[NEED_MEMORY] = log1p(known(job->memory_bytes) / 1e9);
    need[NEED_RUN] = log1p(known(job->run_ns) / 1e9);
}

static void add_rows(struct sim_table *table, enum sim_format format, const double *needs,
                     const uint32_t *group, size_t jobs, uint32_t found)
{
    for (uint32_t g = 0; g < found; g++) {
        double sums[NEEDS] = { 0 };
        double count = 0;
        char name[16];
        for (size_t i = 0; i < jobs; i++) {
            if (group[i] != g)
                continue;
            count++;
            for (size_t n = 0; n < NEEDS; n++)
                sums[n] += needs[i * NEEDS + n];
        }
        const double values[] = { count,
                                  100 * count / (double)jobs,
                                  expm1(sums[NEED_GPUS] / count),
                                  sums[NEED_SHARE] / count,
                                  expm1(sums[NEED_CPUS] / count),
                                  expm1(sums[NEED_MEMORY] / count),
                                  expm1(sums[NEED_RUN] / count) };
        (void)snprintf(name, sizeof name, "%u", g + 1);
        sim_table_add(table, name);
        sim_table_add_numbers(table, format, values, sizeof values / sizeof values[0]);
    }
}

weir_status sim_trace_groups(const struct wl_jobs *jobs, uint32_t groups, enum sim_format format,
                             struct sim_table **table)
{
    static const struct sim_column columns[] = {
        { "group", "group", NULL, false, false },      { "jobs", "jobs", NULL, true, true },
        { "share", "share_percent", "%", true, true }, { "GPUs", "gpus", NULL, true, true },
        { "of each", "gpu_share", NULL, true, true },  { "CPUs", "cpus", NULL, true, true },
        { "memory", "memory_gb", "GB", true, true },   { "run", "run_s", "s", true, true },
    };
    double *needs = calloc(jobs->count + 1, NEEDS * sizeof *needs);
    uint32_t *group = calloc(jobs->count + 1, sizeof *group);
    const struct weir_needs asked = { .size = sizeof asked,
                                      .count = (uint32_t)jobs->count,
                                      .dims = NEEDS,
                                      .groups = groups,
                                      .values = needs };
    uint32_t found = 0;
    weir_status status = needs == NULL || group == NULL ? WEIR_ENOMEM : WEIR_OK;
    for (size_t i = 0; status == WEIR_OK && i < jobs->count; i++)
        need_of(&jobs->jobs[i], needs + i * NEEDS);
    if (status == WEIR_OK && jobs->count > 0)
        status = weir_needs_group(&asked, NULL, group, &found, NULL);
    if (status == WEIR_OK) {
        *table = sim_table_create(columns, sizeof columns / sizeof columns[0]);
        add_rows(*table, format, needs, group, jobs->count, found);
    }
    free(needs);
    free(group);
    return status;
}
