/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opening result databases; see the header. What their tables hold is judged in database_check.c.
 */
#include "analysis/database/database.h"

#include "weir_text.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { BUSY_MS = 5000 };

/* ---- its head ---- */

/* The application id is in bytes 68..71, the version in 60..63, big-endian. */
weir_status an_database_version(const char *path, int64_t *version, struct weir_error *error)
{
    unsigned char head[72] = { 0 };
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return weir_fail(error, WEIR_EIO, "%s: cannot be read: there is no such file, or no right",
                         path);
    const size_t length = fread(head, 1, sizeof head, file);
    const int reason = ferror(file) != 0 ? errno : 0;
    (void)fclose(file);
    if (reason != 0)
        return weir_fail(error, WEIR_EIO, "%s: cannot be read: %s", path, strerror(reason));
    if (length < sizeof head || memcmp(head, "SQLite format 3", 16) != 0 ||
        memcmp(head + 68, "weir", 4) != 0)
        return weir_fail(error, WEIR_EIO, "%s: is not a weir database; weir run SCENARIO makes one",
                         path);
    *version = (int64_t)head[60] << 24 | head[61] << 16 | head[62] << 8 | head[63];
    return WEIR_OK;
}

static weir_status check_head(const char *path, int64_t *version, struct weir_error *error)
{
    WEIR_TRY(an_database_version(path, version, error));
    if (*version > AN_DATABASE_VERSION)
        return weir_fail(error, WEIR_EIO,
                         "%s: was written by a newer program: schema %lld, this one reads up to %d",
                         path, (long long)*version, AN_DATABASE_VERSION);
    if (*version < 1)
        return weir_fail(error, WEIR_EIO, "%s: is of no known version: schema %lld, the first is 1",
                         path, (long long)*version);
    return WEIR_OK;
}

/* ---- its pages ---- */

static weir_status fail(sqlite3 *db, struct weir_error *error)
{
    return weir_fail(error, WEIR_EIO, "cannot be read: %s", sqlite3_errmsg(db));
}

/* The file can neither change the program's memory of it nor have it run anything. */
static void distrust(sqlite3 *db)
{
    (void)sqlite3_busy_timeout(db, BUSY_MS);
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    (void)sqlite3_exec(db, "PRAGMA cell_size_check = 1; PRAGMA temp_store = MEMORY", NULL, NULL,
                       NULL);
}

/* The first row of a query that has none when all is well. */
static weir_status refuse_row(sqlite3 *db, const char *sql, const char *sentence,
                              struct weir_error *error)
{
    sqlite3_stmt *row = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &row, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_step(row);
    weir_status status = WEIR_OK;
    if (code == SQLITE_ROW)
        status = weir_fail(error, WEIR_EIO, "%s: %s", sentence,
                           (const char *)sqlite3_column_text(row, 0));
    else if (code != SQLITE_DONE)
        status = fail(db, error);
    (void)sqlite3_finalize(row);
    return status;
}

static weir_status check_pages(sqlite3 *db, struct weir_error *error)
{
    WEIR_TRY(refuse_row(db,
                        "SELECT quick_check FROM pragma_quick_check(1) WHERE quick_check <> 'ok'",
                        "is damaged", error));
    return refuse_row(db, "SELECT name FROM sqlite_schema WHERE type = 'trigger'",
                      "has a trigger, which results never have", error);
}

/* ---- its schema ---- */

/* An empty database of today's version, in memory. */
static weir_status open_known(sqlite3 **known, struct weir_error *error)
{
    sqlite3 *db = NULL;
    weir_status status = WEIR_OK;
    if (sqlite3_open(":memory:", &db) != SQLITE_OK ||
        sqlite3_exec(db, weir_text_known_schema, NULL, NULL, NULL) != SQLITE_OK)
        status = fail(db, error);
    if (status == WEIR_OK)
        *known = db;
    else
        (void)sqlite3_close(db);
    return status;
}

