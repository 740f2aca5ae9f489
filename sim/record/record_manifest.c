/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The manifest of a shard: how many rows a run has and what they say (manifest.sql).
 *
 * It is written in the transaction that ends the run and read when another program finds the shard,
 * so that what counts as finished is there to the last row. Who writes adds up what it writes, who
 * reads adds up what it finds, and only rows that were changed are read back. For both to agree
 * whatever the columns of a table make of a value, a row is the sum of its values, each under the
 * name of its column; NULL adds nothing, and a number is a real one.
 */
#include "sim/record/record_state.h"

#include "sim/record/run_summary.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { COLUMNS_MAX = 64 };

struct manifest {
    int64_t row_count;
    uint64_t digest;
};

/* ---- what rows say ---- */

void record_add_row(struct table_content *content, uint64_t row)
{
    content->digest = sim_digest_word(content->digest, row);
    content->row_count++;
}

static uint64_t digest_found(uint64_t column, sqlite3_stmt *row, int place)
{
    switch (sqlite3_column_type(row, place)) {
    case SQLITE_NULL:
        return 0;
    case SQLITE_INTEGER:
    case SQLITE_FLOAT:
        return record_digest_number(column, sqlite3_column_double(row, place));
    default:
        return record_digest_text(column, (const char *)sqlite3_column_text(row, place),
                                  (size_t)sqlite3_column_bytes(row, place));
    }
}

/* Who made the file may have made its tables, too. */
static weir_status name_columns(struct sim_recorder *recorder, sqlite3_stmt *row,
                                uint64_t columns[COLUMNS_MAX], struct weir_error *error)
{
    const int count = sqlite3_column_count(row);
    if (count > COLUMNS_MAX)
        return weir_fail(error, WEIR_EIO, "%s: a table of %d columns, %d at most", recorder->path,
                         count, COLUMNS_MAX);
    for (int c = 0; c < count; c++) {
        const char *name = sqlite3_column_name(row, c);
        if (name == NULL)
            return weir_fail(error, WEIR_ENOMEM, "%s: out of memory", recorder->path);
        columns[c] = record_digest_column(name);
    }
    return WEIR_OK;
}

static weir_status add_rows(struct sim_recorder *recorder, sqlite3_stmt *row,
                            struct table_content *content, struct weir_error *error)
{
    uint64_t columns[COLUMNS_MAX];
    int code = 0;
    *content = (struct table_content){ 0 };
    WEIR_TRY(name_columns(recorder, row, columns, error));
    while ((code = sqlite3_step(row)) == SQLITE_ROW) {
        uint64_t sum = 0;
        for (int c = 0; c < sqlite3_column_count(row); c++)
            sum += digest_found(columns[c], row, c);
        record_add_row(content, sum);
    }
    return code == SQLITE_DONE ? WEIR_OK : record_fail(recorder, "read back", error);
}

static weir_status read_back(struct sim_recorder *recorder, const char *table, int64_t run_id,
                             struct table_content *content, struct weir_error *error)
{
    char sql[160];
    sqlite3_stmt *row = NULL;
    (void)snprintf(sql, sizeof sql, "SELECT * FROM %s WHERE run_id = %" PRId64 " ORDER BY rowid",
                   table, run_id);
    WEIR_TRY(record_prepare(recorder, sql, &row, error));
    const weir_status status = add_rows(recorder, row, content, error);
    (void)sqlite3_finalize(row);
    return status;
}

/* ---- which tables have rows ---- */

uint32_t record_table(const char *table)
{
    uint32_t place = 0;
    while (record_run_tables[place] != NULL && strcmp(record_run_tables[place], table) != 0)
        place++;
    return record_run_tables[place] == NULL ? WEIR_NO_INDEX : place;
}

/* A run has rows in few tables, and to ask each of them takes longer than to read those. */
weir_status record_find_present(struct sim_recorder *recorder, const char *schema,
                                uint64_t *present, struct weir_error *error)
{
    sqlite3_str *sql = sqlite3_str_new(recorder->database);
    int64_t bits = 0;
    for (size_t i = 0; record_run_tables[i] != NULL; i++)
        sqlite3_str_appendf(sql, "%s(EXISTS (SELECT 1 FROM %s.%s) << %d)",
                            i == 0 ? "SELECT " : " | ", schema, record_run_tables[i], (int)i);
    char *text = sqlite3_str_finish(sql);
    const weir_status status = text == NULL ? weir_fail(error, WEIR_ENOMEM, "out of memory")
                                            : record_read_integer(recorder, text, &bits, error);
    sqlite3_free(text);
    *present = (uint64_t)bits;
    return status;
}

