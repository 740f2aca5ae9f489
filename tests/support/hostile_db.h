/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A sound database changed by hostile bytes, as a file: for fuzz targets.
 *
 * The first byte says how. Even: the rest are changes of the file, each four bytes: a place (three)
 * and a byte. Odd: the rest is SQL, run after the tables have lost their types and obligations,
 * which they claim again afterwards when the second bit is set. Nothing of it can reach another
 * file or run for ever.
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

static inline unsigned char *hostile_sql(const struct hostile_base *base, const char *sql,
                                         bool claims, sqlite3_int64 *size)
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
        hostile_run(db, sql, claims);
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
    if (length > 0 && (data[0] & 1) != 0) {
        char *sql = strndup((const char *)data + 1, length - 1);
        bytes = sql == NULL ? NULL : hostile_sql(base, sql, (data[0] & 2) != 0, &size);
        free(sql);
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
