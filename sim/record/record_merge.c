/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Joining shards: all runs of another result database into this one, ids kept.
 *
 * One transaction a shard: it is in completely or not at all. Rows of the experiment (and its input
 * files and expectations) that are there already are not repeated, so every shard may carry them.
 * A run that was only announced here gives way to the shard's. Sets of rows do not depend on the
 * order of the shards; rows of one run keep their order.
 */
#include "sim/record/record_state.h"

#include <inttypes.h>
#include <stdio.h>

static weir_status attach(struct sim_recorder *recorder, const char *shard,
                          struct weir_error *error)
{
    sqlite3_stmt *statement = NULL;
    WEIR_TRY(record_prepare(recorder, "ATTACH DATABASE ? AS shard", &statement, error));
    (void)sqlite3_bind_text(statement, 1, shard, -1, SQLITE_STATIC);
    const int code = sqlite3_step(statement);
    (void)sqlite3_finalize(statement);
    if (code != SQLITE_DONE)
        return weir_fail(error, sim_record_status(recorder->database),
                         "%s: cannot open the shard: %s", shard,
                         sqlite3_errmsg(recorder->database));
    return WEIR_OK;
}

static weir_status check_shard(struct sim_recorder *recorder, const char *shard,
                               struct weir_error *error)
{
    int64_t ours[2] = { 0 };
    int64_t theirs[2] = { 0 };
    WEIR_TRY(record_read_integer(recorder, "PRAGMA main.application_id", &ours[0], error));
    WEIR_TRY(record_read_integer(recorder, "PRAGMA main.user_version", &ours[1], error));
    if (record_read_integer(recorder, "PRAGMA shard.application_id", &theirs[0], NULL) != WEIR_OK ||
        theirs[0] != ours[0])
        return weir_fail(error, WEIR_EIO, "%s: is not a result database", shard);
    WEIR_TRY(record_read_integer(recorder, "PRAGMA shard.user_version", &theirs[1], error));
    if (theirs[1] != ours[1])
        return weir_fail(error, WEIR_EIO, "%s: has schema version %" PRId64 ", %s has %" PRId64,
                         shard, theirs[1], recorder->path, ours[1]);
    return WEIR_OK;
}

/* Both databases have the same schema, so columns agree by position. */
static weir_status copy_rows(struct sim_recorder *recorder, struct weir_error *error)
{
    WEIR_TRY(record_execute(recorder,
                            "INSERT OR IGNORE INTO main.meta SELECT * FROM shard.meta;"
                            "INSERT OR IGNORE INTO main.experiment SELECT * FROM shard.experiment;"
                            "INSERT INTO main.input_file SELECT * FROM shard.input_file EXCEPT "
                            "SELECT * FROM main.input_file;"
                            "INSERT INTO main.expectation SELECT * FROM shard.expectation EXCEPT "
                            "SELECT * FROM main.expectation;"
                            "DELETE FROM main.run WHERE status = 'running' AND run_id IN "
                            "(SELECT run_id FROM shard.run);",
                            error));
    for (size_t i = 0; record_run_tables[i]; i++) {
        char sql[160];
        (void)snprintf(sql, sizeof sql, "INSERT INTO main.%s SELECT * FROM shard.%s ORDER BY rowid",
                       record_run_tables[i], record_run_tables[i]);
        WEIR_TRY(record_execute(recorder, sql, error));
    }
    return WEIR_OK;
}

/* A shard is gone after its rows were copied: the disk has them before that. */
static weir_status merge_attached(struct sim_recorder *recorder, const char *shard,
                                  struct weir_error *error)
{
    WEIR_TRY(check_shard(recorder, shard, error));
    WEIR_TRY(record_execute(recorder, "PRAGMA main.synchronous = FULL", error));
    WEIR_TRY(record_begin(recorder, error));
    weir_status status = copy_rows(recorder, error);
    if (status == WEIR_OK)
        status = record_commit(recorder, error);
    if (status != WEIR_OK) {
        weir_error_wrap(error, "merging %s", shard);
        (void)sqlite3_exec(recorder->database, "ROLLBACK", NULL, NULL, NULL);
        recorder->is_open = false;
    }
    (void)sqlite3_exec(recorder->database, "PRAGMA main.synchronous = NORMAL", NULL, NULL, NULL);
    return status;
}

weir_status sim_recorder_merge(struct sim_recorder *recorder, const char *shard,
                               struct weir_error *error)
{
    if (!recorder)
        return WEIR_OK;
    /* A database cannot be attached inside a transaction. */
    WEIR_TRY(record_publish(recorder, error));
    WEIR_TRY(record_flush_samples(recorder, error));
    WEIR_TRY(record_commit(recorder, error));
    WEIR_TRY(attach(recorder, shard, error));
    const weir_status status = merge_attached(recorder, shard, error);
    if (sqlite3_exec(recorder->database, "DETACH DATABASE shard", NULL, NULL, NULL) != SQLITE_OK &&
        status == WEIR_OK)
        return record_fail(recorder, "let go of the shard", error);
    return status;
}
