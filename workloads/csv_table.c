/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The reader behind the header: lines are fed to libcsv one by one, because libcsv skips empty
 * lines and counts its error offsets from the last buffer; so the line of every row is known.
 * Fields are copied into one text per row.
 */
#include "workloads/csv_table.h"

#include "sim/engine/nearest.h"
#include "sim/engine/number.h"
#include "workloads/lines.h"

#include <csv.h>
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 512 };

struct reader {
    const struct wl_csv_options *options;
    const struct wl_csv_sink *sink;
    struct wl_csv_counts *counts;
    struct weir_error *error;
    struct wl_lines *lines;
    struct csv_parser parser;
    size_t line, row_line;
    bool in_row;    /* an unfinished row: a quoted line end */
    bool row_ended; /* while feeding the present line */
    bool has_header, is_bad, is_first_fed;
    char delimiter;
    size_t row_bytes;
    size_t field_count, header_count;
    size_t field_at[FIELDS]; /* in text; SIZE_MAX = empty */
    char *text;
    size_t text_length, text_capacity;
    size_t column_field[WL_CSV_COLUMNS]; /* from 1; 0 = absent */
    weir_status status;                  /* what ended the reading */
    bool is_cut;                         /* the present line was longer than a row may be */
    const char *cells[FIELDS];
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
    if (reader->sink->bad != NULL) {
        reader->sink->bad(reader->sink->state, reader->row_line, field, message);
        return;
    }
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

static char plain(char sign)
{
    if (sign == ' ' || sign == '-')
        return '_';
    return (char)tolower((unsigned char)sign);
}

bool wl_csv_is_called(const char *text, const char *words)
{
    for (const char *at = words; at != NULL; at = strchr(at, '|')) {
        size_t i = 0;
        at += *at == '|' ? 1 : 0;
        while (text[i] != '\0' && plain(text[i]) == at[i])
            i++;
        if (text[i] == '\0' && (at[i] == '\0' || at[i] == '|'))
            return true;
    }
    return false;
}

/* A header word that is a column of ours is no misspelling of another. */
static bool is_ours(const struct reader *reader, const char *text)
{
    for (size_t c = 0; c < reader->options->column_count; c++)
        if (strcmp(reader->options->columns[c].name, text) == 0)
            return true;
    return false;
}

/* The field of this very name; the answer is the one that comes nearest, or NULL. */
static const char *find_named(struct reader *reader, size_t column, const char *name)
{
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
    return near;
}

/* Or else the first that others call so. */
static void find_called(struct reader *reader, size_t column)
{
    const struct wl_csv_column *wanted = &reader->options->columns[column];
    for (size_t f = 0; f < reader->field_count && reader->column_field[column] == 0; f++) {
        const char *text = field_text(reader, f);
        if (text != NULL && !is_ours(reader, text) &&
            (wl_csv_is_called(text, wanted->name) || wl_csv_is_called(text, wanted->words)))
            reader->column_field[column] = f + 1;
    }
}

static void find_column(struct reader *reader, size_t column)
{
    const struct wl_csv_column *wanted = &reader->options->columns[column];
    const char *name = wanted->alias == NULL ? wanted->name : wanted->alias;
    const char *near = find_named(reader, column, name);
    if (wanted->alias == NULL)
        find_called(reader, column);
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
    for (size_t f = 0; f < reader->field_count; f++)
        reader->cells[f] = field_text(reader, f);
    if (reader->status == WEIR_OK && reader->sink->names != NULL)
        reader->status = reader->sink->names(reader->sink->state, reader->cells,
                                             reader->field_count, reader->error);
    if (reader->status == WEIR_OK && reader->sink->header != NULL)
        reader->status = reader->sink->header(reader->sink->state, has_column, reader->error);
    reader->has_header = true;
}

static void end_row(struct reader *reader)
{
    const char **cells = reader->cells;
    const size_t all = reader->options->column_count == 0 ? reader->field_count : 0;
    if (reader->field_count != reader->header_count)
        bad_field(reader, reader->field_count, "%zu fields, the header has %zu",
                  reader->field_count, reader->header_count);
    if (reader->is_bad)
        return;
    for (size_t c = 0; c < reader->options->column_count; c++)
        cells[c] =
            reader->column_field[c] == 0 ? NULL : field_text(reader, reader->column_field[c] - 1);
    for (size_t f = 0; f < all; f++)
        cells[f] = field_text(reader, f);
    const struct wl_csv_row row = { reader->options, reader->row_line, reader->column_field,
                                    cells };
    struct weir_error error = { .phase = -1, .pool = -1 };
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

/* The next line; false at the end of the file or of the reading. */
static bool next_line(struct reader *reader, struct wl_line *line)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    const weir_status status = wl_lines_next(reader->lines, line, &error);
    if (status != WEIR_OK) {
        reader->status =
            weir_fail(reader->error, status, "%s: %s (after %zu lines, %zu rows)",
                      reader->options->path, error.text, reader->line, reader->counts->rows);
        return false;
    }
    reader->line = line->number;
    reader->is_cut = line->is_cut;
    return line->text != NULL;
}

/* The sign that stands most often outside quotes in the header. */
char wl_csv_delimiter(const char *line, size_t length)
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

/* Before the first row: the mark of the file's coding, and the delimiter. */
static void feed_first(struct reader *reader, struct wl_line line)
{
    static const char mark[] = { '\xEF', '\xBB', '\xBF' };
    if (line.length >= sizeof mark && memcmp(line.text, mark, sizeof mark) == 0) {
        line.text += sizeof mark;
        line.length -= sizeof mark;
    }
    reader->delimiter = reader->options->delimiter;
    if (reader->delimiter == '\0')
        reader->delimiter = wl_csv_delimiter(line.text, line.length);
    csv_set_delim(&reader->parser, (unsigned char)reader->delimiter);
    reader->is_first_fed = true;
    feed(reader, line.text, line.length);
}

/* The names of a file that has none itself. */
static void take_header(struct reader *reader)
{
    for (size_t i = 0; i < reader->options->header_count && reader->status == WEIR_OK; i++) {
        char *name = strdup(reader->options->header[i]);
        if (name == NULL)
            reader->status = weir_fail(reader->error, WEIR_ENOMEM, "out of memory");
        else
            on_field(name, strlen(name), reader);
        free(name);
    }
    if (reader->status == WEIR_OK)
        end_header(reader);
    forget_row(reader);
}

static void read_all(struct reader *reader)
{
    struct wl_line line;
    if (reader->options->header_count > 0)
        take_header(reader);
    while (reader->status == WEIR_OK && next_line(reader, &line)) {
        if (!reader->is_first_fed || (!reader->has_header && !reader->in_row))
            feed_first(reader, line);
        else
            feed(reader, line.text, line.length);
    }
    if (reader->status == WEIR_OK && csv_fini(&reader->parser, on_field, on_row, reader) != 0)
        bad_field(reader, reader->field_count + 1, "the file ends inside a quoted field");
    if (reader->status == WEIR_OK && !reader->has_header)
        stop(reader, "%s: empty: a header line is needed", reader->options->path);
}

weir_status wl_csv_read(const struct wl_csv_options *options, const struct wl_csv_sink *sink,
                        struct wl_csv_counts *counts, struct weir_error *error)
{
    struct wl_lines *lines = NULL;
    struct wl_source *source = NULL;
    if (options->bytes == NULL)
        WEIR_TRY(wl_source_open(options->path, &source, error));
    else
        WEIR_TRY(wl_source_open_memory(options->bytes, options->byte_count, &source, error));
    wl_source_limit(source, options->limits);
    WEIR_TRY(wl_lines_open(source, WL_CSV_ROW_BYTES, &lines, error));
    struct reader *reader = calloc(1, sizeof(*reader));
    if (reader == NULL) {
        wl_lines_close(lines);
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    }
    *counts = (struct wl_csv_counts){ 0 };
    reader->options = options;
    reader->sink = sink;
    reader->counts = counts;
    reader->error = error;
    reader->lines = lines;
    reader->delimiter = ',';
    reader->status = start_parser(reader);
    if (reader->status == WEIR_OK) {
        read_all(reader);
        csv_free(&reader->parser);
    }
    const weir_status status = reader->status;
    wl_lines_close(lines);
    free(reader->text);
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

weir_status wl_csv_whole(const struct wl_csv_row *row, size_t column, struct wl_range range,
                         int64_t *value, struct weir_error *error)
{
    const char *text = row->cells[column];
    if (text == NULL)
        return wl_csv_fail(row, column, error, "nothing in it; a whole number is expected");
    const size_t sign = text[0] == '-' ? 1 : 0;
    const size_t digits = strspn(text + sign, "0123456789");
    errno = 0;
    const long long read = strtoll(text, NULL, 10);
    if (digits == 0 || text[sign + digits] != '\0')
        return wl_csv_fail(row, column, error, "'%.40s' is not a whole number", text);
    if (errno == ERANGE || read < range.min || read > range.max)
        return wl_csv_fail(row, column, error, "'%.40s' is not from %lld to %lld", text,
                           (long long)range.min, (long long)range.max);
    *value = read;
    return WEIR_OK;
}