static weir_status find_view(sqlite3 *db, const char *name, bool *is_there,
                             struct weir_error *error)
{
    sqlite3_stmt *row = NULL;
    *is_there = false;
    if (sqlite3_prepare_v2(db, "SELECT 1 FROM main.sqlite_schema WHERE type = 'view' AND name = ?1",
                           -1, &row, NULL) == SQLITE_OK &&
        sqlite3_bind_text(row, 1, name, -1, SQLITE_STATIC) == SQLITE_OK)
        *is_there = sqlite3_step(row) == SQLITE_ROW;
    (void)sqlite3_finalize(row);
    const int code = sqlite3_errcode(db); /* of whichever failed */
    return code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE ? WEIR_OK
                                                                          : fail(db, error);
}

/* `sql` without the word CREATE. */
static weir_status take_view(sqlite3 *db, const char *sql, struct weir_error *error)
{
    char *create = sqlite3_mprintf("CREATE TEMP %s", sql);
    if (create == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    const int code = sqlite3_exec(db, create, NULL, NULL, NULL);
    sqlite3_free(create);
    return code == SQLITE_OK ? WEIR_OK : fail(db, error);
}

/* What older files do not tell of items: that any left which were not done. */
static const char items_left[] = "VIEW cluster_sample AS SELECT *, 0.0 AS items_left FROM"
                                 " main.cluster_sample";
/* Of jobs: how long each runs. */
static const char run_time[] = "VIEW job AS SELECT rowid, *, NULL AS run_s FROM main.job";
enum { HAS_JOBS = 2, HAS_ITEMS_LEFT = 9, HAS_RUN_TIME = 10 }; /* the first versions */

/* Views of the schema stand before those of the file. An older file has those it always had. */
static weir_status take_views(sqlite3 *db, sqlite3 *known, int64_t version,
                              struct weir_error *error)
{
    sqlite3_stmt *view = NULL;
    weir_status status = WEIR_OK;
    if (version < HAS_ITEMS_LEFT)
        WEIR_TRY(take_view(db, items_left, error));
    if (version >= HAS_JOBS && version < HAS_RUN_TIME)
        WEIR_TRY(take_view(db, run_time, error));
    int code = sqlite3_prepare_v2(known,
                                  "SELECT name, substr(sql, length('CREATE ') + 1) FROM "
                                  "sqlite_schema WHERE type = 'view'",
                                  -1, &view, NULL);
    while (code == SQLITE_OK && status == WEIR_OK && (code = sqlite3_step(view)) == SQLITE_ROW) {
        bool is_there = true;
        if (version < AN_DATABASE_VERSION)
            status = find_view(db, (const char *)sqlite3_column_text(view, 0), &is_there, error);
        if (status == WEIR_OK && is_there)
            status = take_view(db, (const char *)sqlite3_column_text(view, 1), error);
        code = SQLITE_OK;
    }
    if (status == WEIR_OK && code != SQLITE_DONE)
        status = fail(known, error);
    (void)sqlite3_finalize(view);
    return status;
}

static weir_status look_over(sqlite3 *db, int64_t version, struct weir_error *error)
{
    sqlite3 *known = NULL;
    WEIR_TRY(check_pages(db, error));
    WEIR_TRY(open_known(&known, error));
    weir_status status = an_database_check(db, known, version, error);
    if (status == WEIR_OK)
        status = take_views(db, known, version, error);
    (void)sqlite3_close(known);
    return status;
}

weir_status an_database_open(const char *path, enum an_access access, sqlite3 **db,
                             struct weir_error *error)
{
    sqlite3 *opened = NULL;
    int64_t version = 0;
    const int flags = access == AN_TO_READ ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
    WEIR_TRY(check_head(path, &version, error));
    weir_status status = WEIR_OK;
    if (sqlite3_open_v2(path, &opened, flags, NULL) != SQLITE_OK) {
        status = weir_fail(error, WEIR_EIO, "cannot be opened: %s", sqlite3_errmsg(opened));
    } else {
        distrust(opened);
        status = look_over(opened, version, error);
    }
    if (status == WEIR_OK) {
        *db = opened;
        return WEIR_OK;
    }
    weir_error_wrap(error, "%s", path);
    (void)sqlite3_close(opened);
    return status;
}
