/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pods of the openb trace as jobs; see openb.h for what the columns mean. */
#include "workloads/csv_jobs.h"
#include "workloads/openb.h"
#include "workloads/timestamp.h"

#include <string.h>

#define BYTES_PER_MIB INT64_C(1048576)
#define NS_PER_S      INT64_C(1000000000)

enum { MILLI = 1000, NODE_GPUS = 64 };

static const struct wl_range any_amount = { 0, INT64_C(1000000000) };

enum column {
    CPU,
    MEMORY,
    GPUS,
    GPU_MILLI,
    NAME,
    MODELS,
    CLASS,
    PHASE,
    PHASE_AS_DOCUMENTED,
    CREATED,
    DELETED,
    SCHEDULED,
    COLUMNS
};
static const struct wl_csv_column columns[COLUMNS] = {
    [CPU] = { .name = "cpu_milli", .is_required = true },
    [MEMORY] = { .name = "memory_mib", .is_required = true },
    [GPUS] = { .name = "num_gpu", .is_required = true },
    [GPU_MILLI] = { .name = "gpu_milli", .is_required = true },
    [NAME] = { .name = "name" },
    [MODELS] = { .name = "gpu_spec" },
    [CLASS] = { .name = "qos" },
    [PHASE] = { .name = "pod_phase" },
    [PHASE_AS_DOCUMENTED] = { .name = "pod_phrase" },
    [CREATED] = { .name = "creation_time" },
    [DELETED] = { .name = "deletion_time" },
    [SCHEDULED] = { .name = "scheduled_time" },
};

struct reading {
    struct wl_jobs *jobs;
    int64_t last_ns; /* the last moment of the file */
};

static weir_status read_header(void *state, const bool *has_column, struct weir_error *error)
{
    struct reading *reading = state;
    (void)error;
    reading->jobs->has_names = has_column[NAME];
    return WEIR_OK;
}

/* ---- amounts ---- */

static weir_status read_amounts(const struct wl_csv_row *row, struct wl_job *job,
                                struct weir_error *error)
{
    int64_t gpus = 0;
    int64_t share = 0;
    int64_t memory_mib = 0;
    WEIR_TRY(wl_csv_whole(row, CPU, any_amount, &job->cpu_milli, error));
    WEIR_TRY(wl_csv_whole(row, MEMORY, any_amount, &memory_mib, error));
    WEIR_TRY(wl_csv_whole(row, GPUS, (struct wl_range){ 0, NODE_GPUS }, &gpus, error));
    WEIR_TRY(wl_csv_whole(row, GPU_MILLI, (struct wl_range){ 0, MILLI }, &share, error));
    if (gpus > 0 && share == 0)
        return wl_csv_fail(row, GPU_MILLI, error, "a pod with GPUs needs a share, got 0");
    if (gpus > 1 && share < MILLI)
        return wl_csv_fail(row, GPU_MILLI, error, "several GPUs are taken whole, got %d of 1000",
                           (int)share);
    job->memory_bytes = memory_mib * BYTES_PER_MIB;
    job->gpus = (uint32_t)gpus;
    job->gpu_milli = gpus == 0 ? 0 : (uint32_t)share;
    return WEIR_OK;
}

/* ---- times ---- */

static weir_status read_time(const struct wl_csv_row *row, enum column column, int64_t *time_ns,
                             struct weir_error *error)
{
    const char *text = row->cells[column];
    int64_t read_ns = 0;
    if (text == NULL)
        return WEIR_OK;
    if (!wl_time_scan(text, NS_PER_S, &read_ns))
        return wl_csv_fail(row, column, error, "'%.40s' is not a time in seconds", text);
    if (read_ns < 0)
        return wl_csv_fail(row, column, error, "must be >= 0, got '%.40s'", text);
    if (read_ns > WL_TIME_MOST_NS)
        return wl_csv_fail(row, column, error, "'%.40s' s are more than 90 years", text);
    *time_ns = read_ns;
    return WEIR_OK;
}

/* later - earlier where both are known. */
static weir_status read_span(const struct wl_csv_row *row, enum column column,
                             const int64_t times_ns[COLUMNS], int64_t *span_ns,
                             struct weir_error *error)
{
    const enum column earlier = column == SCHEDULED ? CREATED : SCHEDULED;
    if (times_ns[column] == WL_UNKNOWN || times_ns[earlier] == WL_UNKNOWN)
        return WEIR_OK;
    if (times_ns[column] < times_ns[earlier])
        return wl_csv_fail(row, column, error, "'%.40s' is before %s '%.40s': a negative duration",
                           row->cells[column], columns[earlier].name, row->cells[earlier]);
    *span_ns = times_ns[column] - times_ns[earlier];
    return WEIR_OK;
}

