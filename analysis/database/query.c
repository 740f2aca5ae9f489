/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs statements on result databases into frames; see the header. Of files of older versions it
 * names tables that are missing.
 */
#include "analysis/database/query.h"
#include "analysis/database/database.h"
#include "analysis/nan.h"
#include "analysis/text.h"

#include <assert.h>
#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

enum { SHARED_MOST = 12 };

/* A shared table that is there, and what for. */
struct share {
    const struct an_shared *shared;
    struct an_args args;
};

struct an_db {
    sqlite3 *sqlite;
    char *path;
    int64_t version;
    sqlite3_stmt *latest; /* of an_query: asked again it is not read again; NULL = none */
    struct share shares[SHARED_MOST];
    size_t share_count;
};

const char *an_db_path(const struct an_db *db)
{
    return db->path;
}

weir_status an_db_rename(struct an_db *db, const char *path, struct weir_error *error)
{
    char *copy = strdup(path);
    if (copy == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    free(db->path);
    db->path = copy;
    return WEIR_OK;
}

weir_status an_open(const char *path, struct an_db **db, struct weir_error *error)
{
    struct an_db *opened = calloc(1, sizeof *opened);
    if (opened == NULL || (opened->path = strdup(path)) == NULL) {
        free(opened);
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    }
    weir_status status = an_database_open(path, AN_TO_READ, &opened->sqlite, error);
    if (status == WEIR_OK)
        status = an_database_version(path, &opened->version, error);
    if (status != WEIR_OK) {
        an_close(opened);
        return status;
    }
    *db = opened;
    return WEIR_OK;
}

void an_close(struct an_db *db)
{
    if (db == NULL)
        return;
    sqlite3_finalize(db->latest);
    sqlite3_close(db->sqlite);
    free(db->path);
    free(db);
}

/* ---- frames ---- */

struct an_kept {
    struct an_kept *next;
    struct an_frame *frame; /* NULL = it is numbers */
    double numbers[];
};

weir_status an_keep_numbers(struct an_keeper *keeper, size_t count, double **numbers,
                            struct weir_error *error)
{
    struct an_kept *kept = calloc(1, sizeof *kept + count * sizeof kept->numbers[0]);
    if (kept == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    kept->next = keeper->kept;
    keeper->kept = kept;
    *numbers = kept->numbers;
    return WEIR_OK;
}

static weir_status keep_query(struct an_keeper *keeper, const char *sql, const struct an_args *args,
                              const struct an_frame **frame, struct weir_error *error)
{
    double *none = NULL;
    WEIR_TRY(an_keep_numbers(keeper, 0, &none, error));
    struct an_kept *kept = keeper->kept;
    assert(kept != NULL); /* the one just made */
    WEIR_TRY(an_query(keeper->db, sql, args, &kept->frame, error));
    *frame = kept->frame;
    return WEIR_OK;
}

weir_status an_keep_query(struct an_keeper *keeper, const char *sql, const struct an_args *args,
                          const struct an_frame **frame, struct weir_error *error)
{
    const weir_status status = keep_query(keeper, sql, args, frame, error);
    if (error == NULL && status != WEIR_OK && status != WEIR_EUNSUPPORTED)
        keeper->unread = status;
    return status;
}

weir_status an_keep_check(const struct an_keeper *keeper, struct weir_error *error)
{
    return keeper->unread == WEIR_OK ? WEIR_OK
                                     : weir_fail(error, keeper->unread,
                                                 "%s: not all of it can be read", keeper->db->path);
}

void an_keep_clear(struct an_keeper *keeper)
{
    while (keeper->kept != NULL) {
        struct an_kept *kept = keeper->kept;
        keeper->kept = kept->next;
        an_frame_destroy(kept->frame);
        free(kept);
    }
}

void an_frame_destroy(struct an_frame *frame)
{
    if (frame == NULL)
        return;
    for (size_t i = 0; frame->texts != NULL && i < frame->row_count * frame->column_count; i++)
        free(frame->texts[i]);
    for (size_t i = 0; frame->names != NULL && i < frame->column_count; i++)
        free(frame->names[i]);
    free(frame->names);
    free(frame->texts);
    free(frame->numbers);
    free(frame);
}

double an_number(const struct an_frame *frame, size_t row, size_t column)
{
    assert(frame->numbers != NULL);
    return frame->numbers[row * frame->column_count + column];
}

const char *an_text(const struct an_frame *frame, size_t row, size_t column)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a query that succeeds sets the frame */
    assert(frame->texts != NULL);
    const char *text = frame->texts[row * frame->column_count + column];
    return text == NULL ? "" : text;
}

const char *an_column(const struct an_frame *frame, size_t column)
{
    return frame->names[column];
}

static bool frame_name(struct an_frame *frame, sqlite3_stmt *statement)
{
    frame->column_count = (size_t)sqlite3_column_count(statement);
    frame->names = calloc(frame->column_count + 1, sizeof *frame->names);
    bool is_named = frame->names != NULL;
    for (size_t i = 0; is_named && i < frame->column_count; i++) {
        frame->names[i] = strdup(sqlite3_column_name(statement, (int)i));
        is_named = frame->names[i] != NULL;
    }
    return is_named;
}

static bool frame_grow(struct an_frame *frame, size_t *capacity)
{
    if (frame->row_count < *capacity)
        return true;
    const size_t wanted = *capacity == 0 ? 64 : *capacity * 2;
    double *numbers = reallocarray(frame->numbers, wanted * frame->column_count, sizeof *numbers);
    if (numbers == NULL)
        return false;
    frame->numbers = numbers;
    char **texts = reallocarray(frame->texts, wanted * frame->column_count, sizeof *texts);
    if (texts == NULL)
        return false;
    frame->texts = texts;
    *capacity = wanted;
    return true;
}

static bool frame_append(struct an_frame *frame, size_t *capacity, sqlite3_stmt *statement)
{
    if (!frame_grow(frame, capacity))
        return false;
    const size_t base = frame->row_count * frame->column_count;
    memset(frame->texts + base, 0, frame->column_count * sizeof *frame->texts);
    frame->row_count++;
    for (size_t i = 0; i < frame->column_count; i++) {
        const int type = sqlite3_column_type(statement, (int)i);
        const bool is_number = type == SQLITE_INTEGER || type == SQLITE_FLOAT;
        frame->numbers[base + i] = is_number ? sqlite3_column_double(statement, (int)i) : AN_NAN;
        if (type != SQLITE_TEXT)
            continue;
        frame->texts[base + i] = strdup((const char *)sqlite3_column_text(statement, (int)i));
        if (frame->texts[base + i] == NULL)
            return false;
        an_clean(frame->texts[base + i]);
    }
    return true;
}

static void bind_arguments(sqlite3_stmt *statement, const struct an_args *args)
{
    int index = sqlite3_bind_parameter_index(statement, ":run");
    if (index > 0)
        sqlite3_bind_int64(statement, index, args->run);
    index = sqlite3_bind_parameter_index(statement, ":id");
    if (index > 0)
        sqlite3_bind_int64(statement, index, args->id);
    index = sqlite3_bind_parameter_index(statement, ":text");
    if (index > 0 && args->text != NULL)
        sqlite3_bind_text(statement, index, args->text, -1, SQLITE_STATIC);
    index = sqlite3_bind_parameter_index(statement, ":from");
    if (index > 0)
        sqlite3_bind_double(statement, index, args->from);
    index = sqlite3_bind_parameter_index(statement, ":to");
    if (index > 0)
        sqlite3_bind_double(statement, index, args->to);
}

/* A full disk is no fault of the file: reading its log writes beside it. */
static weir_status fail_read(struct an_db *db, struct weir_error *error)
{
    const int code = sqlite3_errcode(db->sqlite);
    const int reason = sqlite3_system_errno(db->sqlite);
    const bool is_full = code == SQLITE_NOMEM || code == SQLITE_FULL ||
                         (code != SQLITE_ERROR && (reason == ENOSPC || reason == EDQUOT));
    return weir_fail(error, is_full ? WEIR_ENOMEM : WEIR_EIO, "%s: cannot be read: %s", db->path,
                     sqlite3_errmsg(db->sqlite));
}

static weir_status run_statement(struct an_db *db, sqlite3_stmt *statement, struct an_frame *frame,
                                 struct weir_error *error)
{
    size_t capacity = 0;
    int step = sqlite3_step(statement); /* the columns of another schema are known behind it */
    bool is_kept = frame_name(frame, statement);
    for (; is_kept && step == SQLITE_ROW; step = sqlite3_step(statement))
        is_kept = frame_append(frame, &capacity, statement);
    if (!is_kept)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    if (step != SQLITE_DONE)
        return fail_read(db, error);
    return WEIR_OK;
}

static weir_status fail_query(struct an_db *db, struct weir_error *error)
{
    static const char missing[] = "no such "; /* table, column */
    const char *text = sqlite3_errmsg(db->sqlite);
    const char *name = strchr(text, ':');
    if (db->version < AN_DATABASE_VERSION && name != NULL &&
        strncmp(text, missing, sizeof missing - 1) == 0)
        return weir_fail(error, WEIR_EUNSUPPORTED,
                         "a file of version %lld has no %.*s%s (today's version is %d)",
                         (long long)db->version, (int)(name - text - (ptrdiff_t)sizeof missing + 1),
                         text + sizeof missing - 1, name + 1, AN_DATABASE_VERSION);
    return fail_read(db, error);
}

weir_status an_has_table(struct an_db *db, const char *name, bool *has, struct weir_error *error)
{
    struct an_frame *frame = NULL;
    WEIR_TRY(an_query(db, "SELECT name FROM sqlite_master WHERE type = 'table' AND name = :text",
                      &(struct an_args){ .text = name }, &frame, error));
    *has = frame->row_count > 0;
    an_frame_destroy(frame);
    return WEIR_OK;
}

/* Table after table asks one thing of metric after metric, and to read it takes longer than to
 * answer it. */
static weir_status prepare_latest(struct an_db *db, const char *sql, struct weir_error *error)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): who makes a text looks */
    if (db->latest != NULL && strcmp(sqlite3_sql(db->latest), sql) == 0)
        return WEIR_OK;
    sqlite3_finalize(db->latest);
    db->latest = NULL;
    return sqlite3_prepare_v2(db->sqlite, sql, -1, &db->latest, NULL) == SQLITE_OK
               ? WEIR_OK
               : fail_query(db, error);
}

