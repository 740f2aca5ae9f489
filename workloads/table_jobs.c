/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jobs from any CSV file through a column map. A row becomes an array of amounts, one a field of
 * the map; from these the job is put together in one place.
 */
#include "workloads/column_map.h"

#include "workloads/csv_jobs.h"
#include "workloads/tres.h"

#include <math.h>
#include <string.h>

enum { MILLI = 1000, MOST_GPUS = 1000000 };

struct reading {
    const struct wl_column_map *map;
    struct wl_jobs *jobs;
    struct wl_csv_column columns[WL_FIELD_COUNT];
    enum wl_map_field fields[WL_FIELD_COUNT]; /* of each column */
    size_t column_count;
    int64_t first_ns; /* the earliest submission */
};

/* One row: amounts of the fields, WL_UNKNOWN where nothing is said. */
struct row {
    const struct wl_csv_row *csv;
    const char *texts[WL_FIELD_COUNT];
    int64_t values[WL_FIELD_COUNT];
    size_t columns[WL_FIELD_COUNT]; /* where a field stands; 0 for constants */
};

/* ---- cells ---- */

static const char *cell_of(const struct wl_column_map *map, const char *cell)
{
    for (size_t i = 0; cell != NULL && i < map->unknown_count; i++)
        if (strcmp(map->unknown[i], cell) == 0)
            return NULL;
    return cell;
}

static bool scan_amount(const struct wl_map_entry *entry, enum wl_map_kind kind, const char *text,
                        int64_t *value)
{
    switch (entry->unit->form) {
    case WL_UNIT_DATE:
        return wl_date_scan(text, &entry->zone, value);
    case WL_UNIT_TRES:
        if (kind == WL_MAP_GPUS)
            return wl_tres_gpus(text, value);
        return kind == WL_MAP_CPUS ? wl_tres_cpus(text, value) : wl_tres_memory(text, value);
    case WL_UNIT_PLAIN:
    case WL_UNIT_SINCE_1970:
        break;
    }
    return wl_time_scan(text, entry->unit->scale, value);
}

static const char *expected(const struct wl_map_entry *entry, enum wl_map_kind kind)
{
    const bool has_unit = entry->unit != NULL;
    if (has_unit && entry->unit->form == WL_UNIT_DATE)
        return "a date (YYYY-MM-DD HH:MM:SS)";
    if (has_unit && entry->unit->form == WL_UNIT_TRES)
        return "a list of resources (cpu=8,gres/gpu=2,mem=1G)";
    return kind == WL_MAP_MOMENT || kind == WL_MAP_SPAN ? "a time" : "a number";
}

static bool scale_by(double factor, int64_t *value)
{
    if (!(fabs(factor - 1.0) > 0.0))
        return true;
    const double scaled = (double)*value * factor;
    if (!(fabs(scaled) < 9.2e18))
        return false;
    *value = llround(scaled);
    return true;
}

static weir_status read_amount(struct row *row, const struct wl_map_entry *entry,
                               enum wl_map_field field, struct weir_error *error)
{
    static const struct wl_map_unit count = { "", 1, WL_MAP_COUNT, WL_UNIT_PLAIN };
    const enum wl_map_kind kind = wl_map_fields[field].kind;
    const char *text = row->texts[field];
    struct wl_map_entry complete = *entry;
    complete.unit = entry->unit == NULL ? &count : entry->unit;
    int64_t value = WL_UNKNOWN;
    if (!scan_amount(&complete, kind, text, &value) ||
        (value != WL_UNKNOWN && !scale_by(entry->factor, &value)))
        return wl_csv_fail(row->csv, row->columns[field], error, "'%.40s' is not %s", text,
                           expected(&complete, kind));
    if (value < 0 && value != WL_UNKNOWN && complete.unit->form != WL_UNIT_DATE &&
        field != WL_FIELD_PRIORITY)
        return wl_csv_fail(row->csv, row->columns[field], error, "must be >= 0, got '%.40s'", text);
    const bool is_time = kind == WL_MAP_MOMENT || kind == WL_MAP_SPAN;
    if (is_time && complete.unit->form == WL_UNIT_PLAIN && value > WL_TIME_MOST_NS)
        return wl_csv_fail(row->csv, row->columns[field], error,
                           "'%.40s' is more than 90 years; is it a date (unix_s, unix_ms)?", text);
    row->values[field] = value;
    return WEIR_OK;
}

