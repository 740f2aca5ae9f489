/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Resolving how fast work goes on each GPU type, and what was assumed for it.
 *
 * A time was measured somewhere: on the GPU type, or instance of it, that `measured_on` names, else
 * on the first type of the cluster that can hold the work. Elsewhere it goes by the ratio of the
 * speeds: the scenario's own, else the catalogue's for this kind of work. Run times of a trace are
 * as recorded unless the entry says where. What comes from the catalogue, or was not said, and
 * matters is noted as an assumption.
 */
#include "sim/scenario/catalog/catalog_gpus.h"
#include "sim/scenario/resolve/check.h"

#include <math.h>
#include <string.h>

/* What is resolved here: a stage, a class, or a trace. */
struct timed_work {
    const char *name;          /* for assumptions */
    const struct sim_yaml *at; /* what says measured_on */
    const char *measured_on;   /* NULL = nobody says it */
    uint32_t work;             /* enum sim_gpu_work */
    bool is_recorded;          /* times hold wherever it runs */
    bool is_of_instance;       /* they are of the instance it asks for, not of a GPU */
    const struct weir_shape *shape;
    const double *factors; /* by GPU type, that replace speeds; NULL = none */
};

/* Where it was measured. */
struct origin {
    uint32_t type; /* WEIR_NO_INDEX = nowhere: its speeds are those of the scenario alone */
    double part;   /* of what paces the work there, 1 = no instance */
};

struct speeds {
    struct sim_resolver *resolver;
    uint32_t *noted;      /* by GPU type: kinds of work whose speed was noted, as bits */
    const char **origins; /* by GPU type: work that nobody says was measured there */
    bool has_instances;
};

static struct sim_scenario *scenario_of(const struct speeds *speeds)
{
    return speeds->resolver->scenario;
}

/* ---- assumptions ---- */

void sim_resolve_assume(struct sim_resolver *resolver, const char *text)
{
    struct sim_scenario *scenario = resolver->scenario;
    scenario->assumptions = sim_arena_grow(resolver->arena, scenario->assumptions,
                                           scenario->assumptions_count, sizeof(char *));
    scenario->assumptions[scenario->assumptions_count++] = text;
}

static double catalog_speed(const char *type, uint32_t work)
{
    const struct sim_catalog_gpu *known = sim_catalog_gpu_find(type);
    return known == NULL || !(known->speed[work] > 0) ? (double)NAN : known->speed[work];
}

static const char *speed_text(const struct speeds *speeds, const char *type, uint32_t work)
{
    const double speed = catalog_speed(type, work);
    if (isnan(speed))
        return sim_arena_printf(speeds->resolver->arena,
                                "nothing is known of the speed of %s: work takes as long there as "
                                "measured; catalog.gpu_types.%s.speed says otherwise",
                                type, type);
    return sim_arena_printf(speeds->resolver->arena,
                            "%s does %s work %g times as fast as " SIM_CATALOG_GPU_BASE ": %s",
                            type, sim_gpu_work_name(work), speed,
                            sim_catalog_gpu_source(sim_catalog_gpu_find(type), work));
}

/* Once for a type and a kind of work; of the one that all are relative to nothing is assumed. */
static void note_speed(struct speeds *speeds, uint32_t type, uint32_t work)
{
    const char *name = scenario_of(speeds)->gpu_types[type].name;
    if ((speeds->noted[type] >> work & 1) != 0 || strcmp(name, SIM_CATALOG_GPU_BASE) == 0)
        return;
    speeds->noted[type] |= UINT32_C(1) << work;
    sim_resolve_assume(speeds->resolver, speed_text(speeds, name, work));
}

static void note_origin(struct speeds *speeds, uint32_t type, const struct timed_work *work)
{
    const char *before = speeds->origins[type];
    speeds->origins[type] =
        before == NULL ? work->name
                       : sim_arena_printf(speeds->resolver->arena, "%s, %s", before, work->name);
}

static void assume_origins(const struct speeds *speeds)
{
    const struct sim_scenario *scenario = scenario_of(speeds);
    for (size_t i = 0; i < scenario->gpu_types_count; i++)
        if (speeds->origins[i] != NULL)
            sim_resolve_assume(
                speeds->resolver,
                sim_arena_printf(speeds->resolver->arena,
                                 "times of %s were measured on %s, the first GPU type of the "
                                 "cluster that can hold it; measured_on says otherwise",
                                 speeds->origins[i], scenario->gpu_types[i].name));
}

/* ---- where it can run ---- */

