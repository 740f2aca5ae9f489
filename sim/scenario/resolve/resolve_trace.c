/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Resolving the trace of jobs: which format, which file, and its rows as jobs with shapes.
 *
 * What a trace leaves open is decided here: a job without a run time is left out of a replay, but
 * one that left while it waited takes the run time of the job of its size that came last before it;
 * an SWF job that ran longer than it asked for is killed there; a job that asks for no processor is
 * left out; a job that is too large for one node is split into the fewest equal members that fit,
 * except pods, which are never split. In static mode every row stays, for orders of arrival count
 * rows.
 */
#include "sim/engine/time.h"
#include "sim/scenario/resolve/resolve.h"
#include "workloads/column_map.h"
#include "workloads/timestamp.h"
#include "workloads/trace_shelf.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define UNITS_PER_MILLI (WEIR_ONE / 1000)

enum { MILLI = 1000, NEAR = 10000 };

/* The trace of one entry while it is resolved. */
struct trace {
    struct sim_resolver *resolver;
    const struct sim_job_source *source;
    const struct sim_yaml *at; /* the key that names the file */
    const struct wl_trace_format *format;
    const char *path;
    const struct wl_jobs *jobs;    /* of all who read the trace: as they are in the file */
    int64_t from_ns, to_ns;        /* rows that come outside of these are left out */
    bool is_replay;                /* in time, as the trace says */
    bool has_dates;                /* from_ns and to_ns are said */
    bool has_no_instance;          /* a row asks for one that the cluster does not have */
    size_t outside;                /* rows outside of the dates that are wanted */
    size_t idle;                   /* jobs that ask for no processor */
    uint32_t idle_line;            /* of the first of them */
    uint32_t most_gpus, most_cpus; /* of one node */
    size_t strangers;              /* jobs that accept no GPU of the cluster */
    const char *stranger;          /* what the first of them accepts */
};

/* ---- what a job asks for ---- */

/* Types of this name; where there are none, of its family: a100 is a100-40 and a100-80. */
static uint32_t types_called(const struct sim_scenario *scenario, const char *model)
{
    const size_t length = strlen(model);
    uint32_t own = 0;
    uint32_t family = 0;
    for (uint32_t t = 0; t < scenario->gpu_types_count && t < WEIR_GPU_TYPE_SET_MOST; t++) {
        const char *name = scenario->gpu_types[t].name;
        const bool is_begin = length > 0 && strncmp(name, model, length) == 0;
        own |= is_begin && name[length] == '\0' ? UINT32_C(1) << t : 0;
        family |= is_begin && name[length] == '-' ? UINT32_C(1) << t : 0;
    }
    return own != 0 ? own : family;
}

/* "A|B" as a set of GPU types; models the cluster does not have are left out. */
static uint32_t model_set(struct trace *trace, const char *models)
{
    uint32_t set = 0;
    if (models[0] == '\0')
        return 0;
    char *rest = sim_resolve_model(trace->resolver, models);
    for (char *model = strsep(&rest, "|"); model != NULL; model = strsep(&rest, "|"))
        set |= types_called(trace->resolver->scenario, model);
    if (set == 0 && trace->strangers++ == 0)
        trace->stranger = sim_arena_copy(trace->resolver->arena, models);
    return set | WEIR_GPU_TYPE_SET;
}

/* Jobs that accept only what no node has are refused one by one; it is said once, before. In a fill
 * that is part of the experiment. */
static void tell_strangers(const struct trace *trace)
{
    const struct sim_scenario *scenario = trace->resolver->scenario;
    const char *there = "none";
    if (trace->strangers == 0 || trace->source->timed == NULL ||
        trace->resolver->is_hardware_unclear)
        return;
    for (size_t t = 0; t < scenario->gpu_types_count; t++)
        there = sim_arena_printf(trace->resolver->arena, "%s%s%s", t == 0 ? "" : there,
                                 t == 0 ? "" : ", ", scenario->gpu_types[t].name);
    sim_report_warning(trace->resolver->report, trace->at,
                       "%zu of %zu jobs can never run: they accept only GPU models that no node "
                       "has, as '%s'; there are: %s",
                       trace->strangers, trace->jobs->count, trace->stranger, there);
}

