/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A sound database changed by hostile bytes, as a file: for fuzz targets.
 *
 * The first byte says how. Even: the rest are changes of the file, each four bytes: a place (three)
 * and a byte; with the second bit they are changes of values that the types of the tables allow,
 * each five bytes: which column of all (two), of which rows, to what (two). Odd: the rest is SQL,
 * run after the tables have lost their types and obligations, which they claim again afterwards
 * when the second bit is set. Nothing of it can reach another file or run for ever.
 */
#ifndef TESTS_SUPPORT_HOSTILE_DB_H
#define TESTS_SUPPORT_HOSTILE_DB_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HOSTILE_PATH = 96 };

struct hostile_base {
    unsigned char *bytes; /* of a sound file; kept for the life of the program */
    sqlite3_int64 size;
};

/* A name in memory that is of this process alone. */
static inline void hostile_name(char path[HOSTILE_PATH], const char *what)
{
    const char *folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    (void)snprintf(path, HOSTILE_PATH, "%s/weir-fuzz-%s-%ld", folder, what, (long)getpid());
}

static inline void hostile_take(sqlite3 *db, struct hostile_base *base)
{
    base->bytes = sqlite3_serialize(db, "main", &base->size, 0);
    if (base->bytes == NULL)
        abort();
    base->bytes[18] = base->bytes[19] = 1; /* no log beside the file */
}

static inline int hostile_stop(void *steps)
{
    return ++*(int *)steps > 200;
}

static inline void hostile_run(sqlite3 *db, const char *sql, bool claims)
{
    int steps = 0;
    char *text = NULL;
    (void)sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    (void)sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1 << 20);
    sqlite3_progress_handler(db, 1000, hostile_stop, &steps);
    (void)sqlite3_exec(db,
                       "PRAGMA writable_schema = 1; CREATE TEMP TABLE was AS SELECT name, sql FROM "
                       "sqlite_schema WHERE type = 'table'; UPDATE sqlite_schema SET sql = "
                       "replace(replace(sql, ') STRICT', ')'), ' NOT NULL', '') WHERE type = "
                       "'table' AND name <> 'meta'; PRAGMA writable_schema = RESET",
                       NULL, NULL, NULL);
    (void)sqlite3_exec(db, sql, NULL, NULL, &text);
    sqlite3_free(text);
    if (claims)
        (void)sqlite3_exec(
            db,
            "ROLLBACK; PRAGMA writable_schema = 1; UPDATE sqlite_schema AS s SET sql = "
            "w.sql FROM temp.was w WHERE w.name = s.name AND s.type = 'table'",
            NULL, NULL, NULL);
}

/* A column of the database by its number, modulo how many there are; as "table" and "column". */
static inline bool hostile_column(sqlite3 *db, int number, char table[64], char column[64])
{
    sqlite3_stmt *row = NULL;
    if (sqlite3_prepare_v2(db,
                           "SELECT m.name, c.name, count(*) OVER () FROM sqlite_schema m, "
                           "pragma_table_info(m.name) c WHERE m.type = 'table' ORDER BY 1, c.cid",
                           -1, &row, NULL) != SQLITE_OK)
        return false;
    bool is_there = sqlite3_step(row) == SQLITE_ROW;
    for (int left = is_there ? number % sqlite3_column_int(row, 2) : 0; is_there && left > 0;
         left--)
        is_there = sqlite3_step(row) == SQLITE_ROW;
    if (is_there) {
        (void)snprintf(table, 64, "%s", (const char *)sqlite3_column_text(row, 0));
        (void)snprintf(column, 64, "%s", (const char *)sqlite3_column_text(row, 1));
    }
    (void)sqlite3_finalize(row);
    return is_there;
}

