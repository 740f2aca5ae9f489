/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Resolving the profiles of models: what they say of the rows of a trace. A row keeps what its
 * profile says nothing of, and all that it has when there is no profile of its model.
 */
#include "sim/engine/time.h"
#include "sim/scenario/resolve/resolve.h"
#include "workloads/job.h"
#include "workloads/profiles.h"

#include <math.h>

struct told {
    struct sim_resolver *resolver;
    const struct wl_profiles *profiles;
    const struct sim_profile **speeds; /* by profile; NULL = not worked out yet */
    const struct sim_step **steps;
    size_t strangers;     /* rows whose model has no profile */
    const char *stranger; /* the first of these models */
};

static int64_t amount(double said, double each, int64_t otherwise)
{
    return isnan(said) ? otherwise : llround(said * each);
}

static const struct sim_profile *speeds_of(const struct told *told,
                                           const struct wl_profile *profile)
{
    const struct sim_scenario *scenario = told->resolver->scenario;
    struct sim_profile *made = sim_arena_alloc(told->resolver->arena, 1, sizeof *made);
    double *on_type =
        sim_arena_alloc(told->resolver->arena, scenario->gpu_types_count + 1, sizeof *on_type);
    made->step_s = profile->step_s;
    for (size_t t = 0; t < scenario->gpu_types_count; t++)
        on_type[t] = wl_profile_speed(profile, scenario->gpu_types[t].name);
    made->on_type = profile->speeds[0] == '\0' ? NULL : on_type;
    return made;
}

/* Ranks that exchange nothing and are all alike compute to their end. */
static const struct sim_step *step_of(const struct told *told, const struct wl_profile *profile)
{
    if (isnan(profile->step_s) || (!(profile->sync_bytes > 0) && !(profile->spread > 0)))
        return NULL;
    struct sim_step *step = sim_arena_alloc(told->resolver->arena, 1, sizeof *step);
    const bool has_latency = !isnan(profile->latency_s);
    step->time_ns = sim_time_from_s(profile->step_s);
    step->spread = isnan(profile->spread) ? 0 : profile->spread;
    step->sync_bytes = amount(profile->sync_bytes, 1, 0);
    step->latency_ns = has_latency ? sim_time_from_s(profile->latency_s) : SIM_LATENCY_BY_PLACE;
    return step;
}

static void take(struct told *told, const struct wl_profile *profile, struct sim_job_spec *job)
{
    const size_t index = (size_t)(profile - told->profiles->profiles);
    struct weir_shape *shape = &job->shape;
    if (told->speeds[index] == NULL) {
        told->speeds[index] = speeds_of(told, profile);
        told->steps[index] = step_of(told, profile);
    }
    job->profile = told->speeds[index];
    job->step = told->steps[index];
    shape->cpu_units = amount(profile->cpus, (double)WEIR_ONE * shape->gpu_count, shape->cpu_units);
    shape->ram_bytes = amount(profile->ram_bytes, shape->gpu_count, shape->ram_bytes);
    shape->gpu_mem_bytes = amount(profile->gpu_memory_bytes, 1, shape->gpu_mem_bytes);
    job->activation_bytes = amount(profile->activation_bytes, 1, 0);
    job->traffic.bandwidth = isnan(profile->bandwidth) ? 0 : profile->bandwidth;
    job->traffic.bound = isnan(profile->bound) ? 0 : profile->bound;
}

static void take_all(struct told *told, const struct wl_jobs *rows, const uint32_t *places,
                     struct sim_workload *workload)
{
    for (size_t i = 0; i < rows->count; i++) {
        const struct wl_job *row = &rows->jobs[i];
        if (places[i] == 0 || row->gpus == 0)
            continue;
        const struct wl_profile *profile = wl_profiles_find(told->profiles, row->model, row->gpus);
        if (profile != NULL)
            take(told, profile, &workload->jobs[places[i] - 1]);
        else if (told->strangers++ == 0)
            told->stranger =
                sim_arena_printf(told->resolver->arena, "'%s' on %u GPUs", row->model, row->gpus);
    }
}

void sim_resolve_profiles(struct sim_resolver *resolver, const struct sim_job_source *source,
                          const struct wl_jobs *rows, const uint32_t *places)
{
    struct wl_profiles profiles = { NULL, 0 };
    struct weir_error error = { .phase = -1 };
    if (source->timed == NULL || source->timed->profiles == NULL)
        return;
    const struct sim_yaml *at = sim_draft_at(source->head, "profiles");
    const char *path = sim_resolve_data_path(resolver, source->timed->profiles);
    if (wl_profiles_read(path, resolver->limits, &profiles, &error) != WEIR_OK) {
        sim_report_error(resolver->report, at, "%s", error.text);
        return;
    }
    struct told told = { .resolver = resolver, .profiles = &profiles };
    told.speeds = sim_arena_alloc(resolver->arena, profiles.count + 1, sizeof *told.speeds);
    told.steps = sim_arena_alloc(resolver->arena, profiles.count + 1, sizeof *told.steps);
    take_all(&told, rows, places, source->workload);
    if (told.strangers > 0)
        sim_report_warning(resolver->report, at,
                           "%zu of %zu jobs have no profile, as %s: they are as the trace says",
                           told.strangers, rows->count, told.stranger);
    wl_profiles_clear(&profiles);
}
