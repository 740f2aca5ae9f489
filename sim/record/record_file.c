/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The file: what lies at its name, and how a new one comes into being.
 *
 * A new file is PATH.new until its first run is announced: schema, facts and experiment are written
 * there, the log mode is set, and it takes its name in one step. So a file of that name always says
 * what it is of, whenever its writer is killed. It is never readable for more people than the file
 * it replaces, and no symbolic link is followed. Errors name the file and carry the words of
 * SQLite.
 */
#include "sim/record/record_state.h"

#include "weir_text.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <gsl/gsl_version.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    APPLICATION_ID = 0x77656972, /* "weir" */
    BUSY_MS = 10000
};

static const char RNG_NAME[] = "philox4x32-10";

/* ---- what is there ---- */

enum found { FOUND_NOTHING, FOUND_EMPTY, FOUND_WEIR, FOUND_NEWER, FOUND_LINK, FOUND_OTHER };

/* Of a database: the application id is in bytes 68..71, the version in 60..63, big-endian. */
static enum found read_head(FILE *file)
{
    unsigned char head[72] = { 0 };
    const size_t length = fread(head, 1, sizeof head, file);
    if (ferror(file) != 0)
        return FOUND_OTHER;
    if (length == 0)
        return FOUND_EMPTY;
    if (length < sizeof head || memcmp(head, "SQLite format 3", 16) != 0 ||
        memcmp(head + 68, "weir", 4) != 0)
        return FOUND_OTHER;
    const bool is_small = head[60] == 0 && head[61] == 0 && head[62] == 0;
    return is_small && head[63] <= SIM_RECORD_SCHEMA_VERSION ? FOUND_WEIR : FOUND_NEWER;
}

static enum found look_at(const char *path)
{
    struct stat there;
    if (lstat(path, &there) != 0)
        return errno == ENOENT ? FOUND_NOTHING : FOUND_OTHER;
    if (!S_ISREG(there.st_mode))
        return S_ISLNK(there.st_mode) ? FOUND_LINK : FOUND_OTHER;
    FILE *file = fopen(path, "rb");
    const enum found found = file == NULL ? FOUND_OTHER : read_head(file);
    if (file != NULL)
        (void)fclose(file);
    return found;
}

static weir_status refuse_link(const char *path, struct weir_error *error)
{
    return weir_fail(error, WEIR_EIO, "%s: is a symbolic link; name the file itself", path);
}

weir_status record_check_target(const char *path, bool overwrite, struct weir_error *error)
{
    switch (look_at(path)) {
    case FOUND_NOTHING:
    case FOUND_EMPTY:
        return WEIR_OK;
    case FOUND_WEIR:
        if (overwrite)
            return WEIR_OK;
        return weir_fail(error, WEIR_EIO, "%s: exists already and holds results", path);
    case FOUND_NEWER:
        return weir_fail(error, WEIR_EIO,
                         "%s: was written by a newer program (schema versions up to %d are known "
                         "here); not touched",
                         path, SIM_RECORD_SCHEMA_VERSION);
    case FOUND_LINK:
        return refuse_link(path, error);
    case FOUND_OTHER:
        break;
    }
    return weir_fail(error, WEIR_EIO, "%s: exists and is not a result database; not touched", path);
}

/* ---- names ---- */

static char *path_with(const char *path, const char *suffix)
{
    char *text = malloc(strlen(path) + strlen(suffix) + 1);
    if (text)
        (void)stpcpy(stpcpy(text, path), suffix);
    return text;
}

/* A log that a killed run left would be replayed into a new file of the name. */
static void remove_logs(const char *path)
{
    static const char *const suffixes[] = { "-journal", "-wal", "-shm" };
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        char *name = path_with(path, suffixes[i]);
        if (name)
            (void)unlink(name); /* mostly not there */
        free(name);
    }
}

void sim_record_remove(const char *path)
{
    remove_logs(path);
    (void)unlink(path);
}

/* What a program that was killed while it made the file left. */
static void remove_half_made(const char *path)
{
    char *name = path_with(path, ".new");
    if (name)
        sim_record_remove(name);
    free(name);
}

