/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table behind trace_csv.h: libcsv in strict mode, fed line by line so that line numbers are
 * known. All texts lie in one block and cells are offsets into it.
 */
#include "workloads/trace_csv.h"

#include "workloads/trace_text.h"

#include <csv.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct wl_trace {
    char *path;
    char *bytes;
    size_t bytes_count, bytes_capacity;
    size_t *cells; /* offsets; row after row, the heading first */
    size_t cells_count, cells_capacity;
    size_t *lines; /* where each row ended, the heading first */
    size_t lines_count, lines_capacity;
    size_t columns;
};

/* What the parser's callbacks see. */
struct reading {
    struct wl_trace *csv;
    size_t line;
    size_t row_first; /* cells before this row */
    weir_status status;
    struct weir_error *error;
};

static bool grow(void **items, size_t *capacity, size_t needed, size_t size)
{
    if (needed <= *capacity)
        return true;
    const size_t wanted = 2 * needed + 64;
    void *larger = realloc(*items, wanted * size);
    if (larger == NULL)
        return false;
    *items = larger;
    *capacity = wanted;
    return true;
}

static void on_cell(void *text, size_t length, void *state)
{
    struct reading *reading = state;
    struct wl_trace *csv = reading->csv;
    void *bytes = csv->bytes;
    void *cells = csv->cells;
    if (reading->status != WEIR_OK)
        return;
    const bool has_room =
        grow(&bytes, &csv->bytes_capacity, csv->bytes_count + length + 1, 1) &&
        grow(&cells, &csv->cells_capacity, csv->cells_count + 1, sizeof *csv->cells);
    csv->bytes = bytes;
    csv->cells = cells;
    if (!has_room) {
        reading->status = weir_fail(reading->error, WEIR_ENOMEM, "out of memory");
        return;
    }
    csv->cells[csv->cells_count++] = csv->bytes_count;
    memcpy(csv->bytes + csv->bytes_count, text, length);
    csv->bytes[csv->bytes_count + length] = '\0';
    csv->bytes_count += length + 1;
}

static void on_row(int end, void *state)
{
    struct reading *reading = state;
    struct wl_trace *csv = reading->csv;
    const size_t count = csv->cells_count - reading->row_first;
    void *lines = csv->lines;
    (void)end;
    if (reading->status != WEIR_OK)
        return;
    if (csv->lines_count == 0)
        csv->columns = count;
    if (count != csv->columns) {
        reading->status = weir_fail(
            reading->error, WEIR_EFORMAT, "%s:%zu:%zu: %zu cells, the heading has %zu", csv->path,
            reading->line, count < csv->columns ? count : csv->columns + 1, count, csv->columns);
        return;
    }
    if (!grow(&lines, &csv->lines_capacity, csv->lines_count + 1, sizeof *csv->lines)) {
        reading->status = weir_fail(reading->error, WEIR_ENOMEM, "out of memory");
        return;
    }
    csv->lines = lines;
    csv->lines[csv->lines_count++] = reading->line;
    reading->row_first = csv->cells_count;
}

static weir_status parse_lines(struct reading *reading, struct wl_text *text,
                               struct csv_parser *parser)
{
    char *line = NULL;
    size_t length = 0;
    for (;;) {
        WEIR_TRY(wl_text_line(text, &line, &length, reading->error));
        if (length == 0)
            break;
        reading->line = wl_text_line_number(text);
        const bool has_mark = reading->line == 1 && strncmp(line, "\xef\xbb\xbf", 3) == 0;
        const size_t skip = has_mark ? 3 : 0;
        if (csv_parse(parser, line + skip, length - skip, on_cell, on_row, reading) !=
            length - skip)
            return weir_fail(reading->error, WEIR_EFORMAT, "%s:%zu:%zu: %s", reading->csv->path,
                             reading->line, reading->csv->cells_count - reading->row_first + 1,
                             csv_strerror(csv_error(parser)));
        WEIR_TRY(reading->status);
    }
    if (csv_fini(parser, on_cell, on_row, reading) != 0)
        return weir_fail(reading->error, WEIR_EFORMAT, "%s:%zu:%zu: a quote is not closed",
                         reading->csv->path, reading->line,
                         reading->csv->cells_count - reading->row_first + 1);
    return reading->status;
}