weir_status an_query(struct an_db *db, const char *sql, const struct an_args *args,
                     struct an_frame **frame, struct weir_error *error)
{
    WEIR_TRY(prepare_latest(db, sql, error));
    if (args != NULL)
        bind_arguments(db->latest, args);
    struct an_frame *made = calloc(1, sizeof *made);
    weir_status status = made == NULL ? weir_fail(error, WEIR_ENOMEM, "out of memory")
                                      : run_statement(db, db->latest, made, error);
    (void)sqlite3_reset(db->latest);
    (void)sqlite3_clear_bindings(db->latest);
    assert(status != WEIR_OK || made != NULL);
    if (status != WEIR_OK) {
        an_frame_destroy(made);
        return status;
    }
    *frame = made;
    return WEIR_OK;
}

weir_status an_query_each(struct an_db *db, const char *sql, const struct an_args *args,
                          void (*each)(void *state, const double *numbers), void *state,
                          struct weir_error *error)
{
    enum { MOST_COLUMNS = 16 };
    double numbers[MOST_COLUMNS];
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(db->sqlite, sql, -1, &statement, NULL) != SQLITE_OK)
        return fail_query(db, error);
    bind_arguments(statement, args);
    const int columns = sqlite3_column_count(statement);
    assert(columns <= MOST_COLUMNS);
    int step = SQLITE_ROW;
    while ((step = sqlite3_step(statement)) == SQLITE_ROW) {
        for (int i = 0; i < columns; i++)
            numbers[i] = sqlite3_column_type(statement, i) == SQLITE_NULL
                             ? AN_NAN
                             : sqlite3_column_double(statement, i);
        each(state, numbers);
    }
    const weir_status status = step == SQLITE_DONE ? WEIR_OK : fail_read(db, error);
    (void)sqlite3_finalize(statement);
    return status;
}