/* GPUs of one type, or whole CPUs, of the node that has most. */
static uint32_t most_on_a_node(const struct sim_scenario *scenario, bool is_of_gpus)
{
    uint32_t most = 0;
    for (size_t g = 0; g < scenario->node_groups_count; g++) {
        const uint32_t index = scenario->node_groups[g].type;
        if (index >= scenario->node_types_count)
            continue; /* reported */
        const struct sim_node_type *type = &scenario->node_types[index];
        if (!is_of_gpus && type->cpus > most)
            most = (uint32_t)type->cpus;
        for (size_t t = 0; is_of_gpus && t < type->gpus_count; t++)
            most = type->gpus[t].count > most ? type->gpus[t].count : most;
    }
    return most;
}

/* Into how many members a job is split: the fewest that are equal and fit a node; 1 when none do.
 */
static uint32_t members_of(uint32_t parts, uint32_t most)
{
    if (parts <= most || most == 0)
        return 1;
    for (uint32_t size = most; size > 0; size--)
        if (parts % size == 0)
            return parts / size;
    return 1;
}

static uint32_t split(const struct trace *trace, const struct wl_job *job)
{
    if (trace->source->timed == NULL || trace->format->is_indivisible)
        return 1;
    if (job->gpus > 0)
        return members_of(job->gpus, trace->most_gpus);
    if (job->cpu_milli % MILLI != 0 || job->cpu_milli / MILLI > UINT32_MAX)
        return 1;
    return members_of((uint32_t)(job->cpu_milli / MILLI), trace->most_cpus);
}

static struct weir_shape shape_of(struct trace *trace, const struct wl_job *job, uint32_t members)
{
    const bool is_share = job->gpus == 1 && job->gpu_milli < MILLI;
    const uint32_t kind = is_share ? WEIR_SHAPE_FRACTIONAL : WEIR_SHAPE_WHOLE;
    return (struct weir_shape){ .kind = job->gpus == 0 ? WEIR_SHAPE_CPU : kind,
                                .gpu_count = job->gpus / members,
                                .cpu_units = job->cpu_milli * UNITS_PER_MILLI / members,
                                .gpu_units = (int64_t)job->gpu_milli * UNITS_PER_MILLI,
                                .ram_bytes = job->memory_bytes / members,
                                .gpu_type = model_set(trace, job->models) };
}

/* One instance, of a row that names a profile; what is wrong with it is reported once. */
static void take_instance(struct trace *trace, const struct wl_job *job, struct weir_shape *shape)
{
    struct weir_request request = { .cpus = (double)job->cpu_milli / MILLI,
                                    .ram_bytes = job->memory_bytes };
    struct weir_error error = { .phase = -1 };
    const uint32_t kept = shape->gpu_type;
    if (job->mig[0] == '\0' || trace->has_no_instance)
        return;
    trace->has_no_instance = !sim_resolve_mig_row(trace->resolver, trace->at, job->mig, &request) ||
                             weir_shape_from_request(&request, trace->resolver->scenario->quantum,
                                                     shape, &error) != WEIR_OK;
    if (error.text[0] != '\0')
        sim_report_error(trace->resolver->report, trace->at, "line %u: %s", job->line, error.text);
    shape->gpu_type = kept;
}

/* ---- when and how long ---- */

static int64_t run_of(const struct trace *trace, const struct wl_job *job)
{
    const bool is_killed = trace->format->is_killed_at_estimate && job->run_ns != WL_UNKNOWN &&
                           job->estimate_ns != WL_UNKNOWN && job->estimate_ns > 0 &&
                           job->run_ns > job->estimate_ns;
    return is_killed ? job->estimate_ns : job->run_ns;
}

