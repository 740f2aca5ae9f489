/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Spans from a CSV file; see the header. */
#include "workloads/spans/span_log.h"

#include "sim/engine/nearest.h"
#include "workloads/timestamp.h"

#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

enum column {
    STAGE,
    START,
    END,
    KIND,
    WORKER,
    NODE,
    GPU,
    QUEUED,
    ARRIVAL,
    SIZE,
    BATCH,
    RETURNS,
    ATTEMPT,
    FAILED,
    COLUMNS
};

static const struct wl_csv_column known_columns[COLUMNS] = {
    [STAGE] = { .name = "stage", .is_required = true, .words = WL_SPAN_STAGE },
    [START] = { .name = "start", .is_required = true, .words = WL_SPAN_START },
    [END] = { .name = "end", .is_required = true, .words = WL_SPAN_END },
    [KIND] = { .name = "kind" },
    [WORKER] = { .name = "worker", .words = "worker_id|actor|actor_id" },
    [NODE] = { .name = "node", .words = "node_id|node_name|host|hostname" },
    [GPU] = { .name = "gpu", .words = "gpu_id|device" },
    [QUEUED] = { .name = "queued_at", .words = "queued|enqueued_at|enqueued" },
    [ARRIVAL] = { .name = "arrival", .words = "arrived_at|arrived" },
    [SIZE] = { .name = "size" },
    [BATCH] = { .name = "batch" },
    [RETURNS] = { .name = "n_out" },
    [ATTEMPT] = { .name = "attempt" },
    [FAILED] = { .name = "failed" },
};

/* ---- names ---- */

struct name_node {
    char *name;
    uint32_t index;
};

static int compare_nodes(const void *left, const void *right)
{
    const struct name_node *a = left;
    const struct name_node *b = right;
    return strcmp(a->name, b->name);
}

static bool names_grow(struct wl_names *names)
{
    if (names->count < names->capacity)
        return true;
    const size_t capacity = names->capacity == 0 ? 16 : 2 * names->capacity;
    char **grown = realloc(names->names, capacity * sizeof(*grown));
    if (grown == NULL)
        return false;
    names->names = grown;
    names->capacity = capacity;
    return true;
}

/* Index of a name, new or known; WL_NO_NAME = out of memory. */
static uint32_t names_add(struct wl_names *names, const char *name)
{
    struct name_node *entry = malloc(sizeof(*entry));
    if (entry == NULL)
        return WL_NO_NAME;
    entry->name = strdup(name);
    entry->index = (uint32_t)names->count;
    struct name_node **found = entry->name == NULL || !names_grow(names)
                                   ? NULL
                                   : tsearch(entry, &names->tree, compare_nodes);
    if (found != NULL && *found == entry) {
        names->names[names->count++] = entry->name;
        return entry->index;
    }
    free(entry->name);
    free(entry);
    return found == NULL ? WL_NO_NAME : (*found)->index;
}

static void free_entry(void *node)
{
    struct name_node *entry = node;
    free(entry->name);
    free(entry);
}

static void names_clear(struct wl_names *names)
{
    tdestroy(names->tree, free_entry);
    free(names->names);
}

void wl_span_log_clear(struct wl_span_log *log)
{
    names_clear(&log->stages);
    names_clear(&log->workers);
    names_clear(&log->nodes);
    names_clear(&log->gpus);
    free(log->spans);
    *log = (struct wl_span_log){ 0 };
}

/* ---- rows ---- */

struct reading {
    struct wl_span_log *log;
    double unit_s;
    struct wl_zone zone;
    bool has_numbers; /* as times */
};

static weir_status read_name(const struct wl_csv_row *row, enum column column,
                             struct wl_names *names, uint32_t *index, struct weir_error *error)
{
    *index = WL_NO_NAME;
    if (row->cells[column] == NULL)
        return WEIR_OK;
    *index = names_add(names, row->cells[column]);
    return *index == WL_NO_NAME ? weir_fail(error, WEIR_ENOMEM, "out of memory") : WEIR_OK;
}