static bool holds(const struct sim_scenario *scenario, const struct timed_work *work, uint32_t type)
{
    for (size_t g = 0; g < scenario->node_groups_count; g++) {
        const struct sim_node_type *node = &scenario->node_types[scenario->node_groups[g].type];
        for (size_t i = 0; i < node->gpus_count; i++)
            if (node->gpus[i].type == type && sim_check_gpu(scenario, node, i, work->shape))
                return true;
    }
    return false;
}

/* In the order of the cluster; one whose speed the scenario gives is relative to another. */
static uint32_t first_that_holds(const struct sim_scenario *scenario, const struct timed_work *work)
{
    for (size_t g = 0; g < scenario->node_groups_count; g++) {
        const struct sim_node_type *node = &scenario->node_types[scenario->node_groups[g].type];
        for (size_t i = 0; i < node->gpus_count; i++)
            if (isnan(scenario->gpu_types[node->gpus[i].type].speed) &&
                sim_check_gpu(scenario, node, i, work->shape))
                return node->gpus[i].type;
    }
    return WEIR_NO_INDEX;
}

/* ---- where it was measured ---- */

static uint32_t pace_of(uint32_t work)
{
    return work == SIM_GPU_WORK_DENSE ? SIM_PACE_SMS : SIM_PACE_BANDWIDTH;
}

static double part_of(const struct weir_mig *table, uint32_t profile, uint32_t work)
{
    return sim_pace_of(pace_of(work), sim_gpu_part(table, &table->profiles[profile]));
}

/* The smallest instance that it can ask for. */
static double asked_part(const struct sim_scenario *scenario, uint32_t type,
                         const struct timed_work *work)
{
    const struct weir_mig *table = scenario->gpu_types[type].mig;
    double part = 1;
    for (uint32_t p = 0; table != NULL && p < table->profile_count; p++)
        if (weir_shape_takes_profile(work->shape, &table->profiles[p]))
            part = fmin(part, part_of(table, p, work->work));
    return part;
}

static struct origin named_origin(const struct speeds *speeds, const struct timed_work *work)
{
    struct sim_resolver *resolver = speeds->resolver;
    struct origin origin = { .type = WEIR_NO_INDEX, .part = 1 };
    struct weir_error error = { .phase = -1 };
    uint32_t profile = 0;
    char *name = sim_arena_copy(resolver->arena, work->measured_on);
    char *slash = strchr(name, '/');
    if (slash != NULL)
        *slash = '\0';
    origin.type = sim_resolve_gpu_type(resolver, work->at, name);
    if (slash == NULL || origin.type == WEIR_NO_INDEX)
        return origin;
    const struct weir_mig *table = resolver->scenario->gpu_types[origin.type].mig;
    if (table == NULL)
        sim_report_error(resolver->report, work->at, "%s has no MIG table: it has no instances",
                         name);
    else if (weir_mig_find(table, slash + 1, &profile, &error) != WEIR_OK)
        sim_report_error(resolver->report, work->at, "%s", error.text);
    else
        origin.part = part_of(table, profile, work->work);
    return origin;
}

static struct origin origin_of(const struct speeds *speeds, const struct timed_work *work)
{
    struct origin origin = { .type = WEIR_NO_INDEX, .part = 1 };
    if (work->measured_on != NULL)
        return named_origin(speeds, work);
    if (work->is_recorded)
        return origin;
    origin.type = first_that_holds(scenario_of(speeds), work);
    if (origin.type != WEIR_NO_INDEX && work->is_of_instance)
        origin.part = asked_part(scenario_of(speeds), origin.type, work);
    return origin;
}

/* ---- speeds ---- */

/* Of a whole GPU of the type against a whole one of the origin's. */
static double ratio(const struct sim_scenario *scenario, uint32_t type, uint32_t origin,
                    uint32_t work)
{
    const double own = scenario->gpu_truth[type].speed;
    const double base = origin == WEIR_NO_INDEX ? (double)NAN : scenario->gpu_types[origin].speed;
    if (!isnan(own))
        return isnan(base) ? own : own / base;
    if (origin == WEIR_NO_INDEX || origin == type)
        return 1;
    const double known = catalog_speed(scenario->gpu_types[type].name, work) /
                         catalog_speed(scenario->gpu_types[origin].name, work);
    return isnan(known) ? 1 : known;
}