/* Where a row is submitted in [from, to). */
static bool is_within(const struct wl_job *job, int64_t from_ns, int64_t to_ns)
{
    return job->submit_ns != WL_UNKNOWN && job->submit_ns >= from_ns && job->submit_ns < to_ns;
}

/* A row as this scenario takes it: what a processor is, and whether it comes at all. */
static struct wl_job row_at(const struct trace *trace, size_t row)
{
    struct wl_job job = trace->jobs->jobs[row];
    const bool is_gpu = trace->source->draft->processor == WL_PROCESSOR_GPU;
    wl_job_take_processors(&job, is_gpu ? WL_PROCESSOR_GPU : WL_PROCESSOR_CPU);
    if (trace->has_dates && !is_within(&job, trace->from_ns, trace->to_ns))
        job.submit_ns = WL_UNKNOWN;
    return job;
}

static bool is_alike(const struct wl_job *a, const struct wl_job *b)
{
    return a->gpus == b->gpus && (a->gpu_milli < MILLI) == (b->gpu_milli < MILLI) &&
           a->processors == b->processors;
}

static bool has_run(const struct wl_job *job)
{
    return job->run_ns != WL_UNKNOWN && job->end != WL_JOB_RUNNING;
}

/* For a job that left while it waited: the run time of the last one before it that is alike, else
 * of the first behind it; WL_UNKNOWN when there is none near. */
static int64_t borrowed_run(const struct trace *trace, size_t row)
{
    const struct wl_job job = row_at(trace, row);
    for (size_t far = 1; far <= NEAR && far <= row; far++) {
        const struct wl_job other = row_at(trace, row - far);
        if (has_run(&other) && is_alike(&other, &job))
            return run_of(trace, &other);
    }
    for (size_t far = 1; far <= NEAR && row + far < trace->jobs->count; far++) {
        const struct wl_job other = row_at(trace, row + far);
        if (has_run(&other) && is_alike(&other, &job))
            return run_of(trace, &other);
    }
    return WL_UNKNOWN;
}

/* A text of a job; rows that follow one another mostly say the same. */
static const char *keep(const struct trace *trace, const char *text, const char *before)
{
    if (text[0] == '\0')
        return "";
    return before != NULL && strcmp(text, before) == 0
               ? before
               : sim_arena_copy(trace->resolver->arena, text);
}

/* A row as what runs, with the texts of the one before it where they are the same. Unknown times
 * are the same number on both sides (a test holds it). */
static void fill_spec(struct trace *trace, size_t row, const struct wl_job *job,
                      const struct sim_job_spec *before, struct sim_job_spec *spec)
{
    const struct draft_jobs *timed = trace->source->timed;
    const uint32_t members = split(trace, job);
    *spec = (struct sim_job_spec){ .shape = shape_of(trace, job, members),
                                   .models = keep(trace, job->models, before->models),
                                   .name = keep(trace, job->name, NULL),
                                   .tenant = keep(trace, job->group, before->tenant),
                                   .user = keep(trace, job->user, before->user),
                                   .members = members,
                                   .weight = 1,
                                   .worth = 1,
                                   .priority = job->priority,
                                   .count = UINT64_MAX,
                                   .submit_ns = job->submit_ns,
                                   .run_ns = run_of(trace, job),
                                   .patience_ns = job->patience_ns,
                                   .estimate_ns = job->estimate_ns,
                                   .is_endless = job->end == WL_JOB_RUNNING,
                                   .service = timed == NULL ? NULL : timed->run_time,
                                   .patience = timed == NULL ? NULL : timed->patience,
                                   .array = 1,
                                   .array_limit = 1,
                                   .estimate_factor = 1 };
    if (trace->is_replay && spec->service == NULL && job->end == WL_JOB_NEVER_STARTED)
        spec->run_ns = borrowed_run(trace, row);
    take_instance(trace, job, &spec->shape);
}

