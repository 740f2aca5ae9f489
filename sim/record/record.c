/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The file: creating, opening, transactions, closing.
 *
 * A new file is made as PATH.new with its schema, closed so that no -wal file belongs to it, and
 * takes its name only then; write-ahead logging is on from the start. Errors name the file and
 * carry the words of SQLite.
 */
#include "sim/record/record_state.h"

#include "weir_text.h"

#include <assert.h>
#include <errno.h>
#include <gsl/gsl_version.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    APPLICATION_ID = 0x77656972, /* "weir" */
    COMMIT_ROWS = 100000,
    BUSY_MS = 10000
};

static const char RNG_NAME[] = "philox4x32-10";

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
    X("stage_sample", "run_id, stage, t_s")                                                        \
    X("worker", "run_id, stage")                                                                   \
    X("decision", "run_id, decision")                                                              \
    X("decision_stage", "run_id, decision")                                                        \
    X("candidate", "run_id, decision, seq")                                                        \
    X("action", "run_id, decision")                                                                \
    X("histogram", "run_id, metric, label")
#define CREATE_INDEX(table, columns)                                                               \
    "CREATE INDEX IF NOT EXISTS " table "_by_run ON " table " (" columns ");"
#define DROP_INDEX(table, columns) "DROP INDEX IF EXISTS " table "_by_run;"

/* ---- errors, statements, transactions ---- */

weir_status record_fail(struct sim_recorder *recorder, const char *what, struct weir_error *error)
{
    return weir_fail(error, WEIR_EIO, "%s: cannot %s: %s", recorder->path, what,
                     sqlite3_errmsg(recorder->database));
}