/* A whole number within [0, 1e9]; an empty cell leaves it as it is. */
static weir_status read_count(const struct wl_csv_row *row, enum column column, uint32_t *count,
                              struct weir_error *error)
{
    double value = *count;
    WEIR_TRY(wl_csv_number(row, column, &value, error));
    if (!(value >= 0 && value <= 1e9) || fabs(value - nearbyint(value)) > 0)
        return wl_csv_fail(row, column, error, "%g is not a whole number from 0 to 1e9", value);
    *count = (uint32_t)value;
    return WEIR_OK;
}

static weir_status read_flag(const struct wl_csv_row *row, enum column column, bool *flag,
                             struct weir_error *error)
{
    static const char *const yes[] = { "1", "true", "True", "TRUE", "yes" };
    static const char *const no[] = { "0", "false", "False", "FALSE", "no" };
    const char *text = row->cells[column];
    *flag = false;
    if (text == NULL)
        return WEIR_OK;
    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++) {
        *flag = *flag || strcmp(text, yes[i]) == 0;
        if (strcmp(text, no[i]) == 0 || strcmp(text, yes[i]) == 0)
            return WEIR_OK;
    }
    return wl_csv_fail(row, column, error, "'%.40s' is neither 0 nor 1", text);
}

static weir_status read_kind(const struct wl_csv_row *row, bool *is_setup, struct weir_error *error)
{
    const char *text = row->cells[KIND];
    *is_setup = text != NULL && strcmp(text, "setup") == 0;
    if (text == NULL || *is_setup || strcmp(text, "task") == 0)
        return WEIR_OK;
    return wl_csv_fail(row, KIND, error, "'%.40s' is neither task nor setup", text);
}

/* Whether "2026-03-01T18:10..." shows another time of day than UTC had then. */
static bool shows_other_clock(const char *text, int64_t unix_s)
{
    int hour = 0;
    int minute = 0;
    /* Of two digits no number is too large.
     * NOLINTNEXTLINE(cert-err34-c) */
    return sscanf(text, "%*d-%*d-%*d%*[T ]%2d:%2d", &hour, &minute) == 2 &&
           (INT64_C(60) * hour + minute) * 60 != (unix_s % 86400 + 86400) % 86400 / 60 * 60;
}

/* A number of units, or a stamp; a log has one of them. Until the end a stamp counts from the
 * second of the first one there was: a double keeps nanoseconds of days, not of decades. */
static weir_status read_time(struct reading *reading, const struct wl_csv_row *row,
                             enum column column, double *time_s, struct weir_error *error)
{
    struct wl_span_log *log = reading->log;
    const char *text = row->cells[column];
    int64_t unix_ns = 0;
    if (text == NULL)
        return WEIR_OK;
    if (!wl_date_scan(text, &reading->zone, &unix_ns)) {
        if (wl_csv_number(row, column, time_s, error) != WEIR_OK)
            return wl_csv_fail(row, column, error, "'%.40s' is neither a number nor a stamp", text);
        reading->has_numbers = true;
        *time_s *= reading->unit_s;
    } else {
        if (!log->has_stamps)
            log->start_unix_s = unix_ns / 1000000000;
        log->has_stamps = true;
        log->is_abroad = log->is_abroad || shows_other_clock(text, unix_ns / 1000000000);
        *time_s = (double)(unix_ns - log->start_unix_s * 1000000000) * 1e-9;
    }
    if (log->has_stamps && reading->has_numbers)
        return wl_csv_fail(row, column, error,
                           "'%.40s' is a %s, and the log has %s too: times are all of one kind",
                           text, unix_ns > 0 ? "stamp" : "number",
                           unix_ns > 0 ? "numbers" : "stamps");
    return WEIR_OK;
}

static weir_status read_times(struct reading *reading, const struct wl_csv_row *row,
                              struct wl_span *span, struct weir_error *error)
{
    if (row->cells[STAGE] == NULL || row->cells[START] == NULL || row->cells[END] == NULL) {
        const enum column column =
            row->cells[STAGE] == NULL ? STAGE : (row->cells[START] == NULL ? START : END);
        return wl_csv_fail(row, column, error, "nothing in it");
    }
    WEIR_TRY(read_time(reading, row, START, &span->start_s, error));
    WEIR_TRY(read_time(reading, row, END, &span->end_s, error));
    WEIR_TRY(read_time(reading, row, QUEUED, &span->queued_s, error));
    WEIR_TRY(read_time(reading, row, ARRIVAL, &span->queued_s, error));
    if (span->end_s < span->start_s)
        return wl_csv_fail(row, END, error, "%s is before the start %s: a negative duration",
                           row->cells[END], row->cells[START]);
    return WEIR_OK;
}

