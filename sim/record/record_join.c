/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Joining two databases: see the header. Each side is copied, cut down and relabelled; the copy of
 * the second is then merged as a shard is. */
#include "sim/record/record_join.h"

#include "sim/record/record_state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { FORCED = 160 };

struct side {
    sqlite3 *database;
    const char *path;
    struct weir_error *error;
};

static weir_status fail(const struct side *side)
{
    return weir_fail(side->error, sim_record_status(side->database), "%s: %s", side->path,
                     sqlite3_errmsg(side->database));
}

/* A statement with up to two texts and a number, in this order: ?1, ?2, ?3. */
static weir_status run(const struct side *side, const char *sql, const char *text,
                       const char *second, int64_t number)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(side->database, sql, -1, &statement, NULL) != SQLITE_OK)
        return fail(side);
    (void)sqlite3_bind_text(statement, 1, text, -1, SQLITE_STATIC);
    (void)sqlite3_bind_text(statement, 2, second, -1, SQLITE_STATIC);
    (void)sqlite3_bind_int64(statement, 3, number);
    const int code = sqlite3_step(statement);
    (void)sqlite3_finalize(statement);
    return code == SQLITE_DONE || code == SQLITE_ROW ? WEIR_OK : fail(side);
}

static weir_status open_side(const char *path, int flags, struct side *side,
                             struct weir_error *error)
{
    *side = (struct side){ .path = path, .error = error };
    if (sqlite3_open_v2(path, &side->database, flags, NULL) == SQLITE_OK)
        return WEIR_OK;
    const weir_status status = fail(side);
    (void)sqlite3_close(side->database);
    return status;
}

/* ---- facts ---- */

weir_status sim_join_facts_read(const char *path, const char *variant, struct sim_join_facts *facts,
                                struct weir_error *error)
{
    static const char sql[] = "SELECT min(seed), count(*) FROM run JOIN experiment e "
                              "USING (experiment_id) WHERE variant = coalesce(?1, e.baseline)";
    struct side side;
    sqlite3_stmt *statement = NULL;
    WEIR_TRY(open_side(path, SQLITE_OPEN_READONLY, &side, error));
    weir_status status = WEIR_OK;
    if (sqlite3_prepare_v2(side.database, sql, -1, &statement, NULL) != SQLITE_OK)
        status = fail(&side);
    if (status == WEIR_OK)
        (void)sqlite3_bind_text(statement, 1, variant, -1, SQLITE_STATIC);
    if (status == WEIR_OK && sqlite3_step(statement) != SQLITE_ROW)
        status = fail(&side);
    if (status == WEIR_OK)
        *facts = (struct sim_join_facts){ (uint64_t)sqlite3_column_int64(statement, 0),
                                          (uint32_t)sqlite3_column_int64(statement, 1) };
    (void)sqlite3_finalize(statement);
    (void)sqlite3_close(side.database);
    if (status == WEIR_OK && facts->replications == 0)
        return weir_fail(error, WEIR_EINVAL, "%s: there is no variant '%s'", path,
                         variant == NULL ? "" : variant);
    return status;
}

/* ---- one side ---- */

static weir_status copy_file(const char *from, const char *to, struct weir_error *error)
{
    char buffer[4096];
    FILE *in = fopen(from, "rb");
    FILE *out = fopen(to, "wb");
    bool is_whole = in != NULL && out != NULL;
    for (size_t got = 1; is_whole && got > 0;) {
        got = fread(buffer, 1, sizeof buffer, in);
        is_whole = fwrite(buffer, 1, got, out) == got && ferror(in) == 0;
    }
    int reason = errno;
    if (in != NULL)
        (void)fclose(in);
    if (out != NULL && fclose(out) != 0 && is_whole) {
        reason = errno;
        is_whole = false;
    }
    return is_whole ? WEIR_OK
                    : weir_fail(error, record_is_full(reason) ? WEIR_ENOMEM : WEIR_EIO,
                                "%s: cannot be copied to %s: %s", from, to, strerror(reason));
}

