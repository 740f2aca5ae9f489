/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The reader behind the header: lines are cut here and fed to libcsv one by one, because libcsv
 * skips empty lines and counts its error offsets from the last buffer; so the line of every row is
 * known. Fields are copied into one text per row.
 */
#include "workloads/csv_table.h"

#include "sim/engine/nearest.h"
#include "sim/engine/number.h"

#include <csv.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 512, BUFFER = 65536 };

struct reader {
    const struct wl_csv_options *options;
    const struct wl_csv_sink *sink;
    struct wl_csv_counts *counts;
    struct weir_error *error;
    struct wl_source *source;
    struct csv_parser parser;
    size_t line, row_line;
    bool in_row;    /* an unfinished row: a quoted line end */
    bool row_ended; /* while feeding the present line */
    bool has_header, is_bad;
    char delimiter;
    size_t row_bytes;
    size_t field_count, header_count;
    size_t field_at[FIELDS]; /* in text; SIZE_MAX = empty */
    char *text;
    size_t text_length, text_capacity;
    size_t column_field[WL_CSV_COLUMNS]; /* from 1; 0 = absent */
    weir_status status;                  /* what ended the reading */
    char buffer[BUFFER];
    size_t buffer_used, buffer_filled;
    char *line_text;
    size_t line_length, line_capacity;
    bool is_cut; /* the present line was longer than a row may be */
};

WEIR_PRINTF(2, 3)
static void stop(struct reader *reader, const char *format, ...)
{
    char message[WEIR_ERROR_TEXT];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (reader->status == WEIR_OK)
        reader->status = weir_fail(reader->error, WEIR_EFORMAT, "%s", message);
}

/* A bad row: the end, or one more that is skipped. `message` names the place already. */
static void bad_row(struct reader *reader, const char *message)
{
    struct wl_csv_counts *counts = reader->counts;
    if (!reader->options->skips_bad_rows || !reader->has_header) {
        stop(reader, "%s", message);
        return;
    }
    if (counts->skipped < WL_CSV_MESSAGES)
        (void)snprintf(counts->messages[counts->skipped], WEIR_ERROR_TEXT, "%s", message);
    counts->skipped++;
}

WEIR_PRINTF(3, 4)
static void bad_field(struct reader *reader, size_t field, const char *format, ...)
{
    char message[WEIR_ERROR_TEXT / 2];
    char full[WEIR_ERROR_TEXT];
    va_list arguments;
    if (reader->is_bad)
        return;
    reader->is_bad = true;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    (void)snprintf(full, sizeof full, "%.220s:%zu:%zu: %s", reader->options->path, reader->row_line,
                   field, message);
    bad_row(reader, full);
}

static bool reserve(char **text, size_t *capacity, size_t wanted)
{
    if (wanted <= *capacity)
        return true;
    size_t grown = *capacity == 0 ? 4096 : *capacity;
    while (grown < wanted)
        grown *= 2;
    char *moved = realloc(*text, grown);
    if (moved == NULL)
        return false;
    *text = moved;
    *capacity = grown;
    return true;
}

/* ---- rows ---- */

static void on_field(void *data, size_t length, void *context)
{
    struct reader *reader = context;
    const char *field = data == NULL ? "" : data;
    const size_t index = reader->field_count++;
    if (index >= FIELDS) {
        bad_field(reader, index + 1, "more than %d fields", FIELDS);
        return;
    }
    if (memchr(field, '\0', length) != NULL)
        bad_field(reader, index + 1, "a zero byte in a field");
    reader->field_at[index] = SIZE_MAX;
    if (length == 0)
        return;
    if (!reserve(&reader->text, &reader->text_capacity, reader->text_length + length + 1)) {
        reader->status = weir_fail(reader->error, WEIR_ENOMEM, "out of memory");
        return;
    }
    memcpy(reader->text + reader->text_length, field, length);
    reader->text[reader->text_length + length] = '\0';
    reader->field_at[index] = reader->text_length;
    reader->text_length += length + 1;
}

static const char *field_text(const struct reader *reader, size_t field)
{
    return reader->field_at[field] == SIZE_MAX ? NULL : reader->text + reader->field_at[field];
}

/* A header word that is a column of ours is no misspelling of another. */
static bool is_ours(const struct reader *reader, const char *text)
{
    for (size_t c = 0; c < reader->options->column_count; c++)
        if (strcmp(reader->options->columns[c].name, text) == 0)
            return true;
    return false;
}

static void find_column(struct reader *reader, size_t column)
{
    const struct wl_csv_column *wanted = &reader->options->columns[column];
    const char *name = wanted->alias == NULL ? wanted->name : wanted->alias;
    const struct sim_word word = { name, strlen(name) };
    const char *near = NULL;
    for (size_t f = 0; f < reader->field_count; f++) {
        const char *text = field_text(reader, f);
        if (text == NULL)
            continue;
        if (strcmp(text, name) != 0) {
            near = is_ours(reader, text) ? near : sim_nearer(word, near, text);
            continue;
        }
        if (reader->column_field[column] != 0)
            bad_field(reader, f + 1, "column '%.60s' is there twice", name);
        reader->column_field[column] = f + 1;
    }
    if (reader->column_field[column] == 0 && (wanted->is_required || wanted->alias != NULL))
        bad_field(reader, 1, "no column '%.60s'%s%.60s%s", name,
                  near == NULL ? "" : "; did you mean '", near == NULL ? "" : near,
                  near == NULL ? "" : "'?");
}

