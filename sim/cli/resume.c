/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Resuming: which runs of a database are complete.
 *
 * The file has to be of the same experiment in all that defines one (identity.h). A run counts when
 * its row says complete, horizon or ended early. Rows of every other run are removed, so that it
 * can be run again.
 */
#include "analysis/database.h"
#include "sim/cli/experiment.h"
#include "sim/cli/identity.h"

#include <sqlite3.h>

static weir_status fail(sqlite3 *db, const char *path, struct weir_error *error)
{
    return weir_fail(error, WEIR_EIO, "%s: %s", path, sqlite3_errmsg(db));
}

static weir_status read_runs(sqlite3 *db, size_t count, bool *is_done)
{
    sqlite3_stmt *row = NULL;
    int code =
        sqlite3_prepare_v2(db, "SELECT run_id FROM run WHERE " SIM_RUN_IS_FINISHED, -1, &row, NULL);
    while (code == SQLITE_OK && (code = sqlite3_step(row)) == SQLITE_ROW) {
        const int64_t run_id = sqlite3_column_int64(row, 0);
        if (run_id >= 1 && (uint64_t)run_id <= count)
            is_done[run_id - 1] = true;
        code = SQLITE_OK;
    }
    (void)sqlite3_finalize(row);
    return code == SQLITE_DONE ? WEIR_OK : WEIR_EIO;
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
    while (result == SQLITE_OK && (result = sqlite3_step(table)) == SQLITE_ROW) {
        char *sql =
            sqlite3_mprintf("DELETE FROM \"%w\" WHERE run_id NOT IN (SELECT run_id FROM kept)",
                            sqlite3_column_text(table, 0));
        result = sqlite3_exec(db, sql, NULL, NULL, NULL);
        sqlite3_free(sql);
    }
    (void)sqlite3_finalize(table);
    return result == SQLITE_DONE ? WEIR_OK : WEIR_EIO;
}

/* All of it or nothing. */
static weir_status keep_finished(sqlite3 *db, bool *is_done, size_t count)
{
    WEIR_TRY(read_runs(db, count, is_done));
    if (sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK)
        return WEIR_EIO;
    WEIR_TRY(remove_rest(db, is_done, count));
    return sqlite3_exec(db, "DELETE FROM expectation; COMMIT", NULL, NULL, NULL) == SQLITE_OK
               ? WEIR_OK
               : WEIR_EIO;
}

weir_status sim_experiment_resume(const struct sim_experiment *experiment,
                                  const struct sim_identity *identity, bool *is_done,
                                  struct weir_error *error)
{
    sqlite3 *db = NULL;
    const size_t count = experiment->variant_count * experiment->replications;
    WEIR_TRY(an_database_open(experiment->path, AN_TO_WRITE, &db, error));
    weir_status status = sim_identity_compare(identity, experiment, db, error);
    if (status == WEIR_OK) {
        status = keep_finished(db, is_done, count);
        if (status != WEIR_OK)
            (void)fail(db, experiment->path, error);
    }
    (void)sqlite3_close(db);
    return status;
}