static weir_status drop_runs(const struct side *side, const char *where)
{
    char sql[256];
    (void)snprintf(sql, sizeof sql, "DELETE FROM run WHERE %s", where);
    WEIR_TRY(run(side, sql, NULL, NULL, 0));
    for (size_t i = 0; record_run_tables[i] != NULL; i++) {
        (void)snprintf(sql, sizeof sql,
                       "DELETE FROM %s WHERE run_id NOT IN (SELECT run_id FROM run)",
                       record_run_tables[i]);
        WEIR_TRY(run(side, sql, NULL, NULL, 0));
    }
    return WEIR_OK;
}

/* The runs of the variant alone, numbered behind `first`, under the label. */
static weir_status relabel(const struct side *side, const struct sim_join_side *as, int64_t order,
                           int64_t first, const char *baseline)
{
    char sql[256];
    WEIR_TRY(run(side, "BEGIN", NULL, NULL, 0));
    WEIR_TRY(run(side,
                 "CREATE TEMP TABLE chosen AS SELECT coalesce(?1, (SELECT baseline FROM "
                 "experiment)) AS variant",
                 as->variant, NULL, 0));
    WEIR_TRY(drop_runs(side, "variant <> (SELECT variant FROM chosen)"));
    for (size_t i = 0; record_run_tables[i] != NULL; i++) {
        if (strcmp(record_run_tables[i], "run") == 0)
            continue;
        (void)snprintf(sql, sizeof sql,
                       "UPDATE %s SET run_id = -1 - (SELECT replication + ?3 FROM run r "
                       "WHERE r.run_id = %s.run_id)",
                       record_run_tables[i], record_run_tables[i]);
        WEIR_TRY(run(side, sql, NULL, NULL, first));
        (void)snprintf(sql, sizeof sql, "UPDATE %s SET run_id = -run_id", record_run_tables[i]);
        WEIR_TRY(run(side, sql, NULL, NULL, 0));
    }
    WEIR_TRY(run(side, "UPDATE run SET run_id = -1 - replication - ?3", NULL, NULL, first));
    WEIR_TRY(run(side,
                 "UPDATE run SET run_id = -run_id, variant = ?1, variant_order = ?3, "
                 "experiment_id = 1",
                 as->label, NULL, order));
    WEIR_TRY(
        run(side, "UPDATE experiment SET experiment_id = 1, baseline = ?1", baseline, NULL, 0));
    WEIR_TRY(run(side, "UPDATE input_file SET experiment_id = 1", NULL, NULL, 0));
    WEIR_TRY(run(side, "DELETE FROM expectation", NULL, NULL, 0));
    WEIR_TRY(run(side, "DELETE FROM meta WHERE key IN ('identity', 'axes')", NULL, NULL, 0));
    return run(side, "COMMIT", NULL, NULL, 0);
}

static weir_status prepare(const struct sim_join_side *as, const char *copy, int64_t order,
                           int64_t first, const char *baseline, struct weir_error *error)
{
    struct side side;
    WEIR_TRY(copy_file(as->path, copy, error));
    WEIR_TRY(open_side(copy, SQLITE_OPEN_READWRITE, &side, error));
    const weir_status status = relabel(&side, as, order, first, baseline);
    (void)sqlite3_close(side.database);
    return status;
}

/* ---- pairs ---- */

/* Which of what must agree does not: "seed, horizon_s"; "" = all agrees. */
static weir_status note_forced(const struct side *side, char *forced)
{
    static const char sql[] =
        "SELECT coalesce(group_concat(what, ', '), '') FROM (SELECT 'seed' AS what WHERE EXISTS "
        "(SELECT 1 FROM run GROUP BY replication HAVING min(seed) < max(seed)) UNION ALL "
        "SELECT 'warmup_s' WHERE (SELECT min(warmup_s) < max(warmup_s) FROM run) UNION ALL "
        "SELECT 'horizon_s' WHERE (SELECT count(DISTINCT coalesce(horizon_s, -1)) FROM run) > 1)";
    sqlite3_stmt *statement = NULL;
    weir_status status = WEIR_OK;
    if (sqlite3_prepare_v2(side->database, sql, -1, &statement, NULL) != SQLITE_OK ||
        sqlite3_step(statement) != SQLITE_ROW)
        status = fail(side);
    else
        (void)snprintf(forced, FORCED, "%s", (const char *)sqlite3_column_text(statement, 0));
    (void)sqlite3_finalize(statement);
    return status;
}