/* ---- shared tables ---- */

/* Of this name; a new one when it was never made. */
static struct share *share_of(struct an_db *db, const struct an_shared *shared)
{
    for (size_t i = 0; i < db->share_count; i++)
        if (db->shares[i].shared == shared)
            return &db->shares[i];
    assert(db->share_count < SHARED_MOST);
    db->shares[db->share_count] = (struct share){ .shared = shared, .args = { .run = -1 } };
    return &db->shares[db->share_count++];
}

static weir_status make_share(struct an_db *db, const struct an_shared *shared,
                              const struct an_args *args, struct weir_error *error)
{
    struct an_frame *none = NULL;
    char *drop = sqlite3_mprintf("DROP TABLE IF EXISTS temp.%s", shared->name);
    char *make = sqlite3_mprintf("CREATE TEMP TABLE %s AS %s", shared->name, shared->sql);
    weir_status status = drop == NULL || make == NULL
                             ? weir_fail(error, WEIR_ENOMEM, "out of memory")
                             : an_query(db, drop, NULL, &none, error);
    an_frame_destroy(none);
    none = NULL;
    if (status == WEIR_OK)
        status = an_query(db, make, args, &none, error);
    an_frame_destroy(none);
    sqlite3_free(drop);
    sqlite3_free(make);
    return status;
}

