/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Measured service times: see the header. The files are small and plain; quotes are not supported
 * and refused.
 */
#include "sim/scenario/read/service_table.h"

#include "sim/scenario/read/input_file.h"

#include <string.h>

enum { MOST_COLUMNS = 16 };

enum column { COLUMN_GPU, COLUMN_BATCH, COLUMN_SIZE, COLUMN_SECONDS, COLUMN_COUNT };

struct table_reader {
    struct sim_resolver *resolver;
    const struct sim_yaml *at;
    const char *path;
    int line;
    int columns[COLUMN_COUNT]; /* position, -1 = not there */
    struct sim_service *service;
};

/* Cuts a line at its commas, blanks around cells dropped. */
static size_t split(char *line, char **cells)
{
    size_t count = 0;
    char *rest = line;
    for (char *cell = strsep(&rest, ","); cell != NULL && count < MOST_COLUMNS;
         cell = strsep(&rest, ",")) {
        cell += strspn(cell, " \t");
        size_t length = strlen(cell);
        while (length > 0 && strchr(" \t\r", cell[length - 1]) != NULL)
            cell[--length] = '\0';
        cells[count++] = cell;
    }
    return count;
}

static bool fail(const struct table_reader *reader, const char *what, const char *found)
{
    return sim_report_error(reader->resolver->report, reader->at, "%s:%d: %s%s%s%s", reader->path,
                            reader->line, what, found == NULL ? "" : ", found '",
                            found == NULL ? "" : found, found == NULL ? "" : "'");
}

static bool read_heading(struct table_reader *reader, char *line)
{
    static const char *const names[] = { "gpu_type", "batch", "size", "seconds" };
    char *cells[MOST_COLUMNS];
    const size_t count = split(line, cells);
    for (int column = 0; column < COLUMN_COUNT; column++) {
        reader->columns[column] = -1;
        for (size_t i = 0; i < count; i++)
            if (strcmp(cells[i], names[column]) == 0)
                reader->columns[column] = (int)i;
    }
    if (reader->columns[COLUMN_SECONDS] < 0)
        return fail(reader, "the heading has no column 'seconds'", NULL);
    return true;
}

static const char *cell_at(const struct table_reader *reader, char **cells, size_t count,
                           enum column column)
{
    const int position = reader->columns[column];
    return position < 0 || (size_t)position >= count ? "" : cells[position];
}

static bool read_cell(const struct table_reader *reader, const char *text, double *value)
{
    struct weir_error error = { .phase = -1 };
    if (text[0] == '\0')
        return true;
    if (sim_quantity_parse(text, SIM_UNIT_NONE, value, &error) != WEIR_OK || *value <= 0)
        return fail(reader, "expected a number > 0", text);
    return true;
}

static bool read_row(struct table_reader *reader, char *line)
{
    char *cells[MOST_COLUMNS];
    const size_t count = split(line, cells);
    struct sim_service *service = reader->service;
    struct sim_service_point point = { .gpu_type = WEIR_NO_INDEX, .batch = 1, .size = 1 };
    const char *gpu = cell_at(reader, cells, count, COLUMN_GPU);
    if (gpu[0] != '\0') {
        point.gpu_type = sim_resolve_gpu_type(reader->resolver, reader->at, gpu);
        if (point.gpu_type == WEIR_NO_INDEX)
            return false;
    }
    if (!read_cell(reader, cell_at(reader, cells, count, COLUMN_BATCH), &point.batch) ||
        !read_cell(reader, cell_at(reader, cells, count, COLUMN_SIZE), &point.size) ||
        !read_cell(reader, cell_at(reader, cells, count, COLUMN_SECONDS), &point.seconds))
        return false;
    if (point.seconds <= 0)
        return fail(reader, "the row has no seconds", NULL);
    service->table = sim_arena_grow(reader->resolver->arena, service->table, service->table_count,
                                    sizeof *service->table);
    service->table[service->table_count++] = point;
    return true;
}

void sim_service_table_read(struct sim_resolver *resolver, const struct sim_yaml *at,
                            const char *path, struct sim_service *service)
{
    struct table_reader reader = {
        .resolver = resolver, .at = at, .path = path, .service = service
    };
    struct weir_error error = { .phase = -1 };
    size_t length = 0;
    char *text =
        sim_input_file_read(resolver->arena, resolver->reader->folder, path, &length, &error);
    if (text == NULL) {
        sim_report_error(resolver->report, at, "%s", error.text);
        return;
    }
    sim_reader_add_file(resolver->reader, path);
    char *rest = text;
    bool is_good = true;
    for (char *line = strsep(&rest, "\n"); line != NULL && is_good; line = strsep(&rest, "\n")) {
        reader.line++;
        if (strchr(line, '"') != NULL)
            is_good = fail(&reader, "quotes are not supported", NULL);
        else if (reader.line == 1)
            is_good = read_heading(&reader, line);
        else if (line[strspn(line, " \t\r")] != '\0')
            is_good = read_row(&reader, line);
    }
    if (is_good && service->table_count == 0)
        fail(&reader, "the table has no rows", NULL);
}