static enum wl_job_end end_of(const char *phase)
{
    if (phase == NULL)
        return WL_JOB_END_UNKNOWN;
    if (strcmp(phase, "Succeeded") == 0)
        return WL_JOB_DONE;
    return strcmp(phase, "Failed") == 0 ? WL_JOB_FAILED : WL_JOB_END_UNKNOWN;
}

/* Never scheduled: creation to deletion is how long it waited before it left. */
static weir_status read_patience(const struct wl_csv_row *row, const int64_t times_ns[COLUMNS],
                                 struct wl_job *job, struct weir_error *error)
{
    const int64_t patience_ns = times_ns[DELETED] - times_ns[CREATED];
    if (patience_ns < 0)
        return wl_csv_fail(row, DELETED, error,
                           "'%.40s' is before creation_time '%.40s': a negative duration",
                           row->cells[DELETED], row->cells[CREATED]);
    job->patience_ns = patience_ns;
    job->end = WL_JOB_NEVER_STARTED;
    return WEIR_OK;
}

static weir_status read_times(struct reading *reading, const struct wl_csv_row *row,
                              struct wl_job *job, struct weir_error *error)
{
    int64_t times_ns[COLUMNS];
    for (enum column c = CREATED; c <= SCHEDULED; c++) {
        times_ns[c] = WL_UNKNOWN;
        WEIR_TRY(read_time(row, c, &times_ns[c], error));
    }
    const char *phase = row->cells[row->cells[PHASE] != NULL ? PHASE : PHASE_AS_DOCUMENTED];
    job->end = end_of(phase);
    job->submit_ns = times_ns[CREATED];
    if (times_ns[SCHEDULED] == WL_UNKNOWN && times_ns[DELETED] != WL_UNKNOWN &&
        times_ns[CREATED] != WL_UNKNOWN)
        return read_patience(row, times_ns, job, error);
    WEIR_TRY(read_span(row, SCHEDULED, times_ns, &job->wait_ns, error));
    WEIR_TRY(read_span(row, DELETED, times_ns, &job->run_ns, error));
    /* For now: whether it is the last moment is known at the end. */
    if (phase != NULL && strcmp(phase, "Running") == 0 && job->run_ns != WL_UNKNOWN)
        job->end = WL_JOB_RUNNING;
    if (times_ns[DELETED] > reading->last_ns)
        reading->last_ns = times_ns[DELETED];
    return WEIR_OK;
}

/* ---- rows ---- */

static weir_status read_texts(struct wl_jobs *jobs, const struct wl_csv_row *row,
                              struct wl_job *job, struct weir_error *error)
{
    const char *name = row->cells[NAME];
    const char *models = job->gpus == 0 ? NULL : row->cells[MODELS];
    const char *class = row->cells[CLASS];
    job->name = name == NULL ? wl_jobs_next_name(jobs) : wl_jobs_text(jobs, name, strlen(name));
    job->models = models == NULL ? NULL : wl_jobs_text(jobs, models, strlen(models));
    job->group = class == NULL ? NULL : wl_jobs_text(jobs, class, strlen(class));
    if (job->name == NULL || (models != NULL && job->models == NULL) ||
        (class != NULL && job->group == NULL))
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    return WEIR_OK;
}

static weir_status read_row(void *state, const struct wl_csv_row *row, struct weir_error *error)
{
    struct reading *reading = state;
    struct wl_job job = wl_job_unknown(row->line);
    WEIR_TRY(read_amounts(row, &job, error));
    WEIR_TRY(read_times(reading, row, &job, error));
    WEIR_TRY(read_texts(reading->jobs, row, &job, error));
    return wl_jobs_add(reading->jobs, &job, error);
}

/* Running pods that are deleted before the last moment ended there, nobody says how. */
static void mark_censored(const struct reading *reading)
{
    for (size_t i = 0; i < reading->jobs->count; i++) {
        struct wl_job *job = &reading->jobs->jobs[i];
        if (job->end == WL_JOB_RUNNING &&
            job->submit_ns + job->wait_ns + job->run_ns < reading->last_ns)
            job->end = WL_JOB_END_UNKNOWN;
    }
}

weir_status wl_openb_read_jobs(const struct wl_trace_options *options, struct wl_jobs *jobs,
                               struct weir_error *error)
{
    struct wl_jobs read = { .zero_unix_ns = WL_UNKNOWN };
    struct reading reading = { .jobs = &read };
    const struct wl_csv_options csv = { .columns = columns, .column_count = COLUMNS };
    const struct wl_csv_sink sink = { .row = read_row, .header = read_header, .state = &reading };
    WEIR_TRY(wl_csv_read_jobs(options, &csv, &sink, &read, error));
    mark_censored(&reading);
    *jobs = read;
    return WEIR_OK;
}

bool wl_openb_is_pods(const struct wl_trace_head *head)
{
    static const char *const names[] = { "cpu_milli", "memory_mib", "num_gpu", "gpu_milli" };
    return wl_trace_head_has(head, names, sizeof names / sizeof names[0]);
}
