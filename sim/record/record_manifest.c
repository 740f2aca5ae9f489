/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The manifest of a shard: how many rows a run has and what they say (manifest.sql).
 *
 * It is written in the transaction that ends the run and read when another program finds the shard,
 * so that what counts as finished is there to the last row.
 */
#include "sim/record/record_state.h"

#include "sim/engine/digest.h"
#include "sim/record/run_summary.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct manifest {
    int64_t row_count;
    uint64_t digest;
};

static uint64_t add_value(uint64_t digest, sqlite3_value *value)
{
    const int type = sqlite3_value_type(value);
    uint64_t word = 0;
    double real = 0;
    switch (type) {
    case SQLITE_INTEGER:
        word = (uint64_t)sqlite3_value_int64(value);
        break;
    case SQLITE_FLOAT:
        real = sqlite3_value_double(value);
        memcpy(&word, &real, sizeof word);
        break;
    case SQLITE_NULL:
        break;
    default: /* text */
        word = sim_digest_bytes(SIM_DIGEST_START, sqlite3_value_text(value),
                                (size_t)sqlite3_value_bytes(value));
    }
    return sim_digest_word(digest ^ (uint64_t)type, word);
}

static weir_status add_table(struct sim_recorder *recorder, const char *table, int64_t run_id,
                             struct manifest *manifest, struct weir_error *error)
{
    char sql[160];
    sqlite3_stmt *row = NULL;
    int code = 0;
    (void)snprintf(sql, sizeof sql, "SELECT * FROM %s WHERE run_id = %" PRId64 " ORDER BY rowid",
                   table, run_id);
    WEIR_TRY(record_prepare(recorder, sql, &row, error));
    const int columns = sqlite3_column_count(row);
    while ((code = sqlite3_step(row)) == SQLITE_ROW) {
        for (int c = 0; c < columns; c++)
            manifest->digest = add_value(manifest->digest, sqlite3_column_value(row, c));
        manifest->row_count++;
    }
    const weir_status status =
        code == SQLITE_DONE ? WEIR_OK : record_fail(recorder, "read back", error);
    (void)sqlite3_finalize(row);
    return status;
}

/* A run has rows in few tables, and to ask each of them takes longer than to read those. */
void record_note_table(struct sim_recorder *recorder, const char *table)
{
    for (size_t i = 0; record_run_tables[i] != NULL; i++)
        if (strcmp(record_run_tables[i], table) == 0)
            recorder->written |= UINT64_C(1) << i;
}

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

static weir_status compute(struct sim_recorder *recorder, int64_t run_id, uint64_t present,
                           struct manifest *manifest, struct weir_error *error)
{
    *manifest = (struct manifest){ .digest = SIM_DIGEST_START };
    for (size_t i = 0; record_run_tables[i] != NULL; i++)
        if ((present >> i & 1) != 0)
            WEIR_TRY(add_table(recorder, record_run_tables[i], run_id, manifest, error));
    return WEIR_OK;
}

weir_status record_write_manifest(struct sim_recorder *recorder, struct weir_error *error)
{
    struct manifest manifest;
    char sql[160];
    WEIR_TRY(compute(recorder, recorder->run_id, recorder->written, &manifest, error));
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
    uint64_t present = 0;
    WEIR_TRY(record_find_present(shard, "main", &present, error));
    WEIR_TRY(compute(shard, run_id, present, &now, error));
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
