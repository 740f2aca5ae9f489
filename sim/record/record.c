/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Transactions, pace and closing (record_file.c has the opening). Errors name the file and carry
 * the words of SQLite.
 */
#include "sim/record/record_state.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { COMMIT_ROWS = 100000 };

/* Built when the rows are there: keeping them up to date while loading costs three times as much.
 */
#define INDEXES(X)                                                                                 \
    X("result", "run_id, metric, label")                                                           \
    X("result_wall", "run_id, metric, label")                                                      \
    X("cluster_sample", "run_id, t_s")                                                             \
    X("node_sample", "run_id, node, t_s")                                                          \
    X("link_sample", "run_id, link, t_s")                                                          \
    X("memory_sample", "run_id, node, t_s")                                                        \
    X("power_sample", "run_id, node, t_s")                                                         \
    X("feature_sample", "run_id, t_s")                                                             \
    X("stage_sample", "run_id, stage, t_s")                                                        \
    X("worker", "run_id, stage")                                                                   \
    X("job", "run_id, workload, job")                                                              \
    X("decision", "run_id, decision")                                                              \
    X("decision_stage", "run_id, decision")                                                        \
    X("candidate", "run_id, decision, seq")                                                        \
    X("action", "run_id, decision")                                                                \
    X("histogram", "run_id, metric, label")
#define CREATE_INDEX(table, columns)                                                               \
    "CREATE INDEX IF NOT EXISTS " table "_by_run ON " table " (" columns ");"
#define DROP_INDEX(table, columns) "DROP INDEX IF EXISTS " table "_by_run;"

/* ---- errors, statements, transactions ---- */

bool record_is_full(int system_error)
{
    return system_error == ENOSPC || system_error == EDQUOT || system_error == EFBIG ||
           system_error == ENOMEM;
}

/* Whether another file beside the database has no room either. */
static bool disk_is_full(sqlite3 *database)
{
    static const char page[4096];
    const char *const path = sqlite3_db_filename(database, "main");
    const char *const slash = path == NULL ? NULL : strrchr(path, '/');
    char folder[PATH_MAX];
    if (slash == NULL || slash == path || slash - path >= PATH_MAX)
        return false;
    memcpy(folder, path, (size_t)(slash - path));
    folder[slash - path] = '\0';
    const int file = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    const bool is_full =
        file < 0 ? record_is_full(errno)
                 : write(file, page, sizeof page) < (ssize_t)sizeof page && record_is_full(errno);
    if (file >= 0)
        (void)close(file);
    return is_full;
}

/* SQLite forgets what the system said when a COMMIT fails, or when it cleans up behind a file that
 * it could not make: errno may know it still, or another file tells. */
weir_status sim_record_status(sqlite3 *database)
{
    const int reason = errno;
    const int code = sqlite3_extended_errcode(database);
    const int kind = code & 0xff;
    const bool is_full =
        code == SQLITE_NOMEM || code == SQLITE_IOERR_NOMEM || kind == SQLITE_FULL ||
        ((kind == SQLITE_IOERR || kind == SQLITE_CANTOPEN || kind == SQLITE_READONLY) &&
         (record_is_full(sqlite3_system_errno(database)) || record_is_full(reason) ||
          disk_is_full(database)));
    return is_full ? WEIR_ENOMEM : WEIR_EIO;
}

weir_status record_fail(struct sim_recorder *recorder, const char *what, struct weir_error *error)
{
    recorder->has_failed = true;
    /* After some errors SQLite has ended the transaction itself, and its rows are gone. */
    if (recorder->is_open && sqlite3_get_autocommit(recorder->database) != 0) {
        recorder->is_open = false;
        recorder->has_lost = true;
    }
    return weir_fail(error, sim_record_status(recorder->database), "%s: cannot %s: %s",
                     recorder->path, what, sqlite3_errmsg(recorder->database));
}

weir_status record_execute(struct sim_recorder *recorder, const char *sql, struct weir_error *error)
{
    errno = 0;
    if (sqlite3_exec(recorder->database, sql, NULL, NULL, NULL) != SQLITE_OK)
        return record_fail(recorder, "write", error);
    return WEIR_OK;
}

weir_status record_prepare(struct sim_recorder *recorder, const char *sql, sqlite3_stmt **statement,
                           struct weir_error *error)
{
    if (sqlite3_prepare_v3(recorder->database, sql, -1, SQLITE_PREPARE_PERSISTENT, statement,
                           NULL) != SQLITE_OK)
        return record_fail(recorder, "prepare a statement", error);
    return WEIR_OK;
}

weir_status record_prepare_built(struct sim_recorder *recorder, sqlite3_str *sql,
                                 sqlite3_stmt **statement, struct weir_error *error)
{
    char *text = sqlite3_str_finish(sql);
    const weir_status status = text == NULL ? weir_fail(error, WEIR_ENOMEM, "out of memory")
                                            : record_prepare(recorder, text, statement, error);
    sqlite3_free(text);
    return status;
}

weir_status record_read_integer(struct sim_recorder *recorder, const char *sql, int64_t *value,
                                struct weir_error *error)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(recorder->database, sql, -1, &statement, NULL) != SQLITE_OK ||
        sqlite3_step(statement) != SQLITE_ROW) {
        const weir_status status = record_fail(recorder, "read", error);
        (void)sqlite3_finalize(statement);
        return status;
    }
    *value = sqlite3_column_int64(statement, 0);
    (void)sqlite3_finalize(statement);
    return WEIR_OK;
}