/* What was taken from the catalogue, where it makes a difference. */
static void note(struct speeds *speeds, const struct timed_work *work, struct origin origin)
{
    const struct sim_scenario *scenario = scenario_of(speeds);
    bool matters = false;
    for (uint32_t t = 0; t < scenario->gpu_types_count && origin.type != WEIR_NO_INDEX; t++) {
        const bool is_said = !isnan(scenario->gpu_truth[t].speed) ||
                             (work->factors != NULL && !isnan(work->factors[t]));
        if (t == origin.type || is_said || !holds(scenario, work, t))
            continue;
        matters = true;
        note_speed(speeds, t, work->work);
    }
    if (!matters)
        return;
    note_speed(speeds, origin.type, work->work);
    if (work->measured_on == NULL)
        note_origin(speeds, origin.type, work);
}

static struct sim_speed resolve_speed(struct speeds *speeds, const struct timed_work *work,
                                      const struct weir_shape *uses)
{
    const struct sim_scenario *scenario = scenario_of(speeds);
    const struct origin origin = origin_of(speeds, work);
    const bool is_part = uses->kind == WEIR_SHAPE_SLICE && origin.type != WEIR_NO_INDEX;
    struct sim_speed speed = { .pace = is_part ? pace_of(work->work) : SIM_PACE_WHOLE };
    speed.on_type =
        sim_arena_alloc(speeds->resolver->arena, scenario->gpu_types_count + 1, sizeof(double));
    for (uint32_t t = 0; t < scenario->gpu_types_count; t++)
        speed.on_type[t] = ratio(scenario, t, origin.type, work->work) / origin.part;
    note(speeds, work, origin);
    speeds->has_instances |= is_part && !work->is_of_instance;
    return speed;
}

/* ---- who says what ---- */

/* The innermost that says it: a stage or class, what is around it, the file. */
static void find_measured(const struct speeds *speeds, struct timed_work *work,
                          const struct draft_head *inner, const char *of_inner,
                          const struct draft_head *outer, const char *of_outer)
{
    const struct draft_scenario *draft = speeds->resolver->draft;
    const struct draft_head *head = of_inner != NULL   ? inner
                                    : of_outer != NULL ? outer
                                                       : &draft->head;
    work->measured_on = of_inner != NULL   ? of_inner
                        : of_outer != NULL ? of_outer
                                           : draft->measured_on;
    work->at = sim_draft_at(head, "measured_on");
}

static uint32_t either(uint32_t first, uint32_t second)
{
    return first == SIM_ABSENT_COUNT ? second : first;
}

static void resolve_stage(struct speeds *speeds, const struct draft_pipeline *pipeline,
                          const struct draft_stage *draft, struct sim_stage *stage)
{
    struct timed_work work = { .name = sim_arena_printf(speeds->resolver->arena, "%s.%s",
                                                        pipeline->head.name, draft->head.name),
                               .work = either(draft->work, SIM_GPU_WORK_DENSE),
                               .shape = &stage->shape,
                               .factors = stage->service.gpu_factor };
    if (stage->uses_shape.gpu_units == 0) {
        if (draft->measured_on != NULL || draft->work != SIM_ABSENT_COUNT)
            sim_report_error(speeds->resolver->report, draft->head.node,
                             "uses no compute of a GPU: measured_on and work say nothing of it");
        return;
    }
    find_measured(speeds, &work, &draft->head, draft->measured_on, &pipeline->head,
                  pipeline->measured_on);
    stage->speed = resolve_speed(speeds, &work, &stage->uses_shape);
}

static void resolve_class(struct speeds *speeds, const struct draft_jobs *jobs,
                          const struct draft_job_class *draft, struct sim_job_spec *job)
{
    struct timed_work work = { .name = sim_arena_printf(speeds->resolver->arena, "%s.%s",
                                                        jobs->head.name, draft->head.name),
                               .work = either(draft->work, either(jobs->work, SIM_GPU_WORK_DENSE)),
                               .is_of_instance = job->shape.kind == WEIR_SHAPE_SLICE,
                               .shape = &job->shape };
    if (job->shape.gpu_units == 0) {
        if (draft->measured_on != NULL || draft->work != SIM_ABSENT_COUNT)
            sim_report_error(speeds->resolver->report, draft->head.node,
                             "uses no compute of a GPU: measured_on and work say nothing of it");
        return;
    }
    find_measured(speeds, &work, &draft->head, draft->measured_on, &jobs->head, jobs->measured_on);
    work.is_of_instance = work.is_of_instance && work.measured_on == NULL;
    job->speed = resolve_speed(speeds, &work, &job->shape);
}