/* ---- the file ---- */

/* False when there is no such format, or none that is known by its head; that is reported. */
static bool find_format(struct trace *trace)
{
    struct draft_source *draft = trace->source->draft;
    struct sim_report *report = trace->resolver->report;
    struct weir_error error = { .phase = -1 };
    const char *names[8];
    size_t count = 0;
    const char *columns = NULL;
    if (draft->format == NULL && draft->columns != NULL)
        draft->format = sim_arena_copy(trace->resolver->arena, "table");
    if (draft->format == NULL) {
        const struct wl_trace_options options = { .path = trace->path,
                                                  .limits = trace->resolver->limits };
        if (wl_trace_recognise(&options, &trace->format, &columns, &error) != WEIR_OK)
            return sim_report_error(report, trace->at, "%s", error.text);
        draft->format = sim_arena_copy(trace->resolver->arena, trace->format->name);
        draft->columns = sim_arena_copy(trace->resolver->arena, columns);
        return true;
    }
    trace->format = wl_trace_format_find(draft->format);
    if (trace->format != NULL)
        return true;
    for (; count < wl_trace_formats_count && count < 8; count++)
        names[count] = wl_trace_formats[count].name;
    return sim_report_near(report, sim_draft_at(trace->source->head, "format"), SIM_AT_VALUE,
                           sim_near_name(draft->format, names, count),
                           "there is no format of traces '%s' (weir list traces)", draft->format);
}

/* Keys that belong to formats that say less. */
static void refuse_keys(struct trace *trace)
{
    const struct sim_yaml *node = trace->source->head->node;
    const struct sim_yaml *columns = sim_yaml_get(node, "columns");
    const struct sim_yaml *processor = sim_yaml_get(node, "processor");
    if (columns != NULL && !trace->format->needs_map)
        sim_report_near(trace->resolver->report, columns, SIM_AT_KEY, NULL,
                        "belongs to format: table; %s says itself which column is what",
                        trace->format->name);
    if (processor != NULL && !trace->format->counts_processors)
        sim_report_near(trace->resolver->report, processor, SIM_AT_KEY, NULL,
                        "belongs to format: swf; %s says what a job asks for", trace->format->name);
}

/* False when it is wrong or absent; that is reported. */
static bool open_map(struct trace *trace, struct wl_column_map **map, const char **map_name)
{
    const struct draft_head *head = trace->source->head;
    struct weir_error error = { .phase = -1 };
    const char *name = trace->source->draft->columns;
    *map = NULL;
    *map_name = NULL;
    if (!trace->format->needs_map)
        return true;
    if (name == NULL)
        return sim_report_error(trace->resolver->report, head->node,
                                "a table needs columns: which of them says what (weir list "
                                "traces)");
    bool is_built_in = false;
    for (size_t i = 0; i < wl_column_maps_count; i++)
        is_built_in = is_built_in || strcmp(wl_column_maps[i].name, name) == 0;
    if (!is_built_in)
        name = sim_resolve_data_path(trace->resolver, name);
    *map_name = name;
    if (wl_column_map_open(name, map, &error) == WEIR_OK)
        return true;
    return sim_report_error(trace->resolver->report, sim_draft_at(head, "columns"), "%s",
                            error.text);
}