/* ---- connections ---- */

weir_status record_connect(struct sim_recorder *recorder, const char *path,
                           struct weir_error *error)
{
    const int code = sqlite3_open_v2(path, &recorder->database,
                                     SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (code != SQLITE_OK)
        return record_fail(recorder, "open the database", error);
    (void)sqlite3_extended_result_codes(recorder->database, 1);
    (void)sqlite3_busy_timeout(recorder->database, BUSY_MS);
    return WEIR_OK;
}

static void disconnect(struct sim_recorder *recorder)
{
    record_finalize_statements(recorder);
    (void)sqlite3_close(recorder->database);
    recorder->database = NULL;
    recorder->is_open = false;
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

weir_status record_open(const char *path,
                        weir_status (*begin)(struct sim_recorder *, struct weir_error *),
                        struct sim_recorder **recorder, struct weir_error *error)
{
    struct sim_recorder *made = NULL;
    if (look_at(path) == FOUND_LINK)
        return refuse_link(path, error);
    WEIR_TRY(make(path, &made, error));
    assert(made != NULL);
    const weir_status status = begin(made, error);
    if (status != WEIR_OK) {
        record_discard(made);
        return status;
    }
    *recorder = made;
    return WEIR_OK;
}

void record_discard(struct sim_recorder *recorder)
{
    disconnect(recorder);
    if (recorder->temporary != NULL)
        sim_record_remove(recorder->temporary);
    free(recorder->temporary);
    free(recorder->denials);
    free(recorder->path);
    free(recorder);
}

/* ---- a new file ---- */

weir_status record_create_empty(const char *made, const char *like, struct weir_error *error)
{
    struct stat there;
    const mode_t mode = lstat(like, &there) == 0 ? there.st_mode & 0666 : 0666;
    const int file = open(made, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (file < 0)
        return weir_fail(error, record_is_full(errno) ? WEIR_ENOMEM : WEIR_EIO,
                         "%s: cannot create the database: %s", made, strerror(errno));
    (void)close(file);
    return WEIR_OK;
}

weir_status record_write_meta(struct sim_recorder *recorder, struct weir_error *error)
{
    char version[16];
    char model[16];
    (void)snprintf(version, sizeof version, "%d", SIM_RECORD_SCHEMA_VERSION);
    (void)snprintf(model, sizeof model, "%d", SIM_RECORD_MODEL_VERSION);
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

/* Nothing is waited for: until it has its name nobody needs the file. */
static weir_status write_schema(struct sim_recorder *recorder, struct weir_error *error)
{
    WEIR_TRY(record_execute(recorder, "PRAGMA synchronous = OFF", error));
    WEIR_TRY(record_begin(recorder, error));
    WEIR_TRY(record_execute(recorder, weir_text_schema_sql, error));
    return record_write_meta(recorder, error);
}

static weir_status create(struct sim_recorder *recorder, struct weir_error *error)
{
    recorder->temporary = path_with(recorder->path, ".new");
    if (!recorder->temporary)
        return weir_fail(error, WEIR_ENOMEM, "%s: out of memory", recorder->path);
    sim_record_remove(recorder->temporary);
    WEIR_TRY(record_create_empty(recorder->temporary, recorder->path, error));
    WEIR_TRY(record_connect(recorder, recorder->temporary, error));
    return write_schema(recorder, error);
}

weir_status sim_recorder_open(const char *path, bool overwrite, struct sim_recorder **recorder,
                              struct weir_error *error)
{
    WEIR_TRY(record_check_target(path, overwrite, error));
    return record_open(path, create, recorder, error);
}

/* ---- its name ---- */

static weir_status fail_disk(int code, const char *path, const char *what, struct weir_error *error)
{
    return weir_fail(error, record_is_full(code) ? WEIR_ENOMEM : WEIR_EIO, "%s: cannot %s: %s",
                     path, what, strerror(code));
}

/* What is in a file, or in a folder its names, survives the end of the machine. */
static weir_status sync_path(const char *path, int flags, struct weir_error *error)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC | flags);
    const bool is_synced = file >= 0 && fsync(file) == 0;
    const int code = errno;
    if (file >= 0)
        (void)close(file);
    /* A file system without names that could be synchronised has nothing to lose. */
    if (is_synced || (file >= 0 && code == EINVAL))
        return WEIR_OK;
    return fail_disk(code, path, "write it to the disk", error);
}

static weir_status sync_folder(const char *path, struct weir_error *error)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash == NULL   ? strdup(".")
                   : slash == path ? strdup("/")
                                   : strndup(path, (size_t)(slash - path));
    const weir_status status = folder == NULL
                                   ? weir_fail(error, WEIR_ENOMEM, "%s: out of memory", path)
                                   : sync_path(folder, O_DIRECTORY, error);
    free(folder);
    return status;
}

weir_status record_give_name(const char *made, const char *path, struct weir_error *error)
{
    remove_logs(path);
    return rename(made, path) == 0 ? WEIR_OK : fail_disk(errno, path, "give it its name", error);
}

/* Nobody needs a shard before its run is over: it is waited for once, here. */
weir_status record_let_go(struct sim_recorder *recorder, struct weir_error *error)
{
    disconnect(recorder);
    return recorder->is_shard && !recorder->is_fleeting ? sync_path(recorder->path, 0, error)
                                                        : WEIR_OK;
}

static weir_status take_name(struct sim_recorder *recorder, struct weir_error *error)
{
    if (!recorder->is_fleeting)
        WEIR_TRY(sync_path(recorder->temporary, 0, error));
    WEIR_TRY(record_give_name(recorder->temporary, recorder->path, error));
    free(recorder->temporary);
    recorder->temporary = NULL;
    return recorder->is_fleeting ? WEIR_OK : sync_folder(recorder->path, error);
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

static weir_status start_reading(struct sim_recorder *recorder, struct weir_error *error)
{
    WEIR_TRY(record_connect(recorder, recorder->path, error));
    return check_schema(recorder, error);
}

static weir_status start_writing(struct sim_recorder *recorder, struct weir_error *error)
{
    WEIR_TRY(start_reading(recorder, error));
    WEIR_TRY(record_prepare_loading(recorder, error));
    return record_read_integer(recorder, "SELECT coalesce(max(experiment_id), 0) FROM experiment",
                               &recorder->experiment_id, error);
}

weir_status record_publish(struct sim_recorder *recorder, struct weir_error *error)
{
    if (recorder->temporary == NULL)
        return WEIR_OK;
    WEIR_TRY(record_commit(recorder, error));
    /* Before the file has its name: a kill while the mode changes leaves a journal that only a
     * writer could roll back. Closing takes the empty log away. */
    WEIR_TRY(record_execute(recorder, "PRAGMA journal_mode = WAL", error));
    disconnect(recorder);
    WEIR_TRY(take_name(recorder, error));
    return start_writing(recorder, error);
}

weir_status sim_recorder_append(const char *path, struct sim_recorder **recorder,
                                struct weir_error *error)
{
    struct stat there;
    /* Each name has a lock and a log of its own: two writers would not see each other. */
    if (lstat(path, &there) == 0 && S_ISREG(there.st_mode) && there.st_nlink > 1)
        return weir_fail(error, WEIR_EIO,
                         "%s: has another name too (a hard link), under which it could be written "
                         "at the same time; go on with a copy",
                         path);
    remove_half_made(path);
    return record_open(path, start_writing, recorder, error);
}

/* ---- looking into a file ---- */

bool sim_record_is_ours(const char *path)
{
    return look_at(path) == FOUND_WEIR;
}

weir_status record_open_reader(const char *path, struct sim_recorder **recorder,
                               struct weir_error *error)
{
    return record_open(path, start_reading, recorder, error);
}

weir_status sim_record_check(const char *path, struct weir_error *error)
{
    struct sim_recorder *recorder = NULL;
    WEIR_TRY(record_open_reader(path, &recorder, error));
    assert(recorder != NULL);
    record_discard(recorder);
    return WEIR_OK;
}
