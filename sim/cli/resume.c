/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Resuming: which runs of a database are complete.
 *
 * A run counts when its row says complete, horizon or ended early and it ran the same resolved
 * scenario with the same seed. Rows of every other run are removed, so that it can be run again.
 */
#include "sim/cli/experiment.h"

#include <sqlite3.h>
#include <stdlib.h>

static weir_status fail(sqlite3 *db, const char *path, struct weir_error *error)
{
    return weir_fail(error, WEIR_EIO, "%s: %s", path, sqlite3_errmsg(db));
}

static uint64_t hex(sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);
    return text == NULL ? 0 : strtoull(text, NULL, 16);
}

static bool is_same(sqlite3_stmt *row, const struct sim_experiment *experiment)
{
    const int64_t run_id = sqlite3_column_int64(row, 0);
    const size_t count = experiment->variant_count * experiment->replications;
    if (run_id < 1 || (size_t)run_id > count)
        return false;
    const size_t variant = (size_t)(run_id - 1) / experiment->replications;
    return hex(row, 1) == experiment->scenarios[variant]->digest;
}

static weir_status read_runs(sqlite3 *db, const struct sim_experiment *experiment, bool *is_done)
{
    sqlite3_stmt *row = NULL;
    if (sqlite3_prepare_v2(db,
                           "SELECT run_id, scenario_digest FROM run "
                           "WHERE status IN ('complete', 'horizon', '" SIM_ENDED_EARLY "')",
                           -1, &row, NULL) != SQLITE_OK)
        return WEIR_EIO;
    while (sqlite3_step(row) == SQLITE_ROW)
        if (is_same(row, experiment))
            is_done[sqlite3_column_int64(row, 0) - 1] = true;
    (void)sqlite3_finalize(row);
    return WEIR_OK;
}

/* Every table with a run_id column loses the rows of runs that are to be repeated. */
static weir_status remove_rest(sqlite3 *db, const bool *is_done, size_t count)
{
    sqlite3_stmt *table = NULL;
    int result =
        sqlite3_exec(db, "CREATE TEMP TABLE kept (run_id INTEGER PRIMARY KEY)", NULL, NULL, NULL);
    for (size_t i = 0; i < count && result == SQLITE_OK; i++) {
        char *sql = sqlite3_mprintf("INSERT INTO kept VALUES (%lld)", (long long)i + 1);
        if (is_done[i])
            result = sqlite3_exec(db, sql, NULL, NULL, NULL);
        sqlite3_free(sql);
    }
    if (result == SQLITE_OK)
        result = sqlite3_prepare_v2(db,
                                    "SELECT m.name FROM sqlite_master m, pragma_table_info(m.name) "
                                    "c WHERE m.type = 'table' AND c.name = 'run_id'",
                                    -1, &table, NULL);
    while (result == SQLITE_OK && sqlite3_step(table) == SQLITE_ROW) {
        char *sql =
            sqlite3_mprintf("DELETE FROM \"%w\" WHERE run_id NOT IN (SELECT run_id FROM kept)",
                            sqlite3_column_text(table, 0));
        result = sqlite3_exec(db, sql, NULL, NULL, NULL);
        sqlite3_free(sql);
    }
    (void)sqlite3_finalize(table);
    return result == SQLITE_OK ? WEIR_OK : WEIR_EIO;
}

weir_status sim_experiment_resume(struct sim_experiment *experiment, bool *is_done,
                                  struct weir_error *error)
{
    sqlite3 *db = NULL;
    const size_t count = experiment->variant_count * experiment->replications;
    if (sqlite3_open_v2(experiment->path, &db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK) {
        const weir_status status = fail(db, experiment->path, error);
        (void)sqlite3_close(db);
        return status;
    }
    weir_status status = read_runs(db, experiment, is_done);
    if (status == WEIR_OK)
        status = remove_rest(db, is_done, count);
    if (status == WEIR_OK &&
        sqlite3_exec(db, "DELETE FROM expectation", NULL, NULL, NULL) != SQLITE_OK)
        status = WEIR_EIO;
    if (status == WEIR_EIO)
        (void)fail(db, experiment->path, error);
    (void)sqlite3_close(db);
    return status;
}