/* Whether a statement with that parameter would see no difference. */
static bool is_same(const char *sql, const char *parameter, const double *a, const double *b)
{
    /* To the bit.
     * NOLINTNEXTLINE(bugprone-suspicious-memory-comparison,cert-exp42-c,cert-flp37-c) */
    return strstr(sql, parameter) == NULL || memcmp(a, b, sizeof *a) == 0;
}

weir_status an_share(struct an_db *db, const struct an_shared *shared, const struct an_args *args,
                     struct weir_error *error)
{
    struct share *share = share_of(db, shared);
    if (share->args.run == args->run &&
        is_same(shared->sql, ":from", &share->args.from, &args->from) &&
        is_same(shared->sql, ":to", &share->args.to, &args->to))
        return WEIR_OK;
    share->args.run = -1;
    WEIR_TRY(make_share(db, shared, args, error));
    share->args = *args;
    return WEIR_OK;
}

/* ---- runs and results ---- */

static weir_status fail_no_run(struct an_db *db, const char *variant, uint32_t replication,
                               struct weir_error *error)
{
    struct an_frame *frame = NULL;
    WEIR_TRY(an_query(db,
                      "SELECT group_concat(variant, ', '), min(n), count(*) FROM (SELECT variant, "
                      "count(*) AS n FROM run GROUP BY variant ORDER BY min(variant_order))",
                      NULL, &frame, error));
    const bool is_empty = an_text(frame, 0, 0)[0] == '\0';
    const weir_status status =
        is_empty ? weir_fail(error, WEIR_ENOTFOUND,
                             "%s: holds no run: none had begun when its program ended", db->path)
                 : weir_fail(error, WEIR_ENOTFOUND,
                             "%s: no run of variant %s, replication %u; there are: %s "
                             "(replications 0 to %.0f)",
                             db->path, variant == NULL ? "(baseline)" : variant, replication,
                             an_text(frame, 0, 0), an_number(frame, 0, 1) - 1.0);
    an_frame_destroy(frame);
    return status;
}

static const char run_sql[] =
    "SELECT r.run_id, r.experiment_id, e.scenario, e.description, e.command_line, e.baseline,"
    " r.scenario_digest, r.variant, r.placement, r.scaling, r.status, r.message,"
    " coalesce(w.version, (SELECT value FROM meta WHERE key = 'weir_version'), ''),"
    " r.replication, CAST(r.seed AS TEXT), r.start_unix_s, r.warmup_s,"
    " coalesce(r.end_s, (SELECT max(t_s + dt_s) FROM cluster_sample c WHERE c.run_id = r.run_id),"
    " 0), coalesce(nullif(r.sample_s, 0), (SELECT max(dt_s) FROM cluster_sample c WHERE c.run_id = "
    "r.run_id),"
    " 0), coalesce(r.is_steady, 1),"
    " (SELECT count(*) FROM run o WHERE o.experiment_id = r.experiment_id"
    "  AND o.variant = r.variant)"
    " FROM run r JOIN experiment e USING (experiment_id) LEFT JOIN run_wall w USING (run_id)"
    " WHERE iif(:run > 0, r.run_id = :run,"
    /* A baseline that was never run, as of a search, is stood for by the first that was. */
    "  r.variant = coalesce(:text, (SELECT o.variant FROM run o JOIN experiment x"
    "   USING (experiment_id) ORDER BY o.variant <> x.baseline, o.variant_order LIMIT 1)) AND "
    "r.replication = :id)"
    " ORDER BY r.run_id LIMIT 1";