static bool read_file(struct trace *trace)
{
    struct sim_report *report = trace->resolver->report;
    struct weir_error error = { .phase = -1 };
    struct wl_column_map *map = NULL;
    const char *map_name = NULL;
    const bool skips = trace->source->draft->on_bad_row == WL_BAD_ROW_IS_SKIPPED;
    if (!open_map(trace, &map, &map_name))
        return false;
    const struct wl_trace_options options = { .path = trace->path,
                                              .on_bad_row =
                                                  skips ? WL_BAD_ROW_IS_SKIPPED : WL_BAD_ROW_FAILS,
                                              .map = map,
                                              .limits = trace->resolver->limits };
    const struct wl_shelved *rows = NULL;
    const weir_status status = wl_trace_shelf_read(trace->resolver->traces, trace->format, map_name,
                                                   &options, &rows, &error);
    wl_column_map_destroy(map);
    if (status != WEIR_OK)
        return sim_report_error(report, trace->at, "%s", error.text);
    trace->jobs = &rows->jobs;
    if (trace->jobs->skipped > 0)
        sim_report_warning(report, trace->at, "%zu bad rows are left out; the first: %s",
                           trace->jobs->skipped, trace->jobs->messages[0]);
    if (trace->jobs->count == 0)
        return sim_report_error(report, trace->at, "%s: the table has no rows", trace->path);
    return true;
}

/* ---- jobs ---- */

/* A replay needs to know when a job came and how long it runs. */
static bool is_usable(const struct trace *trace, const struct sim_job_spec *spec)
{
    return !trace->is_replay ||
           (spec->submit_ns != WEIR_UNKNOWN_TIME &&
            (spec->run_ns != WEIR_UNKNOWN_TIME || spec->is_endless || spec->service != NULL));
}

/* SWF has such rows where the processors are not known, or the job left before it got any. */
static bool asks_for_nothing(struct trace *trace, const struct wl_job *job)
{
    if (job->gpus > 0 || job->cpu_milli > 0 || job->mig[0] != '\0')
        return false;
    if (trace->idle++ == 0)
        trace->idle_line = job->line;
    return true;
}

/* In a fill orders of arrival count rows: there it is a mistake. */
static void tell_idle(const struct trace *trace)
{
    struct sim_report *report = trace->resolver->report;
    if (trace->idle > 0 && trace->source->timed == NULL)
        sim_report_error(report, trace->at, "line %u: asks for no processor", trace->idle_line);
    else if (trace->idle > 0)
        sim_report_warning(report, trace->at,
                           "%zu of %zu jobs are left out: they ask for no processor; the first is "
                           "in line %u",
                           trace->idle, trace->jobs->count, trace->idle_line);
}

/* Whether rows wait for the ends of others. */
static bool follows(const struct trace *trace)
{
    const struct draft_jobs *timed = trace->source->timed;
    return trace->is_replay && timed->dependencies != DEPENDENCIES_IGNORE;
}

/* ---- a window ---- */

/* A date as time of the trace; false when the trace has none, which is said once. */
static bool time_of_date(const struct trace *trace, const char *key, int64_t unix_s, int64_t *at_ns)
{
    const struct sim_yaml *at = sim_draft_at(trace->source->head, key);
    if (!trace->is_replay)
        return sim_report_error(trace->resolver->report, at,
                                "acts on a trace whose own times count (arrivals: trace)");
    if (trace->jobs->zero_unix_ns == WL_UNKNOWN)
        return sim_report_error(trace->resolver->report, at, "the trace does not say its dates");
    *at_ns = unix_s * SIM_NS_PER_S - trace->jobs->zero_unix_ns;
    return true;
}

static void say_empty(const struct trace *trace, const char *key)
{
    char first[WL_TIMESTAMP_TEXT];
    char last[WL_TIMESTAMP_TEXT];
    const struct wl_jobs *jobs = trace->jobs;
    sim_report_error(
        trace->resolver->report, sim_draft_at(trace->source->head, key),
        "no job of the trace came then; its first came %s, its last %s",
        wl_date_text(jobs->zero_unix_ns + jobs->jobs[0].submit_ns, first),
        wl_date_text(jobs->zero_unix_ns + jobs->jobs[jobs->count - 1].submit_ns, last));
}