weir_status record_execute(struct sim_recorder *recorder, const char *sql, struct weir_error *error)
{
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

/* ---- opening ---- */

/* What lies at a path. */
enum found { FOUND_NOTHING, FOUND_EMPTY, FOUND_WEIR, FOUND_OTHER };

static enum found look_at(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return errno == ENOENT ? FOUND_NOTHING : FOUND_OTHER;
    unsigned char head[72] = { 0 };
    const size_t length = fread(head, 1, sizeof head, file);
    const bool is_broken = ferror(file) != 0; /* a directory, for example */
    (void)fclose(file);
    if (is_broken)
        return FOUND_OTHER;
    if (length == 0)
        return FOUND_EMPTY;
    /* Bytes 68..71 of a database are its application id, big-endian. */
    const bool is_weir = length == sizeof head && memcmp(head, "SQLite format 3", 16) == 0 &&
                         memcmp(head + 68, "weir", 4) == 0;
    return is_weir ? FOUND_WEIR : FOUND_OTHER;
}

static weir_status check_target(const char *path, bool overwrite, struct weir_error *error)
{
    switch (look_at(path)) {
    case FOUND_NOTHING:
    case FOUND_EMPTY:
        return WEIR_OK;
    case FOUND_WEIR:
        if (overwrite)
            return WEIR_OK;
        return weir_fail(error, WEIR_EIO, "%s: exists already and holds results", path);
    case FOUND_OTHER:
        break;
    }
    return weir_fail(error, WEIR_EIO, "%s: exists and is not a result database; not touched", path);
}

static weir_status connect(struct sim_recorder *recorder, const char *path, int flags,
                           struct weir_error *error)
{
    const int code = sqlite3_open_v2(path, &recorder->database, flags | SQLITE_OPEN_NOMUTEX, NULL);
    if (code != SQLITE_OK)
        return record_fail(recorder, "open the database", error);
    (void)sqlite3_extended_result_codes(recorder->database, 1);
    (void)sqlite3_busy_timeout(recorder->database, BUSY_MS);
    return WEIR_OK;
}

static weir_status write_meta(struct sim_recorder *recorder, struct weir_error *error)
{
    char version[16];
    char model[16];
    (void)snprintf(model, sizeof model, "%d", SIM_RECORD_MODEL_VERSION);
    (void)snprintf(version, sizeof version, "%d", SIM_RECORD_SCHEMA_VERSION);
    const char *const rows[][2] = {
        { "schema_version", version },
        { "model_version", model },
        { "weir_version", WEIR_VERSION },
        { "sqlite_version", sqlite3_libversion() },
        { "gsl_version", gsl_version },
        { "rng", RNG_NAME },
        { "samples", "time-weighted means of [t_s, t_s + dt_s), exact" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        WEIR_TRY(sim_recorder_meta(recorder, rows[i][0], rows[i][1], error));
    return WEIR_OK;
}

static char *path_with(const char *path, const char *suffix)
{
    char *text = malloc(strlen(path) + strlen(suffix) + 1);
    if (text)
        (void)stpcpy(stpcpy(text, path), suffix);
    return text;
}

static void remove_with(const char *path, const char *suffix)
{
    char *name = path_with(path, suffix);
    if (name)
        (void)unlink(name); /* mostly not there */
    free(name);
}

static void finalize_statements(struct sim_recorder *recorder)
{
    for (size_t i = 0; i < RECORD_KINDS; i++) {
        (void)sqlite3_finalize(recorder->statements[i]);
        recorder->statements[i] = NULL;
    }
    record_close_samples(recorder);
}

static void disconnect(struct sim_recorder *recorder)
{
    finalize_statements(recorder);
    (void)sqlite3_close(recorder->database);
    recorder->database = NULL;
    recorder->is_open = false;
}

/* PATH.new with schema and meta rows. */
static weir_status write_schema(struct sim_recorder *recorder, const char *temporary,
                                struct weir_error *error)
{
    WEIR_TRY(connect(recorder, temporary, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, error));
    WEIR_TRY(record_begin(recorder, error));
    WEIR_TRY(record_execute(recorder, weir_text_schema_sql, error));
    WEIR_TRY(write_meta(recorder, error));
    WEIR_TRY(record_commit(recorder, error));
    /* Before the file has its name: a kill while the mode changes leaves a journal that only a
     * writer could roll back. Closing takes the empty log away. */
    return record_execute(recorder, "PRAGMA journal_mode = WAL", error);
}

static weir_status create_file(struct sim_recorder *recorder, struct weir_error *error)
{
    char *temporary = path_with(recorder->path, ".new");
    if (!temporary)
        return weir_fail(error, WEIR_ENOMEM, "%s: out of memory", recorder->path);
    remove_with(temporary, "");
    remove_with(temporary, "-journal");
    remove_with(temporary, "-wal");
    remove_with(temporary, "-shm");
    weir_status status = write_schema(recorder, temporary, error);
    disconnect(recorder);
    if (status == WEIR_OK) {
        /* A log that a killed run left would be replayed into the new file. */
        remove_with(recorder->path, "-wal");
        remove_with(recorder->path, "-shm");
        remove_with(recorder->path, "-journal");
        if (rename(temporary, recorder->path) != 0)
            status = weir_fail(error, WEIR_EIO, "%s: cannot rename %s to it: %s", recorder->path,
                               temporary, strerror(errno));
    }
    if (status != WEIR_OK)
        (void)unlink(temporary);
    free(temporary);
    return status;
}

static weir_status check_schema(struct sim_recorder *recorder, struct weir_error *error)
{
    int64_t application = 0;
    int64_t version = 0;
    WEIR_TRY(record_read_integer(recorder, "PRAGMA application_id", &application, error));
    WEIR_TRY(record_read_integer(recorder, "PRAGMA user_version", &version, error));
    if (application != APPLICATION_ID)
        return weir_fail(error, WEIR_EIO, "%s: is not a result database", recorder->path);
    if (version != SIM_RECORD_SCHEMA_VERSION)
        return weir_fail(error, WEIR_EIO,
                         "%s: has schema version %" PRId64 ", this program writes %d; runs can "
                         "only be added to files of that version",
                         recorder->path, version, SIM_RECORD_SCHEMA_VERSION);
    return WEIR_OK;
}

static weir_status start_writing(struct sim_recorder *recorder, struct weir_error *error)
{
    WEIR_TRY(connect(recorder, recorder->path, SQLITE_OPEN_READWRITE, error));
    WEIR_TRY(check_schema(recorder, error));
    WEIR_TRY(record_execute(
        recorder, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;" INDEXES(DROP_INDEX),
        error));
    return record_read_integer(recorder, "SELECT coalesce(max(experiment_id), 0) FROM experiment",
                               &recorder->experiment_id, error);
}

static weir_status make(const char *path, struct sim_recorder **recorder, struct weir_error *error)
{
    struct sim_recorder *made = calloc(1, sizeof *made);
    char *copy = strdup(path);
    if (!made || !copy) {
        free(made);
        free(copy);
        return weir_fail(error, WEIR_ENOMEM, "%s: out of memory", path);
    }
    made->path = copy;
    *recorder = made;
    return WEIR_OK;
}

static void discard(struct sim_recorder *recorder)
{
    disconnect(recorder);
    free(recorder->denials);
    free(recorder->path);
    free(recorder);
}

static weir_status open_file(const char *path, bool is_new, struct sim_recorder **recorder,
                             struct weir_error *error)
{
    struct sim_recorder *made = NULL;
    WEIR_TRY(make(path, &made, error));
    assert(made != NULL);
    weir_status status = is_new ? create_file(made, error) : WEIR_OK;
    if (status == WEIR_OK)
        status = start_writing(made, error);
    if (status != WEIR_OK) {
        discard(made);
        return status;
    }
    *recorder = made;
    return WEIR_OK;
}

weir_status sim_recorder_open(const char *path, bool overwrite, struct sim_recorder **recorder,
                              struct weir_error *error)
{
    WEIR_TRY(check_target(path, overwrite, error));
    return open_file(path, true, recorder, error);
}

weir_status sim_recorder_append(const char *path, struct sim_recorder **recorder,
                                struct weir_error *error)
{
    return open_file(path, false, recorder, error);
}

/* ---- closing ---- */

weir_status sim_recorder_finish(struct sim_recorder *recorder, struct weir_error *error)
{
    WEIR_TRY(record_flush_samples(recorder, error));
    WEIR_TRY(record_commit(recorder, error));
    WEIR_TRY(record_execute(recorder, INDEXES(CREATE_INDEX) "PRAGMA optimize;", error));
    return WEIR_OK;
}

weir_status sim_recorder_close(struct sim_recorder *recorder, struct weir_error *error)
{
    if (!recorder)
        return WEIR_OK;
    const weir_status status = sim_recorder_finish(recorder, error);
    if (recorder->is_open && sqlite3_exec(recorder->database, "COMMIT", NULL, NULL, NULL) !=
                                 SQLITE_OK) /* after an error: what can be kept is kept */
        (void)sqlite3_exec(recorder->database, "ROLLBACK", NULL, NULL, NULL);
    finalize_statements(recorder);
    /* While somebody reads along the file stays in WAL mode. */
    (void)sqlite3_busy_timeout(recorder->database, 0);
    (void)sqlite3_exec(recorder->database, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
    discard(recorder);
    return status;
}