static void fill_run(struct an_run *run, const struct an_frame *frame)
{
    const char **const texts[] = { &run->scenario,  &run->description,     &run->command_line,
                                   &run->baseline,  &run->scenario_digest, &run->variant,
                                   &run->placement, &run->scaling,         &run->status,
                                   &run->message,   &run->version };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        *texts[i] = an_text(frame, 0, 2 + i);
    run->run_id = (int64_t)an_number(frame, 0, 0);
    run->experiment_id = (int64_t)an_number(frame, 0, 1);
    run->replication = (uint32_t)an_number(frame, 0, 13);
    /* All 64 bits of the seed: a double would round them. */
    run->seed = strtoll(an_text(frame, 0, 14), NULL, 10);
    run->start_unix_s = (int64_t)an_number(frame, 0, 15);
    run->warmup_s = an_number(frame, 0, 16);
    run->end_s = an_number(frame, 0, 17);
    run->sample_s = an_number(frame, 0, 18);
    run->is_steady = an_number(frame, 0, 19) > 0.5;
    run->replications = (uint32_t)an_number(frame, 0, 20);
}

static weir_status read_run(struct an_db *db, const struct an_args *args, struct an_run **run,
                            struct weir_error *error)
{
    const struct an_frame *frame = NULL;
    struct an_run *found = calloc(1, sizeof *found);
    if (found == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    found->keeper.db = db;
    weir_status status = an_keep_query(&found->keeper, run_sql, args, &frame, error);
    assert(status != WEIR_OK || frame != NULL);
    if (status == WEIR_OK && frame->row_count == 0)
        status = fail_no_run(db, args->text, (uint32_t)args->id, error);
    if (status != WEIR_OK) {
        an_run_destroy(found);
        return status;
    }
    fill_run(found, frame);
    *run = found;
    return WEIR_OK;
}

weir_status an_run_find(struct an_db *db, const char *variant, uint32_t replication,
                        struct an_run **run, struct weir_error *error)
{
    return read_run(db, &(struct an_args){ .text = variant, .id = replication }, run, error);
}

weir_status an_run_read(struct an_db *db, int64_t run_id, struct an_run **run,
                        struct weir_error *error)
{
    return read_run(db, &(struct an_args){ .run = run_id }, run, error);
}

void an_run_destroy(struct an_run *run)
{
    if (run == NULL)
        return;
    an_keep_clear(&run->keeper);
    free(run);
}

weir_status an_result(struct an_db *db, int64_t run_id, const char *metric, struct an_value *value,
                      struct weir_error *error)
{
    struct an_frame *frame = NULL;
    WEIR_TRY(
        an_query(db,
                 "SELECT value, n, censored, is_lower_bound, label FROM result WHERE run_id = :run "
                 "AND metric = :text ORDER BY label <> '', label LIMIT 2",
                 &(struct an_args){ .run = run_id, .text = metric }, &frame, error));
    assert(frame != NULL);
    *value = (struct an_value){ .value = AN_NAN };
    /* Of several labels none stands for the whole. */
    const bool is_whole =
        frame->row_count == 1 || (frame->row_count > 1 && an_text(frame, 0, 4)[0] == '\0');
    if (is_whole)
        *value = (struct an_value){ .value = an_number(frame, 0, 0),
                                    .n = an_number(frame, 0, 1),
                                    .censored = an_number(frame, 0, 2),
                                    .is_lower_bound = an_number(frame, 0, 3) > 0.5 };
    an_frame_destroy(frame);
    return WEIR_OK;
}