static void end_header(struct reader *reader)
{
    bool has_column[WL_CSV_COLUMNS] = { false };
    reader->header_count = reader->field_count;
    for (size_t c = 0; c < reader->options->column_count && reader->status == WEIR_OK; c++) {
        find_column(reader, c);
        has_column[c] = reader->column_field[c] != 0;
    }
    if (reader->status == WEIR_OK && reader->sink->header != NULL)
        reader->status = reader->sink->header(reader->sink->state, has_column, reader->error);
    reader->has_header = true;
}

static void end_row(struct reader *reader)
{
    const char *cells[WL_CSV_COLUMNS] = { NULL };
    if (reader->field_count != reader->header_count)
        bad_field(reader, reader->field_count, "%zu fields, the header has %zu",
                  reader->field_count, reader->header_count);
    if (reader->is_bad)
        return;
    for (size_t c = 0; c < reader->options->column_count; c++)
        if (reader->column_field[c] != 0)
            cells[c] = field_text(reader, reader->column_field[c] - 1);
    const struct wl_csv_row row = { reader->options, reader->row_line, reader->column_field,
                                    cells };
    struct weir_error error = { .phase = -1, .stage = -1 };
    const weir_status status = reader->sink->row(reader->sink->state, &row, &error);
    if (status == WEIR_OK)
        reader->counts->rows++;
    else if (status == WEIR_EFORMAT)
        bad_row(reader, error.text);
    else
        reader->status = weir_fail(reader->error, status, "%s", error.text);
}

static void forget_row(struct reader *reader)
{
    reader->field_count = 0;
    reader->text_length = 0;
    reader->is_bad = false;
    reader->row_bytes = 0;
}

static void on_row(int terminator, void *context)
{
    struct reader *reader = context;
    (void)terminator;
    reader->row_ended = true;
    if (reader->status != WEIR_OK)
        return;
    if (reader->has_header)
        end_row(reader);
    else
        end_header(reader);
    forget_row(reader);
}

/* ---- lines ---- */

static weir_status fill(struct reader *reader)
{
    if (reader->buffer_used < reader->buffer_filled)
        return WEIR_OK;
    reader->buffer_used = 0;
    reader->buffer_filled = 0;
    struct weir_error error = { .phase = -1, .stage = -1 };
    const weir_status status =
        wl_source_read(reader->source, reader->buffer, BUFFER, &reader->buffer_filled, &error);
    if (status == WEIR_OK)
        return WEIR_OK;
    return weir_fail(reader->error, status, "%s: %s (after %zu lines, %zu rows)",
                     reader->options->path, error.text, reader->line, reader->counts->rows);
}

/* The next line with its end, cut at the longest row; false at the end of the file. */
static bool next_line(struct reader *reader)
{
    reader->line_length = 0;
    reader->is_cut = false;
    bool has_any = false;
    for (bool is_over = false; !is_over;) {
        reader->status = fill(reader);
        const size_t left = reader->buffer_filled - reader->buffer_used;
        if (reader->status != WEIR_OK || left == 0)
            break;
        const char *from = reader->buffer + reader->buffer_used;
        const char *end = memchr(from, '\n', left);
        const size_t length = end == NULL ? left : (size_t)(end - from) + 1;
        is_over = end != NULL;
        has_any = true;
        reader->buffer_used += length;
        if (reader->is_cut || reader->line_length + length > WL_CSV_ROW_BYTES) {
            reader->is_cut = true;
            continue;
        }
        if (!reserve(&reader->line_text, &reader->line_capacity, reader->line_length + length)) {
            reader->status = weir_fail(reader->error, WEIR_ENOMEM, "out of memory");
            break;
        }
        memcpy(reader->line_text + reader->line_length, from, length);
        reader->line_length += length;
    }
    reader->line += has_any ? 1 : 0;
    return has_any && reader->status == WEIR_OK;
}

/* The sign that stands most often outside quotes in the header. */
static char find_delimiter(const char *line, size_t length)
{
    static const char signs[] = { ',', ';', '\t', '|' };
    size_t counts[sizeof signs] = { 0 };
    bool is_quoted = false;
    for (size_t i = 0; i < length; i++) {
        is_quoted = line[i] == '"' ? !is_quoted : is_quoted;
        const char *sign = is_quoted ? NULL : memchr(signs, line[i], sizeof signs);
        if (sign != NULL)
            counts[sign - signs]++;
    }
    size_t best = 0;
    for (size_t s = 1; s < sizeof signs; s++)
        best = counts[s] > counts[best] ? s : best;
    return signs[best];
}