static enum wl_job_end end_of(const struct wl_column_map *map, const char *text)
{
    for (size_t i = 0; text != NULL && i < map->word_count; i++) {
        const size_t length = strlen(map->words[i].word);
        /* "CANCELLED by 1001" is cancelled. */
        if (map->words[i].field == WL_FIELD_END && strncmp(map->words[i].word, text, length) == 0 &&
            (text[length] == '\0' || text[length] == ' '))
            return map->words[i].end;
    }
    return WL_JOB_END_UNKNOWN;
}

/* What a text stands for: "NVIDIA H200" for h200. */
static const char *meant_by(const struct wl_column_map *map, enum wl_map_field field,
                            const char *text)
{
    for (size_t i = 0; text != NULL && i < map->word_count; i++)
        if (map->words[i].field == field && map->words[i].meant != NULL &&
            strcmp(map->words[i].word, text) == 0)
            return map->words[i].meant;
    return text;
}

static weir_status read_cells(const struct reading *reading, struct row *row,
                              struct weir_error *error)
{
    for (int f = 0; f < WL_FIELD_COUNT; f++) {
        row->texts[f] = reading->map->entries[f].value;
        row->values[f] = WL_UNKNOWN;
    }
    for (size_t c = 0; c < reading->column_count; c++) {
        row->texts[reading->fields[c]] = cell_of(reading->map, row->csv->cells[c]);
        row->columns[reading->fields[c]] = c;
    }
    for (int f = 0; f < WL_FIELD_COUNT; f++) {
        const enum wl_map_kind kind = wl_map_fields[f].kind;
        if (kind == WL_MAP_TEXT)
            row->texts[f] = meant_by(reading->map, (enum wl_map_field)f, row->texts[f]);
        else if (row->texts[f] != NULL && kind != WL_MAP_END)
            WEIR_TRY(read_amount(row, &reading->map->entries[f], (enum wl_map_field)f, error));
    }
    return WEIR_OK;
}

/* ---- jobs ---- */

/* later - earlier; "a negative duration" is a bad row. */
static weir_status read_span(const struct row *row, enum wl_map_field earlier,
                             enum wl_map_field later, int64_t *span_ns, struct weir_error *error)
{
    const int64_t from_ns = row->values[earlier];
    const int64_t to_ns = row->values[later];
    if (*span_ns != WL_UNKNOWN || from_ns == WL_UNKNOWN || to_ns == WL_UNKNOWN)
        return WEIR_OK;
    if (to_ns < from_ns)
        return wl_csv_fail(row->csv, row->columns[later], error,
                           "'%.40s' is before %s '%.40s': a negative duration", row->texts[later],
                           wl_map_fields[earlier].name, row->texts[earlier]);
    if (to_ns - from_ns > WL_TIME_MOST_NS)
        return wl_csv_fail(row->csv, row->columns[later], error, "'%.40s' is 90 years later",
                           row->texts[later]);
    *span_ns = to_ns - from_ns;
    return WEIR_OK;
}

/* A start that should be there and is not, and an end that is: the job left while it waited. */
static bool has_left(const struct reading *reading, const struct row *row, enum wl_job_end end)
{
    return reading->map->entries[WL_FIELD_START].column != NULL &&
           row->values[WL_FIELD_START] == WL_UNKNOWN &&
           row->values[WL_FIELD_FINISH] != WL_UNKNOWN && end != WL_JOB_RUNNING;
}

static weir_status put_times(const struct reading *reading, const struct row *row,
                             struct wl_job *job, struct weir_error *error)
{
    job->submit_ns = row->values[WL_FIELD_SUBMIT];
    job->wait_ns = row->values[WL_FIELD_WAIT];
    job->run_ns = row->values[WL_FIELD_RUN];
    job->estimate_ns = row->values[WL_FIELD_ESTIMATE];
    job->patience_ns = row->values[WL_FIELD_PATIENCE];
    job->end = end_of(reading->map, row->texts[WL_FIELD_END]);
    if (has_left(reading, row, (enum wl_job_end)job->end)) {
        job->end = WL_JOB_NEVER_STARTED;
        return read_span(row, WL_FIELD_SUBMIT, WL_FIELD_FINISH, &job->patience_ns, error);
    }
    WEIR_TRY(read_span(row, WL_FIELD_SUBMIT, WL_FIELD_START, &job->wait_ns, error));
    return read_span(row, WL_FIELD_START, WL_FIELD_FINISH, &job->run_ns, error);
}

