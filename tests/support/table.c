/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CSV files in memory; see the header. */
#include "tests/support/table.h"

#include "workloads/csv_table.h"

#include <stdlib.h>
#include <string.h>

static weir_status add_cells(struct test_table *table, const char *const *cells,
                             struct weir_error *error)
{
    const size_t count = (table->rows + 1) * table->columns;
    if (count > table->capacity) {
        char **grown = realloc(table->cells, 2 * count * sizeof *grown);
        if (grown == NULL)
            return weir_fail(error, WEIR_ENOMEM, "out of memory");
        table->cells = grown;
        table->capacity = 2 * count;
    }
    for (size_t c = 0; c < table->columns; c++)
        table->cells[table->rows * table->columns + c] = strdup(cells[c] == NULL ? "" : cells[c]);
    table->rows++;
    return WEIR_OK;
}

static weir_status add_names(void *state, const char *const *names, size_t count,
                             struct weir_error *error)
{
    struct test_table *table = state;
    table->columns = count;
    return add_cells(table, names, error);
}

static weir_status add_row(void *state, const struct wl_csv_row *row, struct weir_error *error)
{
    return add_cells(state, row->cells, error);
}

weir_status test_table_read(const char *path, struct test_table *table, struct weir_error *error)
{
    const struct wl_csv_options options = { .path = path };
    const struct wl_csv_sink sink = { .row = add_row, .names = add_names, .state = table };
    struct wl_csv_counts counts = { 0 };
    *table = (struct test_table){ .rows = 0 };
    WEIR_TRY(wl_csv_read(&options, &sink, &counts, error));
    table->rows = counts.rows;
    return WEIR_OK;
}

void test_table_clear(struct test_table *table)
{
    for (size_t i = 0; table->cells != NULL && i < (table->rows + 1) * table->columns; i++)
        free(table->cells[i]);
    free(table->cells);
    *table = (struct test_table){ .rows = 0 };
}

const char *test_table_cell(const struct test_table *table, size_t row, const char *column)
{
    for (size_t c = 0; c < table->columns; c++)
        if (strcmp(table->cells[c], column) == 0)
            return table->cells[(row + 1) * table->columns + c];
    return "";
}
