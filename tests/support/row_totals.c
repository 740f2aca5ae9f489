/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums of columns; see the header. */
#include "tests/support/row_totals.h"

#include "tests/support/check.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

/* Results come as values of their own; the rest is of the program, not of the run. */
static const char tables[] =
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '%wall%' AND name NOT "
    "IN "
    "('meta', 'experiment', 'input_file', 'result', 'expectation') ORDER BY 1";
/* The sums of all columns of a table in one statement, and what they are called. */
static const char columns[] =
    "SELECT 'SELECT ' || group_concat(printf('total((1 + rowid %% 7) * CASE typeof(\"%w\") WHEN "
    "''text'' THEN 31 * length(\"%w\") + coalesce(unicode(\"%w\"), 0) ELSE \"%w\" END) + "
    "count(\"%w\") AS \"%w.%w\"', name, name, name, name, name, ?1, name), ', ') || "
    "printf(' FROM \"%w\"', ?1) FROM pragma_table_info(?1) WHERE name NOT LIKE '%digest%' AND name "
    "NOT IN ('resolved_yaml', 'run_id', 'experiment_id')";

static sqlite3_stmt *prepare(sqlite3 *database, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    CHECK_I64(sqlite3_prepare_v2(database, sql, -1, &statement, NULL), SQLITE_OK);
    return statement;
}

static void listen_table(sqlite3 *database, const char *table, struct sim_run_summary *summary)
{
    sqlite3_stmt *text = prepare(database, columns);
    (void)sqlite3_bind_text(text, 1, table, -1, SQLITE_STATIC);
    CHECK_I64(sqlite3_step(text), SQLITE_ROW);
    sqlite3_stmt *totals = prepare(database, (const char *)sqlite3_column_text(text, 0));
    CHECK_I64(sqlite3_step(totals), SQLITE_ROW);
    for (int c = 0; c < sqlite3_column_count(totals); c++) {
        const struct sim_result_row row = { .metric = sqlite3_column_name(totals, c),
                                            .label = "",
                                            .unit = "",
                                            .value = sqlite3_column_double(totals, c) };
        test_listen(summary, &row);
    }
    (void)sqlite3_finalize(totals);
    (void)sqlite3_finalize(text);
}

void test_listen_rows(struct sim_run_summary *summary, const char *path)
{
    sqlite3 *database = NULL;
    CHECK_I64(sqlite3_open(path, &database), SQLITE_OK);
    sqlite3_stmt *all = prepare(database, tables);
    while (sqlite3_step(all) == SQLITE_ROW)
        listen_table(database, (const char *)sqlite3_column_text(all, 0), summary);
    (void)sqlite3_finalize(all);
    (void)sqlite3_close(database);
}
