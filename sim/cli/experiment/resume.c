/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Resuming: which runs of a database are complete.
 *
 * The file has to be of the same experiment in all that defines one (identity.h). A run counts when
 * its row says complete, horizon or ended early. Rows of every other run are removed, so that it
 * can be run again.
 */
#include "analysis/database/database.h"
#include "sim/cli/experiment/experiment.h"
#include "sim/cli/experiment/identity.h"
#include "sim/record/record.h"

#include <errno.h>
#include <sqlite3.h>

/* A file that is gone on with. */
struct old {
    sqlite3 *db;
    const char *path;
    struct weir_error *error;
};

/* SQLite says why until the next call. */
static weir_status fail(const struct old *old)
{
    return weir_fail(old->error, sim_record_status(old->db), "%s: cannot go on with it: %s",
                     old->path, sqlite3_errmsg(old->db));
}

static weir_status execute(const struct old *old, const char *sql)
{
    errno = 0;
    if (sql == NULL)
        return weir_fail(old->error, WEIR_ENOMEM, "out of memory");
    return sqlite3_exec(old->db, sql, NULL, NULL, NULL) == SQLITE_OK ? WEIR_OK : fail(old);
}

static weir_status read_runs(const struct old *old, size_t count, bool *is_done)
{
    sqlite3_stmt *row = NULL;
    int code = sqlite3_prepare_v2(old->db, "SELECT run_id FROM run WHERE " SIM_RUN_IS_FINISHED, -1,
                                  &row, NULL);
    while (code == SQLITE_OK && (code = sqlite3_step(row)) == SQLITE_ROW) {
        const int64_t run_id = sqlite3_column_int64(row, 0);
        if (run_id >= 1 && (uint64_t)run_id <= count)
            is_done[run_id - 1] = true;
        code = SQLITE_OK;
    }
    const weir_status status = code == SQLITE_DONE ? WEIR_OK : fail(old);
    (void)sqlite3_finalize(row);
    return status;
}

static weir_status note_kept(const struct old *old, const bool *is_done, size_t count)
{
    char sql[80];
    WEIR_TRY(execute(old, "CREATE TEMP TABLE kept (run_id INTEGER PRIMARY KEY)"));
    for (size_t i = 0; i < count; i++) {
        (void)sqlite3_snprintf(sizeof sql, sql, "INSERT INTO kept VALUES (%lld)", (long long)i + 1);
        if (is_done[i])
            WEIR_TRY(execute(old, sql));
    }
    return WEIR_OK;
}

/* Every table with a run_id column loses the rows of runs that are to be repeated. */
static weir_status remove_rest(const struct old *old)
{
    sqlite3_stmt *table = NULL;
    weir_status status = WEIR_OK;
    int code = sqlite3_prepare_v2(old->db,
                                  "SELECT m.name FROM sqlite_master m, pragma_table_info(m.name) "
                                  "c WHERE m.type = 'table' AND c.name = 'run_id'",
                                  -1, &table, NULL);
    while (status == WEIR_OK && code == SQLITE_OK && (code = sqlite3_step(table)) == SQLITE_ROW) {
        char *sql =
            sqlite3_mprintf("DELETE FROM \"%w\" WHERE run_id NOT IN (SELECT run_id FROM kept)",
                            sqlite3_column_text(table, 0));
        status = execute(old, sql);
        sqlite3_free(sql);
        code = SQLITE_OK;
    }
    if (status == WEIR_OK && code != SQLITE_DONE)
        status = fail(old);
    (void)sqlite3_finalize(table);
    return status;
}

/* All of it or nothing. */
static weir_status keep_finished(const struct old *old, bool *is_done, size_t count)
{
    WEIR_TRY(read_runs(old, count, is_done));
    WEIR_TRY(execute(old, "BEGIN IMMEDIATE"));
    WEIR_TRY(note_kept(old, is_done, count));
    WEIR_TRY(remove_rest(old));
    return execute(old, "DELETE FROM expectation; COMMIT");
}

weir_status sim_experiment_resume(const struct sim_experiment *experiment,
                                  const struct sim_identity *identity, bool *is_done,
                                  struct weir_error *error)
{
    sqlite3 *db = NULL;
    const size_t count = experiment->variant_count * experiment->replications;
    WEIR_TRY(an_database_open(experiment->path, AN_TO_WRITE, &db, error));
    weir_status status = sim_identity_compare(identity, experiment, db, error);
    const struct old old = { db, experiment->path, error };
    if (status == WEIR_OK)
        status = keep_finished(&old, is_done, count);
    (void)sqlite3_close(db);
    return status;
}