/* Runs of other seeds are no pairs: one of each is left, which says nothing of chance. */
static weir_status force(const struct side *side, char *forced)
{
    static const char *const columns[] = { "seed", "warmup_s", "horizon_s" };
    char sql[320];
    WEIR_TRY(note_forced(side, forced));
    if (strstr(forced, "seed") != NULL)
        WEIR_TRY(drop_runs(side, "replication > (SELECT min(replication) FROM run)"));
    for (size_t c = 0; c < 3; c++) {
        (void)snprintf(sql, sizeof sql,
                       "UPDATE run SET %s = (SELECT %s FROM run a WHERE a.variant_order = 0 AND "
                       "a.replication = run.replication)",
                       columns[c], columns[c]);
        WEIR_TRY(run(side, sql, NULL, NULL, 0));
    }
    return WEIR_OK;
}

/* Pipelines without a stage in common are no before and after. */
static weir_status check_work(const struct side *side)
{
    static const char sql[] =
        "SELECT group_concat(names, ' and ') FROM (SELECT group_concat(name, ', ') AS names FROM "
        "stage JOIN run USING (run_id) WHERE replication = (SELECT min(replication) FROM run) "
        "GROUP BY variant_order) HAVING count(*) = 2 AND NOT EXISTS (SELECT 1 FROM stage a JOIN "
        "run "
        "r USING (run_id) JOIN stage b ON b.name = a.name JOIN run q ON q.run_id = b.run_id WHERE "
        "r.variant_order = 0 AND q.variant_order = 1)";
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(side->database, sql, -1, &statement, NULL) != SQLITE_OK)
        return fail(side);
    const bool differs = sqlite3_step(statement) == SQLITE_ROW;
    const weir_status status =
        differs ? weir_fail(side->error, WEIR_EINVAL,
                            "not comparable: stages differ: %.400s (--force compares them)",
                            (const char *)sqlite3_column_text(statement, 0))
                : WEIR_OK;
    return sqlite3_finalize(statement) == SQLITE_OK ? status : fail(side);
}

static weir_status pair(const char *path, bool forces, char *forced, struct weir_error *error)
{
    struct side side;
    WEIR_TRY(open_side(path, SQLITE_OPEN_READWRITE, &side, error));
    weir_status status = drop_runs(&side, "replication NOT IN (SELECT replication FROM run "
                                          "GROUP BY replication HAVING count(*) = 2)");
    forced[0] = '\0';
    if (status == WEIR_OK)
        status = forces ? force(&side, forced) : check_work(&side);
    (void)sqlite3_close(side.database);
    return status;
}

static weir_status merge(const char *path, const char *shard, struct weir_error *error)
{
    struct sim_recorder *recorder = NULL;
    WEIR_TRY(sim_recorder_append(path, &recorder, error));
    weir_status status = sim_recorder_merge(recorder, shard, error);
    const weir_status closed = sim_recorder_close(recorder, status == WEIR_OK ? error : NULL);
    return status == WEIR_OK ? closed : status;
}

weir_status sim_record_join(const struct sim_join_side sides[2], const char *path, bool forces,
                            char *forced, struct weir_error *error)
{
    char *first = sqlite3_mprintf("%s.new", path); /* until it is complete */
    char *second = sqlite3_mprintf("%s.second", path);
    if (first == NULL || second == NULL) {
        sqlite3_free(first);
        sqlite3_free(second);
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    }
    sim_record_remove(first);
    sim_record_remove(second);
    weir_status status = record_create_empty(first, path, error);
    if (status == WEIR_OK)
        status = prepare(&sides[0], first, 0, 0, sides[0].label, error);
    if (status == WEIR_OK)
        status = prepare(&sides[1], second, 1, 100000, sides[0].label, error);
    if (status == WEIR_OK)
        status = merge(first, second, error);
    if (status == WEIR_OK)
        status = pair(first, forces, forced, error);
    if (status == WEIR_OK)
        status = record_give_name(first, path, error);
    sim_record_remove(first);
    sim_record_remove(second);
    sqlite3_free(first);
    sqlite3_free(second);
    return status;
}