/* The pace of commits is the one thing here that looks at the clock. */
static int64_t wall_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

weir_status record_begin(struct sim_recorder *recorder, struct weir_error *error)
{
    if (recorder->is_open)
        return WEIR_OK;
    WEIR_TRY(record_execute(recorder, "BEGIN IMMEDIATE", error));
    recorder->is_open = true;
    recorder->rows = 0;
    recorder->commit_due_ns = wall_ns() + INT64_C(1000000000);
    return WEIR_OK;
}

weir_status record_commit(struct sim_recorder *recorder, struct weir_error *error)
{
    if (!recorder->is_open)
        return WEIR_OK;
    WEIR_TRY(record_execute(recorder, "COMMIT", error));
    recorder->is_open = false;
    return WEIR_OK;
}

weir_status record_step(struct sim_recorder *recorder, sqlite3_stmt *statement, uint32_t rows,
                        struct weir_error *error)
{
    WEIR_TRY(record_begin(recorder, error));
    const int code = sqlite3_step(statement);
    if (code != SQLITE_DONE) {
        const weir_status status = record_fail(recorder, "write", error);
        (void)sqlite3_reset(statement); /* repeats the error that was reported */
        return status;
    }
    (void)sqlite3_reset(statement);
    recorder->rows += rows;
    if (recorder->rows >= COMMIT_ROWS || wall_ns() >= recorder->commit_due_ns)
        return record_commit(recorder, error);
    return WEIR_OK;
}

/* ---- loading and closing ---- */

weir_status record_set_synchronous(struct sim_recorder *recorder, bool is_full,
                                   struct weir_error *error)
{
    const bool waits_later = recorder->is_fleeting || recorder->is_shard;
    return record_execute(recorder,
                          waits_later ? "PRAGMA main.synchronous = OFF"
                          : is_full   ? "PRAGMA main.synchronous = FULL"
                                      : "PRAGMA main.synchronous = NORMAL",
                          error);
}

weir_status sim_recorder_make_fleeting(struct sim_recorder *recorder, struct weir_error *error)
{
    if (recorder == NULL)
        return WEIR_OK;
    recorder->is_fleeting = true;
    return recorder->is_open ? WEIR_OK : record_set_synchronous(recorder, false, error);
}

weir_status record_prepare_loading(struct sim_recorder *recorder, struct weir_error *error)
{
    WEIR_TRY(record_execute(recorder, "PRAGMA journal_mode = WAL", error));
    WEIR_TRY(record_set_synchronous(recorder, false, error));
    return record_execute(recorder, INDEXES(DROP_INDEX), error);
}

void record_finalize_statements(struct sim_recorder *recorder)
{
    for (size_t i = 0; i < RECORD_KINDS; i++) {
        (void)sqlite3_finalize(recorder->statements[i]);
        recorder->statements[i] = NULL;
    }
    record_close_samples(recorder);
}

weir_status sim_recorder_finish(struct sim_recorder *recorder, struct weir_error *error)
{
    WEIR_TRY(record_publish(recorder, error));
    WEIR_TRY(record_flush_samples(recorder, error));
    WEIR_TRY(record_commit(recorder, error));
    if (recorder->is_shard) /* it is read once, from its beginning to its end */
        return WEIR_OK;
    return record_execute(recorder, INDEXES(CREATE_INDEX) "PRAGMA optimize;", error);
}

/* One file again. While somebody reads along it stays in WAL mode. */
static weir_status leave_log(struct sim_recorder *recorder, struct weir_error *error)
{
    (void)sqlite3_busy_timeout(recorder->database, 0);
    const int code =
        0xff & sqlite3_exec(recorder->database, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
    if (code == SQLITE_OK || code == SQLITE_BUSY || code == SQLITE_LOCKED)
        return WEIR_OK;
    return record_fail(recorder, "end the log", error);
}

weir_status sim_recorder_close(struct sim_recorder *recorder, struct weir_error *error)
{
    if (!recorder)
        return WEIR_OK;
    /* What has no name yet and could not be written gets none. */
    weir_status status = recorder->temporary != NULL && recorder->has_failed
                             ? WEIR_EIO
                             : sim_recorder_finish(recorder, error);
    if (recorder->is_open && sqlite3_exec(recorder->database, "COMMIT", NULL, NULL, NULL) !=
                                 SQLITE_OK) /* after an error: what can be kept is kept */
        (void)sqlite3_exec(recorder->database, "ROLLBACK", NULL, NULL, NULL);
    record_finalize_statements(recorder);
    if (recorder->database != NULL && recorder->temporary == NULL) {
        weir_status left = leave_log(recorder, status == WEIR_OK ? error : NULL);
        status = status == WEIR_OK ? left : status;
        left = record_let_go(recorder, status == WEIR_OK ? error : NULL);
        status = status == WEIR_OK ? left : status;
    }
    if (status == WEIR_OK && recorder->has_lost)
        status = weir_fail(error, WEIR_EIO, "%s: rows could not be written", recorder->path);
    record_discard(recorder);
    return status;
}