static weir_status parse(struct wl_trace *csv, struct weir_error *error)
{
    struct reading reading = { .csv = csv, .error = error };
    struct wl_text *text = NULL;
    struct csv_parser parser;
    WEIR_TRY(wl_text_open(csv->path, &text, error));
    if (csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI | CSV_APPEND_NULL) != 0) {
        wl_text_close(text);
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    }
    const weir_status status = parse_lines(&reading, text, &parser);
    csv_free(&parser);
    wl_text_close(text);
    if (status == WEIR_OK && csv->lines_count == 0)
        return weir_fail(error, WEIR_EFORMAT, "%s:1:1: the file is empty, a heading is expected",
                         csv->path);
    return status;
}

weir_status wl_trace_read(const char *path, struct wl_trace **csv, struct weir_error *error)
{
    struct wl_trace *made = calloc(1, sizeof *made);
    if (made == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    made->path = strdup(path);
    const weir_status status =
        made->path == NULL ? weir_fail(error, WEIR_ENOMEM, "out of memory") : parse(made, error);
    if (status != WEIR_OK)
        wl_trace_destroy(made);
    else
        *csv = made;
    return status;
}

void wl_trace_destroy(struct wl_trace *csv)
{
    if (csv == NULL)
        return;
    free(csv->path);
    free(csv->bytes);
    free(csv->cells);
    free(csv->lines);
    free(csv);
}

size_t wl_trace_rows(const struct wl_trace *csv)
{
    return csv->lines_count - 1;
}

static const char *heading(const struct wl_trace *csv, size_t column)
{
    return csv->bytes + csv->cells[column];
}

size_t wl_trace_find(const struct wl_trace *csv, const char *name)
{
    for (size_t c = 0; c < csv->columns; c++)
        if (strcmp(heading(csv, c), name) == 0)
            return c;
    return WL_NO_COLUMN;
}

weir_status wl_trace_column(const struct wl_trace *csv, const char *name, size_t *column,
                            struct weir_error *error)
{
    const size_t found = wl_trace_find(csv, name);
    if (found == WL_NO_COLUMN)
        return weir_fail(error, WEIR_EFORMAT, "%s:1:1: the heading has no column '%s'", csv->path,
                         name);
    *column = found;
    return WEIR_OK;
}

const char *wl_trace_cell(const struct wl_trace *csv, size_t row, size_t column)
{
    return column == WL_NO_COLUMN ? "" : csv->bytes + csv->cells[(row + 1) * csv->columns + column];
}

weir_status wl_trace_fail(const struct wl_trace *csv, size_t row, size_t column,
                          const char *message, struct weir_error *error)
{
    return weir_fail(error, WEIR_EFORMAT, "%s:%zu:%zu: column '%s': %s, found '%.40s' (row %zu)",
                     csv->path, csv->lines[row + 1], column + 1, heading(csv, column), message,
                     wl_trace_cell(csv, row, column), row + 1);
}

weir_status wl_trace_whole(const struct wl_trace *csv, size_t row, size_t column,
                           struct wl_range range, int64_t *value, struct weir_error *error)
{
    const char *cell = wl_trace_cell(csv, row, column);
    char message[96];
    char *end = NULL;
    errno = 0;
    const long long read = strtoll(cell, &end, 10);
    const bool has_digits = cell[0] == '-' ? cell[1] != '\0' : cell[0] != '\0';
    const size_t digits = strspn(cell + (cell[0] == '-' ? 1 : 0), "0123456789");
    if (!has_digits || cell[digits + (cell[0] == '-' ? 1 : 0)] != '\0' || errno == ERANGE)
        return wl_trace_fail(csv, row, column, "expected a whole number", error);
    if (read < range.min || read > range.max) {
        (void)snprintf(message, sizeof message, "expected %lld to %lld", (long long)range.min,
                       (long long)range.max);
        return wl_trace_fail(csv, row, column, message, error);
    }
    *value = read;
    return WEIR_OK;
}