static void add_table(struct manifest *manifest, size_t table, const struct table_content *content)
{
    if (content->row_count == 0)
        return;
    manifest->digest = sim_digest_word(manifest->digest ^ table, content->digest);
    manifest->row_count += content->row_count;
}

weir_status record_write_manifest(struct sim_recorder *recorder, struct weir_error *error)
{
    struct manifest manifest = { .digest = SIM_DIGEST_START };
    char sql[160];
    for (size_t i = 0; record_run_tables[i] != NULL; i++) {
        struct table_content *content = &recorder->contents[i];
        if ((recorder->rewritten >> i & 1) != 0)
            WEIR_TRY(read_back(recorder, record_run_tables[i], recorder->run_id, content, error));
        add_table(&manifest, i, content);
    }
    (void)snprintf(sql, sizeof sql,
                   "INSERT OR REPLACE INTO manifest VALUES (%" PRId64 ", %" PRId64 ", '%016" PRIx64
                   "')",
                   recorder->run_id, manifest.row_count, manifest.digest);
    return record_execute(recorder, sql, error);
}

/* ---- reading ---- */

/* Whether a query, whose parameters are an identity and a run, has a row. */
static weir_status has_row(struct sim_recorder *shard, const char *sql, const char *identity,
                           int64_t run_id, bool *has, struct weir_error *error)
{
    sqlite3_stmt *row = NULL;
    WEIR_TRY(record_prepare(shard, sql, &row, error));
    (void)sqlite3_bind_text(row, 1, identity, -1, SQLITE_STATIC);
    (void)sqlite3_bind_int64(row, 2, run_id);
    const int code = sqlite3_step(row);
    const weir_status status =
        code == SQLITE_ROW || code == SQLITE_DONE ? WEIR_OK : record_fail(shard, "read", error);
    (void)sqlite3_finalize(row);
    *has = code == SQLITE_ROW;
    return status;
}

static weir_status read_manifest(struct sim_recorder *shard, int64_t run_id,
                                 struct manifest *manifest, struct weir_error *error)
{
    uint64_t present = 0;
    *manifest = (struct manifest){ .digest = SIM_DIGEST_START };
    WEIR_TRY(record_find_present(shard, "main", &present, error));
    for (size_t i = 0; record_run_tables[i] != NULL; i++) {
        struct table_content content;
        if ((present >> i & 1) == 0)
            continue;
        WEIR_TRY(read_back(shard, record_run_tables[i], run_id, &content, error));
        add_table(manifest, i, &content);
    }
    return WEIR_OK;
}

static weir_status holds(struct sim_recorder *shard, const char *identity, int64_t run_id,
                         bool *is_held, struct weir_error *error)
{
    struct manifest now;
    char sql[200];
    bool is_finished = false;
    WEIR_TRY(has_row(shard,
                     "SELECT 1 FROM run JOIN manifest USING (run_id) WHERE " SIM_RUN_IS_FINISHED
                     " AND (?1 IS NULL OR ?1 = (SELECT value FROM meta WHERE key = 'identity')) "
                     "AND run_id = ?2",
                     identity, run_id, &is_finished, error));
    if (!is_finished)
        return WEIR_OK;
    WEIR_TRY(read_manifest(shard, run_id, &now, error));
    (void)snprintf(sql, sizeof sql,
                   "SELECT 1 FROM manifest WHERE row_count = %" PRId64 " AND digest = '%016" PRIx64
                   "' AND coalesce(?1, '') IS NOT NULL AND run_id = ?2",
                   now.row_count, now.digest);
    WEIR_TRY(has_row(shard, sql, identity, run_id, is_held, error));
    return *is_held ? WEIR_OK
                    : weir_fail(error, WEIR_EIO, "%s: its rows are not those that were written",
                                shard->path);
}

weir_status sim_shard_holds(const char *path, const char *identity, int64_t run_id, bool *is_held,
                            struct weir_error *error)
{
    struct sim_recorder *shard = NULL;
    *is_held = false;
    WEIR_TRY(record_open_reader(path, &shard, error));
    const weir_status status = holds(shard, identity, run_id, is_held, error);
    record_discard(shard);
    return status;
}
