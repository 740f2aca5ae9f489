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

#include "sim/record/run_summary.h"

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

/* Finished runs that are not here. A run that both have is the same one, or one of the two was made
 * by something else. */
static weir_status choose_finished(struct sim_recorder *recorder, const char *shard,
                                   struct weir_error *error)
{
    static const char conflict[] =
        "SELECT s.variant, s.replication FROM shard.run s JOIN main.run m USING (run_id) WHERE "
        "s." SIM_RUN_IS_FINISHED " AND (s.variant, s.replication, s.result_digest, s.event_digest) "
        "IS NOT (m.variant, m.replication, m.result_digest, m.event_digest) LIMIT 1";
    sqlite3_stmt *row = NULL;
    weir_status status = WEIR_OK;
    WEIR_TRY(record_prepare(recorder, conflict, &row, error));
    if (sqlite3_step(row) == SQLITE_ROW)
        status =
            weir_fail(error, WEIR_EINVARIANT,
                      "%s: variant %s, replication %lld came out otherwise than in a file "
                      "before it",
                      shard, sqlite3_column_text(row, 0), (long long)sqlite3_column_int64(row, 1));
    (void)sqlite3_finalize(row);
    WEIR_TRY(status);
    return record_execute(recorder,
                          "CREATE TEMP TABLE IF NOT EXISTS taken (run_id INTEGER PRIMARY KEY);"
                          "DELETE FROM temp.taken;"
                          "INSERT INTO temp.taken SELECT run_id FROM shard.run WHERE run_id "
                          "NOT IN (SELECT run_id FROM main.run) AND " SIM_RUN_IS_FINISHED,
                          error);
}

/* Of the experiment. Of command lines that differ the first in the order of letters is kept,
 * whatever came first. A shard of one run says nothing of it. */
static weir_status copy_facts(struct sim_recorder *recorder, struct weir_error *error)
{
    int64_t has_facts = 0;
    WEIR_TRY(record_read_integer(recorder, "SELECT EXISTS (SELECT 1 FROM shard.experiment)",
                                 &has_facts, error));
    return has_facts == 0
               ? WEIR_OK
               : record_execute(
                     recorder,
                     "INSERT OR IGNORE INTO main.meta SELECT * FROM shard.meta;"
                     "INSERT OR IGNORE INTO main.experiment SELECT * FROM shard.experiment;"
                     "UPDATE main.experiment SET command_line = min(command_line, "
                     "coalesce((SELECT min(command_line) FROM shard.experiment), command_line));"
                     "INSERT INTO main.input_file SELECT * FROM shard.input_file EXCEPT "
                     "SELECT * FROM main.input_file;"
                     "INSERT INTO main.expectation SELECT * FROM shard.expectation EXCEPT "
                     "SELECT * FROM main.expectation;",
                     error);
}

/* Both databases have the same schema, so columns agree by position. The shard of a run has nothing
 * that is here. */
static weir_status copy_rows(struct sim_recorder *recorder, const char *shard, bool finished_only,
                             struct weir_error *error)
{
    static const char chosen[] =
        " WHERE run_id IN (SELECT run_id FROM temp.taken) ORDER BY run_id, rowid";
    uint64_t present = 0;
    WEIR_TRY(copy_facts(recorder, error));
    WEIR_TRY(record_execute(recorder,
                            "DELETE FROM main.run WHERE status = 'running' AND run_id IN "
                            "(SELECT run_id FROM shard.run);",
                            error));
    if (finished_only)
        WEIR_TRY(choose_finished(recorder, shard, error));
    WEIR_TRY(record_find_present(recorder, "shard", &present, error));
    for (size_t i = 0; record_run_tables[i]; i++) {
        char sql[240];
        if ((present >> i & 1) == 0)
            continue;
        (void)snprintf(sql, sizeof sql, "INSERT INTO main.%s SELECT * FROM shard.%s%s",
                       record_run_tables[i], record_run_tables[i], finished_only ? chosen : "");
        WEIR_TRY(record_execute(recorder, sql, error));
    }
    return WEIR_OK;
}

