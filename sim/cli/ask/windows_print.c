/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Windows on paper; see the header. */
#include "sim/cli/ask/windows_print.h"

#include "analysis/windows.h"

#include <math.h>
#include <string.h>

enum { FIXED = 2, MOST_COLUMNS = FIXED + AN_WINDOWS_MOST, HEADER = 200 };

/* "outage, 11:03:00 to 11:43:00": where the windows lie stands in the heading. */
static void name_columns(const struct an_windows *windows, int64_t start_unix_s,
                         struct sim_column *columns, char (*headers)[HEADER])
{
    columns[0] = (struct sim_column){ "metric", "metric", NULL, false, false };
    columns[1] = (struct sim_column){ "variant", "variant", NULL, false, false };
    for (size_t w = 0; w < windows->count; w++) {
        (void)snprintf(headers[w], HEADER, "%s, %s", windows->list[w].name,
                       an_window_span_text(&windows->list[w], start_unix_s).text);
        columns[FIXED + w] =
            (struct sim_column){ headers[w], windows->list[w].name, NULL, false, false };
    }
}

static void add_rows(struct sim_table *table, const struct an_comparison *comparison,
                     const struct an_windows *windows, const struct an_run *run, bool is_dense)
{
    struct an_window_row row;
    for (size_t i = 0; an_windows_row(comparison, windows, i, &row); i++)
        for (size_t v = 0; v < comparison->variant_count; v++) {
            sim_table_add(table, v == 0 || is_dense ? row.label : "");
            sim_table_add(table, comparison->variants[v]);
            for (size_t w = 0; w < windows->count; w++) {
                const struct an_window_cell cell =
                    an_window_cell_of(row.by_window[w], v, run->start_unix_s);
                sim_table_addf(table, "%s%s%s", cell.text, cell.verdict[0] == '\0' ? "" : " ",
                               cell.verdict);
            }
        }
}

static void print_table(const struct an_comparison *comparison, const struct an_windows *windows,
                        const struct an_run *run, enum sim_format format, FILE *out)
{
    struct sim_column columns[MOST_COLUMNS];
    char headers[AN_WINDOWS_MOST][HEADER];
    name_columns(windows, run->start_unix_s, columns, headers);
    struct sim_table *table = sim_table_create(columns, FIXED + windows->count);
    add_rows(table, comparison, windows, run, format == SIM_FORMAT_MD);
    (void)fputs(format == SIM_FORMAT_MD ? "\nBy window:\n\n" : "\nby window\n", out);
    sim_table_print(table, format, out);
    sim_table_destroy(table);
    (void)fputs("Latency and waits are of what came in the window, all else of what happened in it",
                out);
    (void)fputs(comparison->variant_count > 1 ? "; better and worse: than the baseline.\n" : ".\n",
                out);
}

weir_status sim_windows_print(struct an_db *db, const struct an_comparison *comparison,
                              enum sim_format format, FILE *out, struct weir_error *error)
{
    struct an_windows windows;
    struct an_run *run = NULL;
    WEIR_TRY(an_windows_read(db, &windows, error));
    if (windows.count == 0 || format == SIM_FORMAT_JSON || format == SIM_FORMAT_CSV)
        return WEIR_OK;
    WEIR_TRY(an_run_find(db, comparison->variants[comparison->baseline], 0, &run, error));
    struct an_window_row first;
    if (an_windows_row(comparison, &windows, 0, &first))
        print_table(comparison, &windows, run, format, out);
    an_run_destroy(run);
    return WEIR_OK;
}

weir_status sim_windows_print_file(const char *path, enum sim_format format, FILE *out,
                                   struct weir_error *error)
{
    struct an_db *db = NULL;
    struct an_comparison *comparison = NULL;
    WEIR_TRY(an_open(path, &db, error));
    weir_status status = an_compare(db, NULL, &comparison, error);
    if (status == WEIR_OK)
        status = sim_windows_print(db, comparison, format, out, error);
    an_comparison_destroy(comparison);
    an_close(db);
    return status == WEIR_EINVAL ? WEIR_OK : status; /* interrupted: nothing to compare */
}
