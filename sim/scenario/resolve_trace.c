/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Resolving the trace of a workload: which format, which file, and its rows as jobs with shapes.
 */
#include "sim/scenario/resolve.h"
#include "workloads/openb.h"

#include <string.h>

#define UNITS_PER_MILLI (WEIR_ONE / 1000)

/* "A|B" as a set of GPU types; models the cluster does not have are left out. */
static uint32_t model_set(struct sim_resolver *resolver, const char *models)
{
    const struct sim_scenario *scenario = resolver->scenario;
    uint32_t set = WEIR_GPU_TYPE_SET;
    if (models[0] == '\0')
        return 0;
    char *rest = sim_resolve_model(resolver, models);
    for (char *model = strsep(&rest, "|"); model != NULL; model = strsep(&rest, "|"))
        for (uint32_t t = 0; t < scenario->gpu_types_count && t < 31; t++)
            if (strcmp(scenario->gpu_types[t].name, model) == 0)
                set |= UINT32_C(1) << t;
    return set;
}

static struct sim_job_spec job_of(struct sim_resolver *resolver, const struct wl_job *job)
{
    const bool is_share = job->gpus == 1 && job->gpu_milli < 1000;
    const uint32_t kind = is_share ? WEIR_SHAPE_FRACTIONAL : WEIR_SHAPE_WHOLE;
    const bool is_free = job->models[0] == '\0';
    return (struct sim_job_spec){ .shape = { .kind = job->gpus == 0 ? WEIR_SHAPE_CPU : kind,
                                             .gpu_count = job->gpus,
                                             .cpu_units = job->cpu_milli * UNITS_PER_MILLI,
                                             .gpu_units = (int64_t)job->gpu_milli * UNITS_PER_MILLI,
                                             .ram_bytes = job->memory_bytes,
                                             .gpu_type = model_set(resolver, job->models) },
                                  .models =
                                      is_free ? "" : sim_arena_copy(resolver->arena, job->models) };
}

void sim_resolve_trace(struct sim_resolver *resolver, const struct draft_workload *draft,
                       struct sim_workload *workload)
{
    const struct sim_yaml *at = sim_draft_at(&draft->head, "pods");
    struct weir_error error = { .phase = -1 };
    struct wl_jobs jobs = { .count = 0 };
    if (draft->pods == NULL)
        return; /* reported */
    const char *path = sim_resolve_data_path(resolver, draft->pods);
    const struct wl_trace_options options = { .path = path };
    if (wl_openb_read_jobs(&options, &jobs, &error) != WEIR_OK)
        sim_report_error(resolver->report, at, "%s", error.text);
    else if (jobs.count == 0)
        sim_report_error(resolver->report, at, "%s: the table has no rows", path);
    workload->jobs_count = jobs.count;
    workload->jobs = sim_arena_alloc(resolver->arena, jobs.count + 1, sizeof *workload->jobs);
    for (size_t i = 0; i < jobs.count; i++)
        workload->jobs[i] = job_of(resolver, &jobs.jobs[i]);
    wl_jobs_clear(&jobs);
}