/* By what its profile says of types; false when it says nothing of where times were measured. */
static bool profile_speed(const struct speeds *speeds, uint32_t origin, struct sim_job_spec *job)
{
    const size_t count = scenario_of(speeds)->gpu_types_count;
    const double *said = job->profile->on_type;
    if (origin == WEIR_NO_INDEX || isnan(said[origin]))
        return false;
    double *on_type = sim_arena_alloc(speeds->resolver->arena, count + 1, sizeof *on_type);
    for (size_t t = 0; t < count; t++)
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): resolve_speed() made it */
        on_type[t] = isnan(said[t]) ? job->speed.on_type[t] : said[t] / said[origin];
    job->speed.on_type = on_type;
    return true;
}

/* All rows alike but for what their profiles say: which GPUs a row may have is its own, how fast it
 * goes there is not. */
static void resolve_rows(struct speeds *speeds, const struct draft_jobs *jobs,
                         struct sim_workload *workload)
{
    const struct weir_shape any = { .kind = WEIR_SHAPE_WHOLE,
                                    .gpu_count = 1,
                                    .gpu_units = WEIR_ONE };
    struct timed_work work = { .name = jobs->head.name,
                               .work = either(jobs->work, SIM_GPU_WORK_DENSE),
                               .is_recorded = true,
                               .shape = &any };
    find_measured(speeds, &work, &jobs->head, NULL, &jobs->head, jobs->measured_on);
    if (jobs->work != SIM_ABSENT_COUNT && work.measured_on == NULL)
        sim_report_error(speeds->resolver->report, sim_draft_at(&jobs->head, "work"),
                         "needs measured_on: run times of a trace are as recorded");
    const struct sim_speed speed = resolve_speed(speeds, &work, &any);
    const uint32_t origin = origin_of(speeds, &work).type;
    bool is_told = false;
    for (size_t i = 0; i < workload->jobs_count; i++) {
        struct sim_job_spec *job = &workload->jobs[i];
        if (job->shape.gpu_units == 0)
            continue;
        /* mostly that of the row before */
        const bool is_alike = i > 0 && job->profile != NULL && job->profile == job[-1].profile &&
                              job[-1].speed.on_type != NULL;
        job->speed = is_alike ? job[-1].speed : speed;
        if (!is_alike && job->profile != NULL && job->profile->on_type != NULL)
            is_told |= !profile_speed(speeds, origin, job);
    }
    if (is_told)
        sim_report_error(speeds->resolver->report, sim_draft_at(&jobs->head, "profiles"),
                         "has speeds: needs measured_on, a type that they list (run times of a "
                         "trace are as recorded)");
}

static void resolve_jobs(struct speeds *speeds, const struct draft_jobs *jobs,
                         struct sim_workload *workload)
{
    const struct draft_job_class *classes = jobs->source.classes.items;
    if (workload->kind == SIM_WORKLOAD_TRACE) {
        resolve_rows(speeds, jobs, workload);
        return;
    }
    for (size_t i = 0; i < workload->jobs_count; i++)
        resolve_class(speeds, jobs, &classes[i], &workload->jobs[i]);
}

void sim_resolve_speeds(struct sim_resolver *resolver)
{
    struct sim_scenario *scenario = resolver->scenario;
    const struct draft_pipeline *pipelines = resolver->draft->pipelines.items;
    const struct draft_jobs *jobs = resolver->draft->jobs.items;
    struct speeds speeds = { .resolver = resolver };
    if (resolver->is_hardware_unclear)
        return;
    const size_t types = scenario->gpu_types_count + 1;
    speeds.noted = sim_arena_alloc(resolver->arena, types, sizeof *speeds.noted);
    speeds.origins = sim_arena_alloc(resolver->arena, types, sizeof *speeds.origins);
    for (size_t p = 0; p < scenario->pipelines_count; p++) {
        const struct draft_stage *stages = pipelines[p].stages.items;
        for (size_t s = 0; s < scenario->pipelines[p].stages_count; s++)
            resolve_stage(&speeds, &pipelines[p], &stages[s], &scenario->pipelines[p].stages[s]);
    }
    for (size_t j = 0; j < resolver->draft->jobs.count; j++)
        resolve_jobs(&speeds, &jobs[j], &scenario->workloads[j]);
    assume_origins(&speeds);
    if (speeds.has_instances)
        sim_resolve_assume(
            resolver,
            "work on a MIG instance goes by its part of the GPU: dense work of the SMs "
            "without MIG (NVIDIA's MIG user guide), other work of the memory slots [guess]");
}