/* Whole GPUs, or a share of one. */
static weir_status put_gpus(const struct row *row, struct wl_job *job, struct weir_error *error)
{
    const int64_t milli = row->values[WL_FIELD_GPUS] == WL_UNKNOWN ? 0 : row->values[WL_FIELD_GPUS];
    const int64_t share =
        row->values[WL_FIELD_GPU_SHARE] == WL_UNKNOWN ? MILLI : row->values[WL_FIELD_GPU_SHARE];
    const bool is_whole = milli % MILLI == 0;
    if (milli / MILLI > MOST_GPUS || (milli > MILLI && !is_whole))
        return wl_csv_fail(row->csv, row->columns[WL_FIELD_GPUS], error,
                           "'%.40s': several GPUs are taken whole, at most %d",
                           row->texts[WL_FIELD_GPUS], MOST_GPUS);
    if (share > MILLI || (milli > 0 && share == 0) || (milli > MILLI && share < MILLI))
        return wl_csv_fail(row->csv, row->columns[WL_FIELD_GPU_SHARE], error,
                           "'%.40s' is no share of a GPU: above 0, at most 1; several are whole",
                           row->texts[WL_FIELD_GPU_SHARE]);
    job->gpus = (uint32_t)(is_whole ? milli / MILLI : 1);
    job->gpu_milli = job->gpus == 0 ? 0 : (uint32_t)(is_whole ? share : milli);
    return WEIR_OK;
}

static int64_t known(int64_t value)
{
    return value == WL_UNKNOWN ? 0 : value;
}

/* What asks for an instance asks for no GPU beside it; a 1 there says the same once more. */
static weir_status put_instance(const struct row *row, struct wl_job *job, struct weir_error *error)
{
    const char *profile = row->texts[WL_FIELD_MIG];
    if (profile == NULL || profile[0] == '\0')
        return WEIR_OK;
    if (job->gpus > 1)
        return wl_csv_fail(row->csv, row->columns[WL_FIELD_GPUS], error,
                           "'%.40s' GPUs beside the MIG instance %.40s: a row asks for one of them",
                           row->texts[WL_FIELD_GPUS], profile);
    job->gpus = job->gpu_milli = 0;
    return WEIR_OK;
}

static weir_status put_amounts(const struct row *row, struct wl_job *job, struct weir_error *error)
{
    static const int64_t most_cpu_milli = INT64_C(1000000000000);
    const int64_t priority = known(row->values[WL_FIELD_PRIORITY]);
    const int64_t processors = known(row->values[WL_FIELD_PROCESSORS]);
    WEIR_TRY(put_gpus(row, job, error));
    WEIR_TRY(put_instance(row, job, error));
    job->cpu_milli = known(row->values[WL_FIELD_CPUS]);
    job->memory_bytes = known(row->values[WL_FIELD_MEMORY]);
    job->gpu_memory_bytes = known(row->values[WL_FIELD_GPU_MEMORY]);
    if (job->cpu_milli > most_cpu_milli)
        return wl_csv_fail(row->csv, row->columns[WL_FIELD_CPUS], error,
                           "'%.40s' is more than a billion CPUs", row->texts[WL_FIELD_CPUS]);
    if (processors > INT32_MAX)
        return wl_csv_fail(row->csv, row->columns[WL_FIELD_PROCESSORS], error,
                           "'%.40s' is too large", row->texts[WL_FIELD_PROCESSORS]);
    if (priority > INT32_MAX || priority < INT32_MIN) /* Slurm's are unsigned */
        job->priority = priority > 0 ? INT32_MAX : INT32_MIN;
    else
        job->priority = (int32_t)priority;
    job->processors = (uint32_t)processors;
    return WEIR_OK;
}

static weir_status put_texts(struct wl_jobs *jobs, const struct row *row, struct wl_job *job,
                             struct weir_error *error)
{
    static const enum wl_map_field fields[] = { WL_FIELD_NAME,   WL_FIELD_USER, WL_FIELD_GROUP,
                                                WL_FIELD_MODELS, WL_FIELD_MIG,  WL_FIELD_MODEL };
    char **const texts[] = { &job->name,   &job->user, &job->group,
                             &job->models, &job->mig,  &job->model };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        const char *text = row->texts[fields[i]];
        const bool is_for_gpus = fields[i] == WL_FIELD_MODELS;
        if (text == NULL || (is_for_gpus && job->gpus == 0 && row->texts[WL_FIELD_MIG] == NULL))
            continue;
        *texts[i] = wl_jobs_text(jobs, text, strlen(text));
        if (*texts[i] == NULL)
            return weir_fail(error, WEIR_ENOMEM, "out of memory");
    }
    if (job->name == NULL)
        job->name = wl_jobs_next_name(jobs);
    return job->name == NULL ? weir_fail(error, WEIR_ENOMEM, "out of memory") : WEIR_OK;
}