/* A view that only files of its experiment have; one statement, whatever else stands behind it. */
static weir_status copy_view(struct sim_recorder *recorder, struct weir_error *error)
{
    static const char sql[] =
        "SELECT sql FROM shard.sqlite_schema WHERE type = 'view' AND name = 'v_point' AND sql LIKE "
        "'CREATE VIEW v_point AS SELECT %' AND NOT EXISTS (SELECT 1 FROM main.sqlite_schema WHERE "
        "name = 'v_point')";
    sqlite3_stmt *row = NULL;
    sqlite3_stmt *view = NULL;
    WEIR_TRY(record_prepare(recorder, sql, &row, error));
    weir_status status = WEIR_OK;
    if (sqlite3_step(row) == SQLITE_ROW)
        status = record_prepare(recorder, (const char *)sqlite3_column_text(row, 0), &view, error);
    if (status == WEIR_OK && view != NULL && sqlite3_step(view) != SQLITE_DONE)
        status = record_fail(recorder, "make a view", error);
    (void)sqlite3_finalize(view);
    (void)sqlite3_finalize(row);
    return status;
}

/* A shard is gone after its rows were copied: the disk has them before that. */
static weir_status merge_attached(struct sim_recorder *recorder, const char *shard,
                                  bool finished_only, struct weir_error *error)
{
    WEIR_TRY(check_shard(recorder, shard, error));
    WEIR_TRY(record_set_synchronous(recorder, true, error));
    WEIR_TRY(record_begin(recorder, error));
    weir_status status = copy_rows(recorder, shard, finished_only, error);
    if (status == WEIR_OK && finished_only)
        status = copy_view(recorder, error);
    if (status == WEIR_OK)
        status = record_commit(recorder, error);
    if (status != WEIR_OK) {
        weir_error_wrap(error, "merging %s", shard);
        (void)sqlite3_exec(recorder->database, "ROLLBACK", NULL, NULL, NULL);
        recorder->is_open = false;
    }
    const weir_status reset = record_set_synchronous(recorder, false, NULL);
    return status == WEIR_OK ? reset : status;
}

static weir_status merge(struct sim_recorder *recorder, const char *shard, bool finished_only,
                         struct weir_error *error)
{
    /* A database cannot be attached inside a transaction. What is collected has no name before what
     * it is of is in it. */
    if (!finished_only)
        WEIR_TRY(record_publish(recorder, error));
    WEIR_TRY(record_flush_samples(recorder, error));
    WEIR_TRY(record_commit(recorder, error));
    WEIR_TRY(attach(recorder, shard, error));
    const weir_status status = merge_attached(recorder, shard, finished_only, error);
    if (sqlite3_exec(recorder->database, "DETACH DATABASE shard", NULL, NULL, NULL) != SQLITE_OK &&
        status == WEIR_OK)
        return record_fail(recorder, "let go of the shard", error);
    return status;
}

weir_status sim_recorder_merge(struct sim_recorder *recorder, const char *shard,
                               struct weir_error *error)
{
    return recorder == NULL ? WEIR_OK : merge(recorder, shard, false, error);
}

/* All files into one, in any order, and from there into the result, in the order of the runs. */
weir_status sim_record_collect(const char *const *paths, size_t count, const char *out,
                               struct weir_error *error)
{
    char heap[4096];
    struct sim_recorder *recorder = NULL;
    (void)snprintf(heap, sizeof heap, "%s.collect", out);
    sim_record_remove(heap);
    weir_status status = sim_recorder_open(heap, true, &recorder, error);
    for (size_t i = 0; i < count && status == WEIR_OK; i++)
        status = merge(recorder, paths[i], true, error);
    if (status == WEIR_OK)
        status = record_publish(recorder, error);
    weir_status closed = sim_recorder_close(recorder, status == WEIR_OK ? error : NULL);
    recorder = NULL;
    if (status == WEIR_OK && (status = closed) == WEIR_OK)
        status = sim_recorder_open(out, true, &recorder, error);
    if (status == WEIR_OK)
        status = merge(recorder, heap, true, error);
    if (status == WEIR_OK)
        status = record_publish(recorder, error);
    closed = sim_recorder_close(recorder, status == WEIR_OK ? error : NULL);
    sim_record_remove(heap);
    return status == WEIR_OK ? closed : status;
}