/* Leaves out the rows outside of the dates that are said; the first date is time 0. */
static void keep_dates(struct trace *trace)
{
    const struct draft_jobs *timed = trace->source->timed;
    int64_t from_ns = INT64_MIN;
    int64_t to_ns = INT64_MAX;
    size_t kept = 0;
    if (timed == NULL || (timed->first_date_s == INT64_MIN && timed->last_date_s == INT64_MIN))
        return;
    const char *key = timed->first_date_s != INT64_MIN ? "first_date" : "last_date";
    if ((timed->first_date_s != INT64_MIN &&
         !time_of_date(trace, "first_date", timed->first_date_s, &from_ns)) ||
        (timed->last_date_s != INT64_MIN &&
         !time_of_date(trace, "last_date", timed->last_date_s, &to_ns)))
        return;
    for (size_t i = 0; i < trace->jobs->count; i++)
        kept += is_within(&trace->jobs->jobs[i], from_ns, to_ns);
    if (kept == 0) {
        say_empty(trace, key);
        return;
    }
    trace->has_dates = true;
    trace->from_ns = from_ns;
    trace->to_ns = to_ns;
    trace->outside = trace->jobs->count - kept;
    if (from_ns != INT64_MIN && timed->from_ns != SIM_ABSENT_TIME)
        sim_report_error(trace->resolver->report, sim_draft_at(trace->source->head, "first_date"),
                         "says when time 0 is; so does from");
    else if (from_ns != INT64_MIN)
        trace->source->workload->from_ns = from_ns;
}

/* Where it is said that rows before are left out: the first that is taken. */
static size_t first_row(const struct trace *trace)
{
    const struct draft_jobs *timed = trace->source->timed;
    struct sim_report *report = trace->resolver->report;
    const size_t count = trace->jobs->count;
    size_t row = 0;
    if (timed == NULL)
        return 0;
    if (timed->first_row != UINT64_MAX) {
        if (timed->first_row > count)
            sim_report_error(report, sim_draft_at(trace->source->head, "first_row"),
                             "must be at most %zu, the rows of the trace, got %llu", count,
                             (unsigned long long)timed->first_row);
        return timed->first_row > count ? 0 : (size_t)timed->first_row - 1;
    }
    if (timed->first_job == NULL)
        return 0;
    while (row < count && strcmp(trace->jobs->jobs[row].name, timed->first_job) != 0)
        row++;
    if (row == count)
        sim_report_error(report, sim_draft_at(trace->source->head, "first_job"),
                         "the trace has no job '%s'", timed->first_job);
    return row == count ? 0 : row;
}

/* Its submission is time 0. */
static void begin_at(const struct trace *trace, size_t first)
{
    const struct draft_jobs *timed = trace->source->timed;
    const char *key = timed == NULL                    ? NULL
                      : timed->first_row != UINT64_MAX ? "first_row"
                      : timed->first_job != NULL       ? "first_job"
                                                       : NULL;
    if (key == NULL)
        return;
    const struct sim_yaml *at = sim_draft_at(trace->source->head, key);
    if (!trace->is_replay)
        sim_report_error(trace->resolver->report, at,
                         "acts on a trace whose own times count (arrivals: trace)");
    else if (timed->from_ns != SIM_ABSENT_TIME || timed->first_date_s != INT64_MIN)
        sim_report_error(trace->resolver->report, at, "says when time 0 is; so does %s",
                         timed->from_ns != SIM_ABSENT_TIME ? "from" : "first_date");
    else if (timed->first_row != UINT64_MAX && timed->first_job != NULL)
        sim_report_error(trace->resolver->report, at,
                         "says which row is the first; so does first_job");
    else if (row_at(trace, first).submit_ns != WL_UNKNOWN)
        trace->source->workload->from_ns = row_at(trace, first).submit_ns;
}

/* Rows keep their distance from time 0, wherever start_time puts it: who says another date than the
 * trace hears of it. */