/* What a value becomes: a number, its neighbour, one of another row, a text, nothing. */
static inline void hostile_value(char value[168], const char *table, const char *column,
                                 const uint8_t how[2])
{
    static const char *const fixed[] = {
        "NULL", "0",    "1",      "-1",          "2147483648",
        "0.5",  "1e18", "-1e-9",  "9.2e9",       "9007199254740992",
        "''",   "'x'",  "'[{}]'", "char(27, 7)", "4294967295"
    };
    enum { FIXED = sizeof fixed / sizeof fixed[0] };
    if (how[0] % 4 == 0)
        (void)snprintf(value, 168, "%s", fixed[how[1] % FIXED]);
    else if (how[0] % 4 == 1)
        (void)snprintf(value, 168, "%s + %d", column, (int)how[1] - 128);
    else if (how[0] % 4 == 2)
        (void)snprintf(value, 168, "%s * %g", column, ((double)how[1] - 128.0) / 8.0);
    else
        (void)snprintf(value, 168, "(SELECT %s FROM %s LIMIT 1 OFFSET %u)", column, table, how[1]);
}

static inline void hostile_rows(sqlite3 *db, const uint8_t *data, size_t length)
{
    char table[64];
    char column[64];
    char value[168];
    char sql[400];
    for (size_t i = 0; i + 5 <= length && i < 40; i += 5) {
        if (!hostile_column(db, data[i] << 8 | data[i + 1], table, column))
            return;
        hostile_value(value, table, column, data + i + 3);
        const unsigned step = (data[i + 2] & 7U) + 1;
        (void)snprintf(sql, sizeof sql, "UPDATE OR IGNORE %s SET %s = %s WHERE rowid %% %u = %u",
                       table, column, value, step, (data[i + 2] >> 3U) % step);
        (void)sqlite3_exec(db, sql, NULL, NULL, NULL);
    }
}

static inline void hostile_change(sqlite3 *db, const uint8_t *data, size_t length)
{
    if ((data[0] & 1) == 0) {
        hostile_rows(db, data + 1, length - 1);
        return;
    }
    char *sql = strndup((const char *)data + 1, length - 1);
    if (sql != NULL)
        hostile_run(db, sql, (data[0] & 2) != 0);
    free(sql);
}

static inline unsigned char *hostile_sql(const struct hostile_base *base, const uint8_t *data,
                                         size_t length, sqlite3_int64 *size)
{
    sqlite3 *db = NULL;
    unsigned char *bytes = sqlite3_malloc64((sqlite3_uint64)base->size);
    unsigned char *made = NULL;
    if (bytes == NULL || sqlite3_open(":memory:", &db) != SQLITE_OK)
        abort();
    memcpy(bytes, base->bytes, (size_t)base->size);
    if (sqlite3_deserialize(db, "main", bytes, base->size, base->size,
                            SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE) ==
        SQLITE_OK) {
        hostile_change(db, data, length);
        made = sqlite3_serialize(db, "main", size, 0);
    }
    (void)sqlite3_close(db);
    return made;
}

static inline unsigned char *hostile_bytes(const struct hostile_base *base, const uint8_t *data,
                                           size_t length, sqlite3_int64 *size)
{
    unsigned char *bytes = sqlite3_malloc64((sqlite3_uint64)base->size);
    if (bytes == NULL)
        abort();
    memcpy(bytes, base->bytes, (size_t)base->size);
    for (size_t i = 0; i + 4 <= length; i += 4) {
        const uint32_t place =
            (uint32_t)data[i] << 16 | (uint32_t)data[i + 1] << 8 | (uint32_t)data[i + 2];
        bytes[place % (uint32_t)base->size] = data[i + 3];
    }
    *size = base->size;
    return bytes;
}

/* False: there is nothing to look at. */
static inline bool hostile_write(const struct hostile_base *base, const uint8_t *data,
                                 size_t length, const char *path)
{
    sqlite3_int64 size = 0;
    unsigned char *bytes = NULL;
    if (length > 0 && (data[0] & 3) != 0) {
        bytes = hostile_sql(base, data, length, &size);
    } else {
        bytes =
            hostile_bytes(base, length > 0 ? data + 1 : data, length > 0 ? length - 1 : 0, &size);
    }
    FILE *file = bytes == NULL ? NULL : fopen(path, "wb");
    const bool is_written =
        file != NULL && fwrite(bytes, 1, (size_t)size, file) == (size_t)size && fclose(file) == 0;
    sqlite3_free(bytes);
    return is_written;
}

#endif