static weir_status read_row(void *state, const struct wl_csv_row *csv, struct weir_error *error)
{
    struct reading *reading = state;
    struct row row = { .csv = csv };
    struct wl_job job = wl_job_unknown(csv->line);
    WEIR_TRY(read_cells(reading, &row, error));
    WEIR_TRY(put_times(reading, &row, &job, error));
    WEIR_TRY(put_amounts(&row, &job, error));
    WEIR_TRY(put_texts(reading->jobs, &row, &job, error));
    if (job.submit_ns != WL_UNKNOWN && job.submit_ns < reading->first_ns)
        reading->first_ns = job.submit_ns;
    return wl_jobs_add(reading->jobs, &job, error);
}

/* ---- files ---- */

/* Dates count from the earliest submission. */
static weir_status move_zero(const struct reading *reading, const char *path,
                             struct weir_error *error)
{
    const struct wl_map_entry *submit = &reading->map->entries[WL_FIELD_SUBMIT];
    if (submit->unit == NULL || submit->unit->form == WL_UNIT_PLAIN ||
        reading->first_ns == INT64_MAX)
        return WEIR_OK;
    reading->jobs->zero_unix_ns = reading->first_ns;
    for (size_t i = 0; i < reading->jobs->count; i++) {
        struct wl_job *job = &reading->jobs->jobs[i];
        if (job->submit_ns == WL_UNKNOWN)
            continue;
        job->submit_ns -= reading->first_ns;
        if (job->submit_ns > WL_TIME_MOST_NS)
            return weir_fail(error, WEIR_EFORMAT, "%s:%u: submitted 90 years after the first job",
                             path, job->line);
    }
    return WEIR_OK;
}

/* Constants of the map, before rows are blamed for them. */
static weir_status check_constants(const struct wl_column_map *map, struct weir_error *error)
{
    for (int f = 0; f < WL_FIELD_COUNT; f++) {
        const struct wl_map_entry *entry = &map->entries[f];
        const enum wl_map_kind kind = wl_map_fields[f].kind;
        int64_t value = 0;
        if (entry->value == NULL || kind == WL_MAP_TEXT || kind == WL_MAP_END)
            continue;
        const bool is_amount = entry->unit != NULL ? scan_amount(entry, kind, entry->value, &value)
                                                   : wl_time_scan(entry->value, 1, &value);
        if (!is_amount || value < 0)
            return weir_fail(error, WEIR_EFORMAT, "%.80s: fields.%s: value '%.40s' is not %s",
                             map->name, wl_map_fields[f].name, entry->value, expected(entry, kind));
    }
    return WEIR_OK;
}

static void list_columns(struct reading *reading)
{
    for (int f = 0; f < WL_FIELD_COUNT; f++) {
        const struct wl_map_entry *entry = &reading->map->entries[f];
        if (entry->column == NULL)
            continue;
        reading->fields[reading->column_count] = (enum wl_map_field)f;
        reading->columns[reading->column_count++] =
            (struct wl_csv_column){ .name = entry->column, .is_required = !entry->is_optional };
    }
}

weir_status wl_table_read(const struct wl_trace_options *options, struct wl_jobs *jobs,
                          struct weir_error *error)
{
    const struct wl_column_map *map = options->map;
    struct wl_jobs read = { .zero_unix_ns = WL_UNKNOWN };
    struct reading reading = { .map = map, .jobs = &read, .first_ns = INT64_MAX };
    if (map == NULL)
        return weir_fail(error, WEIR_EINVAL, "%s: a table needs a column map", options->path);
    WEIR_TRY(check_constants(map, error));
    list_columns(&reading);
    const struct wl_csv_options csv = { .columns = reading.columns,
                                        .column_count = reading.column_count,
                                        .delimiter = map->delimiter,
                                        .header = (const char *const *)map->header,
                                        .header_count = map->header_count };
    const struct wl_csv_sink sink = { .row = read_row, .state = &reading };
    read.has_names = map->entries[WL_FIELD_NAME].column != NULL;
    WEIR_TRY(wl_csv_read_jobs(options, &csv, &sink, &read, error));
    const weir_status status = move_zero(&reading, options->path, error);
    if (status != WEIR_OK)
        wl_jobs_clear(&read);
    else
        *jobs = read;
    return status;
}