static weir_status read_amounts(const struct wl_csv_row *row, struct wl_span *span,
                                struct weir_error *error)
{
    WEIR_TRY(wl_csv_number(row, SIZE, &span->size, error));
    if (span->size <= 0)
        return wl_csv_fail(row, SIZE, error, "must be > 0, got %g", span->size);
    WEIR_TRY(wl_csv_number(row, RETURNS, &span->returns, error));
    if (span->returns < 0)
        return wl_csv_fail(row, RETURNS, error, "must be >= 0, got %g", span->returns);
    WEIR_TRY(read_count(row, BATCH, &span->batch, error));
    WEIR_TRY(read_count(row, ATTEMPT, &span->attempt, error));
    return read_flag(row, FAILED, &span->has_failed, error);
}

static weir_status keep(struct wl_span_log *log, const struct wl_span *span,
                        struct weir_error *error)
{
    if (log->count == log->capacity) {
        const size_t capacity = log->capacity == 0 ? 1024 : 2 * log->capacity;
        struct wl_span *grown = realloc(log->spans, capacity * sizeof(*grown));
        if (grown == NULL)
            return weir_fail(error, WEIR_ENOMEM, "out of memory");
        log->spans = grown;
        log->capacity = capacity;
    }
    log->spans[log->count++] = *span;
    return WEIR_OK;
}

static weir_status on_row(void *state, const struct wl_csv_row *row, struct weir_error *error)
{
    struct reading *reading = state;
    struct wl_span_log *log = reading->log;
    struct wl_span span = { .queued_s = (double)NAN, .size = (double)NAN, .returns = (double)NAN };
    WEIR_TRY(read_times(reading, row, &span, error));
    WEIR_TRY(read_kind(row, &span.is_setup, error));
    WEIR_TRY(read_amounts(row, &span, error));
    WEIR_TRY(read_name(row, STAGE, &log->stages, &span.stage, error));
    WEIR_TRY(read_name(row, WORKER, &log->workers, &span.worker, error));
    WEIR_TRY(read_name(row, NODE, &log->nodes, &span.node, error));
    WEIR_TRY(read_name(row, GPU, &log->gpus, &span.gpu, error));
    return keep(log, &span, error);
}

static weir_status on_header(void *state, const bool *has_column, struct weir_error *error)
{
    const struct reading *reading = state;
    struct wl_span_log *log = reading->log;
    (void)error;
    log->has_arrival = has_column[ARRIVAL];
    log->has_queued = has_column[QUEUED];
    log->has_worker = has_column[WORKER];
    log->has_node = has_column[NODE];
    log->has_gpu = has_column[GPU];
    log->has_size = has_column[SIZE];
    log->has_batch = has_column[BATCH];
    log->has_returns = has_column[RETURNS];
    log->has_attempt = has_column[ATTEMPT];
    log->has_kind = has_column[KIND];
    return WEIR_OK;
}

/* ---- tasks ---- */

/* Set-ups last; then by stage, worker, start; rows of unknown workers as they came. */
static int compare_spans(const void *left, const void *right)
{
    const struct wl_span *a = *(const struct wl_span *const *)left;
    const struct wl_span *b = *(const struct wl_span *const *)right;
    if (a->is_setup != b->is_setup)
        return a->is_setup ? 1 : -1;
    if (a->stage != b->stage)
        return a->stage < b->stage ? -1 : 1;
    if (a->worker != b->worker)
        return a->worker < b->worker ? -1 : 1;
    if (a->start_s < b->start_s || a->start_s > b->start_s)
        return a->start_s < b->start_s ? -1 : 1;
    return a < b ? -1 : (a > b ? 1 : 0);
}

