/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * empirical(file.csv, column): each value of a measured sample alike.
 *
 * The column is found by its header name. The file is fed to libcsv line by line, so that the line
 * of a mistake is known although the parser skips empty lines; quoted fields may still span lines.
 * Every row needs as many fields as the header, every value must be a finite decimal >= 0.
 */
#include "sim/engine/dist/registry.h"
#include "sim/engine/nearest.h"
#include "sim/engine/number.h"

#include <csv.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEAN, VARIANCE };
enum { FIRST_CAPACITY = 256 };

static const size_t NO_COLUMN = SIZE_MAX;

struct reader {
    const char *path;
    const char *column;
    struct weir_error *error;
    weir_status status;
    size_t line; /* of the text being parsed, from 1 */
    size_t column_count, column_index;
    char *nearest_column; /* for "did you mean"; own copy */
    bool in_header;
    size_t field;
    double *values;
    size_t count, capacity;
};

/* The first mistake counts. It is put behind "file:line: ", or "file: " before the first line. */
WEIR_PRINTF(3, 4)
static void reader_fail(struct reader *reader, weir_status status, const char *format, ...)
{
    if (reader->status != WEIR_OK)
        return;
    reader->status = status;
    char message[WEIR_ERROR_TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    weir_fail(reader->error, status, "%s", message);
    if (reader->line > 0)
        weir_error_wrap(reader->error, "%s:%zu", reader->path, reader->line);
    else
        weir_error_wrap(reader->error, "%s", reader->path);
}

static void reader_header_field(struct reader *reader, const char *text, size_t length)
{
    if (strcmp(text, reader->column) == 0) {
        if (reader->column_index != NO_COLUMN)
            reader_fail(reader, WEIR_EFORMAT, "column '%s' appears twice", reader->column);
        reader->column_index = reader->field;
        return;
    }
    const struct sim_word wanted = { reader->column, strlen(reader->column) };
    if (length > 0 && sim_nearer(wanted, reader->nearest_column, text) == text) {
        char *copy = strdup(text);
        free(reader->nearest_column);
        reader->nearest_column = copy;
    }
}

static bool reader_reserve(struct reader *reader)
{
    if (reader->count < reader->capacity)
        return true;
    const size_t capacity = reader->capacity ? 2 * reader->capacity : FIRST_CAPACITY;
    double *values = realloc(reader->values, capacity * sizeof *values);
    if (!values)
        return false;
    reader->values = values;
    reader->capacity = capacity;
    return true;
}

static void reader_value(struct reader *reader, const char *text, size_t length)
{
    double value = 0.0;
    if (length == 0 || sim_number_scan(text, &value) != length) {
        reader_fail(reader, WEIR_EFORMAT, "column '%s': '%.40s' is not a number", reader->column,
                    text);
        return;
    }
    if (value < 0.0) {
        reader_fail(reader, WEIR_EFORMAT, "column '%s' must be >= 0, got %g", reader->column,
                    value);
        return;
    }
    if (!reader_reserve(reader)) {
        reader_fail(reader, WEIR_ENOMEM, "out of memory");
        return;
    }
    reader->values[reader->count++] = value;
}

static void reader_on_field(void *field, size_t length, void *context)
{
    struct reader *reader = context;
    const char *text = field ? field : "";
    if (strlen(text) != length)
        reader_fail(reader, WEIR_EFORMAT, "field %zu holds a zero byte", reader->field + 1);
    else if (reader->in_header)
        reader_header_field(reader, text, length);
    else if (reader->field == reader->column_index)
        reader_value(reader, text, length);
    reader->field++;
}

static void reader_end_header(struct reader *reader)
{
    reader->in_header = false;
    reader->column_count = reader->field;
    if (reader->column_index != NO_COLUMN)
        return;
    if (reader->nearest_column)
        reader_fail(reader, WEIR_ENOTFOUND, "no column '%s'; did you mean '%s'?", reader->column,
                    reader->nearest_column);
    else
        reader_fail(reader, WEIR_ENOTFOUND, "no column '%s'", reader->column);
}

static void reader_on_row(int terminator, void *context)
{
    (void)terminator;
    struct reader *reader = context;
    if (reader->in_header)
        reader_end_header(reader);
    else if (reader->field != reader->column_count)
        reader_fail(reader, WEIR_EFORMAT, "%zu fields, the header has %zu", reader->field,
                    reader->column_count);
    reader->field = 0;
}

static void reader_feed_line(struct reader *reader, struct csv_parser *parser, const char *line,
                             size_t length)
{
    static const char byte_order_mark[3] = { '\xEF', '\xBB', '\xBF' };
    reader->line++;
    if (reader->line == 1 && length >= sizeof byte_order_mark &&
        memcmp(line, byte_order_mark, sizeof byte_order_mark) == 0) {
        line += sizeof byte_order_mark;
        length -= sizeof byte_order_mark;
    }
    if (csv_parse(parser, line, length, reader_on_field, reader_on_row, reader) != length)
        reader_fail(reader, WEIR_EFORMAT, "%s", csv_strerror(csv_error(parser)));
}

static void reader_feed(struct reader *reader, struct csv_parser *parser, FILE *file)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t length = 0;
    while (reader->status == WEIR_OK && (length = getline(&line, &room, file)) >= 0)
        reader_feed_line(reader, parser, line, (size_t)length);
    free(line);
    if (ferror(file))
        reader_fail(reader, WEIR_EIO, "%s", strerror(errno));
    if (reader->status == WEIR_OK && csv_fini(parser, reader_on_field, reader_on_row, reader) != 0)
        reader_fail(reader, WEIR_EFORMAT, "%s", csv_strerror(csv_error(parser)));
    if (reader->count == 0)
        reader_fail(reader, WEIR_EFORMAT, "column '%s' has no values", reader->column);
}