static bool is_blank(const char *line, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (strchr(" \t\r\n", line[i]) == NULL || line[i] == '\0')
            return false;
    return true;
}

static int keep_tabs(unsigned char c)
{
    return c == ' ';
}

static weir_status start_parser(struct reader *reader)
{
    if (csv_init(&reader->parser, CSV_STRICT | CSV_STRICT_FINI | CSV_APPEND_NULL) != 0)
        return weir_fail(reader->error, WEIR_ENOMEM, "out of memory");
    csv_set_delim(&reader->parser, (unsigned char)reader->delimiter);
    csv_set_space_func(&reader->parser, keep_tabs);
    return WEIR_OK;
}

/* After a syntax error the parser's state is worth nothing: the next line starts afresh. */
static void restart(struct reader *reader)
{
    forget_row(reader);
    reader->in_row = false;
    csv_free(&reader->parser);
    const weir_status status = start_parser(reader);
    reader->status = reader->status == WEIR_OK ? status : reader->status;
}

static void feed(struct reader *reader, const char *line, size_t length)
{
    const bool was_in_row = reader->in_row;
    if (!was_in_row)
        reader->row_line = reader->line;
    reader->row_bytes += length;
    reader->row_ended = false;
    if (reader->is_cut || reader->row_bytes > WL_CSV_ROW_BYTES) {
        bad_field(reader, 1, "a row of more than %d bytes%s", WL_CSV_ROW_BYTES,
                  was_in_row ? "; is a quote open?" : "");
        restart(reader);
        return;
    }
    if (csv_parse(&reader->parser, line, length, on_field, on_row, reader) != length) {
        bad_field(reader, reader->field_count + 1, "%s (a quote in the wrong place?)",
                  csv_strerror(csv_error(&reader->parser)));
        restart(reader);
        return;
    }
    reader->in_row = !reader->row_ended && (was_in_row || !is_blank(line, length));
}

static void feed_first(struct reader *reader)
{
    static const char mark[] = { '\xEF', '\xBB', '\xBF' };
    const char *line = reader->line_text;
    size_t length = reader->is_cut ? 0 : reader->line_length;
    if (length >= sizeof mark && memcmp(line, mark, sizeof mark) == 0) {
        line += sizeof mark;
        length -= sizeof mark;
    }
    reader->delimiter = reader->options->delimiter;
    if (reader->delimiter == '\0')
        reader->delimiter = find_delimiter(line == NULL ? "" : line, length);
    csv_set_delim(&reader->parser, (unsigned char)reader->delimiter);
    feed(reader, line == NULL ? "" : line, length);
}

static void read_all(struct reader *reader)
{
    while (reader->status == WEIR_OK && next_line(reader)) {
        if (!reader->has_header && !reader->in_row)
            feed_first(reader);
        else
            feed(reader, reader->line_text, reader->line_length);
    }
    if (reader->status == WEIR_OK && csv_fini(&reader->parser, on_field, on_row, reader) != 0)
        bad_field(reader, reader->field_count + 1, "the file ends inside a quoted field");
    if (reader->status == WEIR_OK && !reader->has_header)
        stop(reader, "%s: empty: a header line is needed", reader->options->path);
}

weir_status wl_csv_read(const struct wl_csv_options *options, const struct wl_csv_sink *sink,
                        struct wl_csv_counts *counts, struct weir_error *error)
{
    struct wl_source *source = NULL;
    if (options->bytes == NULL)
        WEIR_TRY(wl_source_open(options->path, &source, error));
    else
        WEIR_TRY(wl_source_open_memory(options->bytes, options->byte_count, &source, error));
    struct reader *reader = calloc(1, sizeof(*reader));
    if (reader == NULL) {
        wl_source_close(source);
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    }
    *counts = (struct wl_csv_counts){ 0 };
    reader->options = options;
    reader->sink = sink;
    reader->counts = counts;
    reader->error = error;
    reader->source = source;
    reader->delimiter = ',';
    reader->status = start_parser(reader);
    if (reader->status == WEIR_OK) {
        read_all(reader);
        csv_free(&reader->parser);
    }
    const weir_status status = reader->status;
    wl_source_close(source);
    free(reader->text);
    free(reader->line_text);
    free(reader);
    return status;
}

/* ---- for sinks ---- */

weir_status wl_csv_fail(const struct wl_csv_row *row, size_t column, struct weir_error *error,
                        const char *format, ...)
{
    char message[WEIR_ERROR_TEXT / 2];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return weir_fail(error, WEIR_EFORMAT, "%.160s:%zu:%zu: column '%s': %s", row->options->path,
                     row->line, row->fields[column], row->options->columns[column].name, message);
}

weir_status wl_csv_number(const struct wl_csv_row *row, size_t column, double *value,
                          struct weir_error *error)
{
    const char *text = row->cells[column];
    double number = 0;
    if (text == NULL)
        return WEIR_OK;
    if (sim_number_scan(text, &number) != strlen(text))
        return wl_csv_fail(row, column, error, "'%.40s' is not a number", text);
    *value = number;
    return WEIR_OK;
}
