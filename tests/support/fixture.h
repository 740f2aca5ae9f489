/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The invented result database of fixture_db.sql as a file, for tests of analysis/. Header only, so
 * that only tests that use it need SQLite.
 */
#ifndef TESTS_SUPPORT_FIXTURE_H
#define TESTS_SUPPORT_FIXTURE_H

#include "analysis/analysis.h"
#include "tests/support/check.h"
#include "weir_text.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIXTURE_PATH = 64 };

/* The whole file, malloc'ed; NULL when it cannot be read. */
static inline char *fixture_read(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    char *text = NULL;
    size_t length = 0;
    FILE *copy = open_memstream(&text, &length);
    for (int c = fgetc(file); c != EOF; c = fgetc(file))
        (void)fputc(c, copy);
    (void)fclose(copy);
    (void)fclose(file);
    return text;
}

/* Runs SQL on the database at `path`; false and a message when it fails. */
static inline bool fixture_sql(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    char *message = NULL;
    const bool is_done = sqlite3_open(path, &db) == SQLITE_OK &&
                         sqlite3_exec(db, sql, NULL, NULL, &message) == SQLITE_OK;
    if (!is_done)
        (void)printf("%s: %s\n", path, message == NULL ? sqlite3_errmsg(db) : message);
    sqlite3_free(message);
    sqlite3_close(db);
    return is_done;
}

/* An empty weir database in a temporary file; its name goes to `path`. */
static inline bool fixture_empty(char path[FIXTURE_PATH])
{
    (void)snprintf(path, FIXTURE_PATH, "/tmp/weir-fixture-XXXXXX");
    const int file = mkstemp(path);
    if (file < 0)
        return false;
    (void)close(file);
    return fixture_sql(path, weir_text_schema_sql);
}

/* The filled fixture, changed by `sql` (NULL = as it is), opened. NULL when that fails; the file is
 * gone from the folder at once and lives as long as it is open. */
static inline struct an_db *fixture_open(const char *sql)
{
    char path[FIXTURE_PATH];
    char *rows = fixture_read(test_data("support/fixture_db.sql"));
    struct an_db *db = NULL;
    struct weir_error error = { .phase = -1, .pool = -1 };
    bool is_ready = rows != NULL && fixture_empty(path) && fixture_sql(path, rows);
    if (is_ready && sql != NULL)
        is_ready = fixture_sql(path, sql);
    if (is_ready && an_open(path, &db, &error) != WEIR_OK)
        (void)printf("%s\n", error.text);
    if (rows != NULL)
        (void)unlink(path);
    free(rows);
    return db;
}

#endif