static void compare_start(const struct trace *trace)
{
    char date[WL_TIMESTAMP_TEXT];
    char start[WL_TIMESTAMP_TEXT];
    const int64_t start_s = trace->resolver->scenario->start_unix_s;
    if (!trace->is_replay || start_s == 0 || trace->jobs->zero_unix_ns == WL_UNKNOWN)
        return;
    const int64_t given_ns = trace->source->timed->from_ns;
    const int64_t from_ns =
        given_ns == SIM_ABSENT_TIME ? trace->source->workload->from_ns : given_ns;
    const int64_t zero_ns = trace->jobs->zero_unix_ns + from_ns;
    if (llabs(zero_ns - start_s * SIM_NS_PER_S) < SIM_NS_PER_S)
        return;
    sim_report_warning(trace->resolver->report, trace->at,
                       "time 0 is %s by the trace and %s by start_time: its rows keep their "
                       "distance from time 0, not their dates; set start_time to the first, or "
                       "first_date to the second",
                       wl_date_text(zero_ns, date), wl_date_text(start_s * SIM_NS_PER_S, start));
}

static void take_jobs(struct trace *trace)
{
    struct sim_workload *workload = trace->source->workload;
    assert(trace->jobs != NULL);
    const size_t count = trace->jobs->count;
    workload->jobs = sim_arena_alloc(trace->resolver->arena, count + 1, sizeof *workload->jobs);
    const struct sim_job_spec nobody = { .weight = 0 };
    keep_dates(trace);
    const size_t first = first_row(trace);
    uint32_t *places = sim_arena_alloc(trace->resolver->arena, count + 1, sizeof *places);
    begin_at(trace, first);
    compare_start(trace);
    for (size_t i = first; i < count; i++) {
        struct sim_job_spec *const spec = &workload->jobs[workload->jobs_count];
        const struct wl_job row = row_at(trace, i);
        fill_spec(trace, i, &row, workload->jobs_count > 0 ? spec - 1 : &nobody, spec);
        const bool is_taken = is_usable(trace, spec) && !asks_for_nothing(trace, &row);
        workload->jobs_count += is_taken ? 1 : 0;
        places[i] = is_taken ? (uint32_t)workload->jobs_count : 0;
    }
    tell_strangers(trace);
    tell_idle(trace);
    sim_resolve_profiles(trace->resolver, trace->source, trace->jobs, places);
    if (follows(trace))
        sim_resolve_rows_follow(trace->resolver, trace->jobs, places, workload);
    if (workload->jobs_count + trace->outside + trace->idle < count - first)
        sim_report_warning(trace->resolver->report, trace->at,
                           "%zu of %zu jobs are left out: the trace does not say when they came or "
                           "how long they ran",
                           count - first - trace->outside - trace->idle - workload->jobs_count,
                           count - first);
}

void sim_resolve_trace(struct sim_resolver *resolver, const struct sim_job_source *source)
{
    const struct draft_arrivals *arrivals = source->timed == NULL ? NULL : &source->timed->arrivals;
    struct trace trace = { .resolver = resolver,
                           .source = source,
                           .at = sim_draft_at(source->head, "trace"),
                           .path = sim_resolve_data_path(resolver, source->draft->trace) };
    trace.is_replay = arrivals != NULL && (arrivals->to.kind == SIM_ABSENT_COUNT
                                               ? !sim_arrivals_say_rate(arrivals)
                                               : arrivals->to.kind == SIM_ARRIVALS_TRACE);
    trace.most_gpus = most_on_a_node(resolver->scenario, true);
    trace.most_cpus = most_on_a_node(resolver->scenario, false);
    if (!find_format(&trace))
        return;
    refuse_keys(&trace);
    if (trace.format->counts_processors && source->draft->processor == SIM_ABSENT_COUNT)
        source->draft->processor = WL_PROCESSOR_CPU;
    if (read_file(&trace))
        take_jobs(&trace);
}