static bool is_same_task(const struct wl_span *a, const struct wl_span *b)
{
    return !a->is_setup && !b->is_setup && a->stage == b->stage && a->worker != WL_NO_NAME &&
           a->worker == b->worker && a->has_failed == b->has_failed && !(a->start_s < b->start_s) &&
           !(a->end_s < b->end_s) && !(a->end_s > b->end_s);
}

static weir_status mark_tasks(struct wl_span_log *log, struct weir_error *error)
{
    struct wl_span **order = calloc(log->count + 1, sizeof(struct wl_span *));
    if (order == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    for (size_t i = 0; i < log->count; i++)
        order[i] = &log->spans[i];
    qsort(order, log->count, sizeof(struct wl_span *), compare_spans);
    struct wl_span *first = NULL;
    for (size_t i = 0; i < log->count; i++) {
        if (first == NULL || !is_same_task(first, order[i]))
            first = order[i];
        first->task_rows++;
        first->task_size += order[i]->size;
        first->task_returns += order[i]->returns;
    }
    free(order);
    return WEIR_OK;
}

/* ---- columns under other names ---- */

static weir_status rename_column(struct wl_csv_column *columns, const char *text,
                                 struct weir_error *error)
{
    const char *equals = strchr(text, '=');
    const struct sim_word word = { text, equals == NULL ? strlen(text) : (size_t)(equals - text) };
    const char *near = NULL;
    for (size_t c = 0; c < COLUMNS; c++) {
        near = equals == NULL ? NULL : sim_nearer(word, near, columns[c].name);
        if (equals == NULL || equals[1] == '\0' || strlen(columns[c].name) != word.length ||
            strncmp(columns[c].name, text, word.length) != 0)
            continue;
        columns[c].alias = equals + 1;
        return WEIR_OK;
    }
    return weir_fail(error, WEIR_EINVAL, "'%.60s' is not OUR_COLUMN=YOUR_COLUMN%s%s%s", text,
                     near == NULL ? "" : "; did you mean '", near == NULL ? "" : near,
                     near == NULL ? "" : "'?");
}

/* Time 0 is the whole second of the earliest stamp. */
static void start_at_the_first(struct wl_span_log *log)
{
    double first_s = HUGE_VAL;
    for (size_t i = 0; i < log->count; i++) {
        first_s = fmin(first_s, log->spans[i].start_s);
        first_s = fmin(first_s, log->spans[i].queued_s); /* of NAN and a number: the number */
    }
    const double shift_s = floor(first_s);
    for (size_t i = 0; i < log->count; i++) {
        log->spans[i].start_s -= shift_s;
        log->spans[i].end_s -= shift_s;
        log->spans[i].queued_s -= shift_s;
    }
    log->start_unix_s += (int64_t)shift_s;
}

weir_status wl_span_log_read(const struct wl_span_options *options, struct wl_span_log *log,
                             struct weir_error *error)
{
    struct wl_csv_column columns[COLUMNS];
    *log = (struct wl_span_log){ 0 };
    memcpy(columns, known_columns, sizeof columns);
    for (size_t i = 0; i < options->columns_count; i++)
        WEIR_TRY(rename_column(columns, options->columns[i], error));
    const struct wl_csv_options csv = { .path = options->path,
                                        .bytes = options->bytes,
                                        .byte_count = options->byte_count,
                                        .limits = options->limits,
                                        .columns = columns,
                                        .column_count = COLUMNS,
                                        .delimiter = options->delimiter,
                                        .skips_bad_rows = options->skips_bad_rows };
    struct reading reading = { .log = log, .unit_s = options->unit_s > 0 ? options->unit_s : 1.0 };
    if (options->zone != NULL && !wl_zone_scan(options->zone, &reading.zone))
        return weir_fail(error, WEIR_EINVAL, "'%.60s' is no zone (+01:00, \"-08:00 us\")",
                         options->zone);
    const struct wl_csv_sink sink = { .row = on_row, .header = on_header, .state = &reading };
    WEIR_TRY(wl_csv_read(&csv, &sink, &log->counts, error));
    if (log->has_stamps && log->count > 0)
        start_at_the_first(log);
    return mark_tasks(log, error);
}