static void reader_run(struct reader *reader)
{
    FILE *file = fopen(reader->path, "rb");
    if (!file) {
        reader_fail(reader, WEIR_EIO, "%s", strerror(errno));
        return;
    }
    struct csv_parser parser;
    if (csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI | CSV_APPEND_NULL) == 0) {
        reader_feed(reader, &parser, file);
        csv_free(&parser);
    } else {
        reader_fail(reader, WEIR_ENOMEM, "out of memory");
    }
    if (fclose(file) != 0)
        reader_fail(reader, WEIR_EIO, "%s", strerror(errno));
}

static int compare(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Two passes: the sum of squares around the mean does not cancel. */
static void summarise(struct sim_law *law)
{
    const double count = (double)law->value_count;
    double sum = 0.0;
    for (size_t i = 0; i < law->value_count; i++)
        sum += law->values[i];
    law->derived[MEAN] = sum / count;
    double squares = 0.0;
    for (size_t i = 0; i < law->value_count; i++) {
        const double offset = law->values[i] - law->derived[MEAN];
        squares += offset * offset;
    }
    law->derived[VARIANCE] = squares / count;
}

weir_status sim_empirical_load(struct sim_law *law, const char *path, const char *column,
                               struct weir_error *error)
{
    struct reader reader = {
        .path = path,
        .column = column,
        .error = error,
        .column_index = NO_COLUMN,
        .in_header = true,
    };
    reader_run(&reader);
    free(reader.nearest_column);
    if (reader.status != WEIR_OK || !reader.values) {
        free(reader.values);
        return reader.status;
    }
    qsort(reader.values, reader.count, sizeof *reader.values, compare);
    law->values = reader.values;
    law->value_count = reader.count;
    summarise(law);
    return WEIR_OK;
}

static double draw(const struct sim_law *law, struct sim_stream *stream)
{
    const size_t index = (size_t)(sim_stream_uniform(stream) * (double)law->value_count);
    return law->values[index < law->value_count ? index : law->value_count - 1];
}

static double mean(const struct sim_law *law)
{
    return law->derived[MEAN];
}

static double variance(const struct sim_law *law)
{
    return law->derived[VARIANCE];
}

/* Share of values <= x. */
static double cdf(const struct sim_law *law, double x)
{
    size_t low = 0;
    size_t high = law->value_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (law->values[middle] > x)
            high = middle;
        else
            low = middle + 1;
    }
    return (double)low / (double)law->value_count;
}

const struct sim_distribution sim_distribution_empirical = {
    .name = "empirical",
    .summary = "the values of a CSV column, each alike",
    .draw = draw,
    .mean = mean,
    .variance = variance,
    .cdf = cdf,
};
