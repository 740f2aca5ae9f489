/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the tables of a result database hold.
 *
 * The schema is the only list of tables and columns; rules follow from the type of a column and
 * from its name, so that a new table is looked over without a line here:
 *
 *   NOT NULL            has a value
 *   REAL                is finite; a simulated time (..._s) is within what nanoseconds in 64 bits
 *                       hold, and an interval (dt_s) is longer than nothing
 *   INTEGER             is from 0 to 2^53, which a double holds; seeds and masks are any
 *   node, stage, workload, label, ..._node
 *                       name one of the run, and these are numbered from 0 without a gap
 *
 * One statement a table finds the first row that breaks a rule, and which one. It reads every row
 * once and weighs it by one condition a column, that no sound row meets and every broken one does;
 * the rules themselves, with what the row's run counts, are only asked of rows that do.
 */
#include "analysis/database/database.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    NODE_GPUS = 64,        /* WEIR_MAX_NODE_GPUS */
    OPEN_NUMBERS = 1048576 /* of a run that is not over: what it counts is not all there */
};

/* A rule that a row breaks, as the statements number it. */
enum rule { RULE_VALUE, RULE_FINITE, RULE_RANGE, RULES };

static const char *const rule_words[RULES] = {
    [RULE_VALUE] = "has no value",
    [RULE_FINITE] = "is not a finite number",
    [RULE_RANGE] = "is out of range",
};

/* What is counted from 0 in every run: a column of that name is an index. */
static const struct numbered {
    const char *column, *table, *number;
} numbered[] = {
    { "node", "node", "node" },
    { "stage", "stage", "stage" },
    { "workload", "workload", "workload" },
    { "label", "job_label", "label" },
};
enum { NUMBERED = sizeof numbered / sizeof numbered[0] };

struct check {
    sqlite3 *file, *known;
    int64_t version;
    struct weir_error *error;
    int64_t last[NUMBERED]; /* number that is good in every run */
};

/* A column that both the schema and the file have. */
struct column {
    char name[64], type[16];
    bool is_there;
    bool is_unsure; /* must have values, and the file does not see to it itself */
};

static weir_status fail_read(const struct check *check)
{
    const int code = sqlite3_errcode(check->file);
    return weir_fail(check->error, code == SQLITE_NOMEM ? WEIR_ENOMEM : WEIR_EIO,
                     "cannot be read: %s", sqlite3_errmsg(check->file));
}

/* The schema of today is in memory: nothing else can go wrong with it. */
static weir_status out_of_memory(const struct check *check)
{
    return weir_fail(check->error, WEIR_ENOMEM, "out of memory");
}

static bool ends_in(const char *text, const char *end)
{
    const size_t length = strlen(text);
    const size_t tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

static bool is_any_of(const char *text, const char *const *words)
{
    while (*words != NULL && strcmp(text, *words) != 0)
        words++;
    return *words != NULL;
}

/* ---- the shape of a table ---- */

/* False: the file, of an older version, has no such table. */
static weir_status look_at_table(const struct check *check, const char *table, bool *is_there)
{
    sqlite3_stmt *row = NULL;
    if (sqlite3_prepare_v2(check->file, "SELECT is_ours FROM temp.weir_tables WHERE name = ?1", -1,
                           &row, NULL) != SQLITE_OK)
        return fail_read(check);
    (void)sqlite3_bind_text(row, 1, table, -1, SQLITE_STATIC);
    *is_there = sqlite3_step(row) == SQLITE_ROW;
    const bool is_ours = !*is_there || sqlite3_column_int(row, 0) != 0;
    if (sqlite3_finalize(row) != SQLITE_OK)
        return fail_read(check);
    if (!is_ours)
        return weir_fail(check->error, WEIR_EIO,
                         "is damaged: its %s is not the table of the schema", table);
    if (!*is_there && check->version == AN_DATABASE_VERSION)
        return weir_fail(check->error, WEIR_EIO, "is damaged: it has no table %s", table);
    return WEIR_OK;
}

/* ---- rules of a column, as the WHENs of a CASE ---- */

static void add_rule(sqlite3_str *sql, size_t column, enum rule rule, const char *condition)
{
    sqlite3_str_appendf(sql, " WHEN %s THEN %d", condition, (int)(column * RULES + rule));
}

/* As index into what, or NULL. */
static const struct numbered *numbered_by(const struct column *column)
{
    for (size_t i = 0; i < NUMBERED; i++)
        if (strcmp(column->name, numbered[i].column) == 0)
            return &numbered[i];
    return ends_in(column->name, "_node") ? &numbered[0] : NULL;
}

/* The condition that a broken one meets; "" = every number will do. `last` is the last number that
 * an index may have. */
static void write_integer(char text[200], const struct column *column, const char *last)
{
    static const char *const any[] = { "seed", "gpu_mask", "value", NULL };
    const char *name = column->name;
    text[0] = '\0';
    if (numbered_by(column) != NULL)
        (void)sqlite3_snprintf(200, text, "t.%s NOT BETWEEN 0 AND %s", name, last);
    else if (strcmp(name, "gpus") == 0)
        (void)sqlite3_snprintf(200, text, "t.gpus NOT BETWEEN 0 AND %d", NODE_GPUS);
    else if (strcmp(name, "start_unix_s") == 0)
        (void)sqlite3_snprintf(200, text, "abs(t.start_unix_s / 2) > 100000000000");
    else if (!is_any_of(name, any))
        (void)sqlite3_snprintf(200, text, "t.%s NOT BETWEEN 0 AND 9007199254740992", name);
}

static void add_integer(sqlite3_str *sql, size_t index, const struct column *column)
{
    const struct numbered *of = numbered_by(column);
    char last[80] = "";
    char text[200];
    if (of != NULL)
        (void)sqlite3_snprintf(sizeof last, last, "iif(n.is_over, n.%s_count - 1, %d)", of->number,
                               OPEN_NUMBERS);
    write_integer(text, column, last);
    if (text[0] != '\0')
        add_rule(sql, index, RULE_RANGE, text);
}

static bool is_time(const struct column *column)
{
    return ends_in(column->name, "_s") && !ends_in(column->name, "_per_s");
}

static void write_time(char text[200], const struct column *column)
{
    (void)sqlite3_snprintf(200, text, "t.%s NOT BETWEEN %s AND 9.3e9", column->name,
                           strcmp(column->name, "dt_s") == 0 ? "1e-9" : "-9.3e9");
}

static void write_real(char text[200], const struct column *column)
{
    (void)sqlite3_snprintf(200, text, "t.%s NOT BETWEEN -1.7e308 AND 1.7e308", column->name);
}

static void add_real(sqlite3_str *sql, size_t index, const struct column *column)
{
    char text[200];
    write_real(text, column);
    add_rule(sql, index, RULE_FINITE, text);
    if (!is_time(column))
        return;
    write_time(text, column);
    add_rule(sql, index, RULE_RANGE, text);
}

/* What every row that breaks a rule of the column meets, and hardly a sound one. */
static void add_suspicion(sqlite3_str *sql, const struct check *check, const struct column *column)
{
    const struct numbered *of = numbered_by(column);
    char last[32] = "";
    char text[200] = "";
    if (column->is_unsure)
        sqlite3_str_appendf(sql, " OR t.%s IS NULL", column->name);
    if (of != NULL)
        (void)sqlite3_snprintf(sizeof last, last, "%lld", (long long)check->last[of - numbered]);
    if (strcmp(column->type, "INTEGER") == 0)
        write_integer(text, column, last);
    else if (strcmp(column->type, "REAL") == 0 && is_time(column))
        write_time(text, column);
    else if (strcmp(column->type, "REAL") == 0)
        write_real(text, column);
    if (text[0] != '\0')
        sqlite3_str_appendf(sql, " OR %s", text);
}

static void add_column(sqlite3_str *sql, size_t index, const struct column *column)
{
    char text[200];
    if (column->is_unsure) {
        (void)sqlite3_snprintf(sizeof text, text, "t.%s IS NULL", column->name);
        add_rule(sql, index, RULE_VALUE, text);
    }
    if (strcmp(column->type, "INTEGER") == 0)
        add_integer(sql, index, column);
    else if (strcmp(column->type, "REAL") == 0)
        add_real(sql, index, column);
}

/* ---- the rows of a table ---- */

enum { MOST_COLUMNS = 64 };

/* Those of the schema. */
static weir_status read_known(const struct check *check, const char *table,
                              struct column columns[MOST_COLUMNS], size_t *count)
{
    sqlite3_stmt *row = NULL;
    if (sqlite3_prepare_v2(check->known,
                           "SELECT name, type, \"notnull\" OR pk FROM pragma_table_info(?1)", -1,
                           &row, NULL) != SQLITE_OK)
        return out_of_memory(check);
    (void)sqlite3_bind_text(row, 1, table, -1, SQLITE_STATIC);
    for (*count = 0; *count < MOST_COLUMNS && sqlite3_step(row) == SQLITE_ROW; ++*count) {
        struct column *column = &columns[*count];
        *column = (struct column){ .is_unsure = sqlite3_column_int(row, 2) != 0 };
        (void)sqlite3_snprintf(sizeof column->name, column->name, "%s",
                               sqlite3_column_text(row, 0));
        (void)sqlite3_snprintf(sizeof column->type, column->type, "%s",
                               sqlite3_column_text(row, 1));
    }
    return sqlite3_finalize(row) == SQLITE_OK ? WEIR_OK : out_of_memory(check);
}

/* A column of the file: one of the schema must be what it is there; others are nobody's. */
static weir_status match_column(const struct check *check, const char *table, sqlite3_stmt *row,
                                struct column *columns, size_t count)
{
    const char *name = (const char *)sqlite3_column_text(row, 0);
    const char *type = (const char *)sqlite3_column_text(row, 1);
    for (size_t i = 0; i < count && name != NULL && type != NULL; i++) {
        if (strcmp(columns[i].name, name) != 0)
            continue;
        if (sqlite3_stricmp(columns[i].type, type) != 0 || sqlite3_column_int(row, 2) != 0)
            return weir_fail(check->error, WEIR_EIO,
                             "is damaged: column %s of its %s is not of type %s", name, table,
                             columns[i].type);
        columns[i].is_there = true;
        columns[i].is_unsure = columns[i].is_unsure && sqlite3_column_int(row, 3) == 0;
    }
    return WEIR_OK;
}

static weir_status match_columns(const struct check *check, const char *table,
                                 struct column *columns, size_t count)
{
    sqlite3_stmt *row = NULL;
    weir_status status = WEIR_OK;
    if (sqlite3_prepare_v2(check->file,
                           "SELECT name, type, hidden, \"notnull\" FROM pragma_table_xinfo(?1, "
                           "'main')",
                           -1, &row, NULL) != SQLITE_OK)
        return fail_read(check);
    (void)sqlite3_bind_text(row, 1, table, -1, SQLITE_STATIC);
    while (status == WEIR_OK && sqlite3_step(row) == SQLITE_ROW)
        status = match_column(check, table, row, columns, count);
    if (sqlite3_finalize(row) != SQLITE_OK && status == WEIR_OK)
        status = fail_read(check);
    for (size_t i = 0; i < count && status == WEIR_OK; i++)
        if (!columns[i].is_there && check->version == AN_DATABASE_VERSION)
            status = weir_fail(check->error, WEIR_EIO, "is damaged: its table %s has no column %s",
                               table, columns[i].name);
    return status;
}

/* Those columns of the table that the file has, too. */
static weir_status read_columns(const struct check *check, const char *table,
                                struct column columns[MOST_COLUMNS], size_t *count)
{
    size_t known = 0;
    WEIR_TRY(read_known(check, table, columns, &known));
    WEIR_TRY(match_columns(check, table, columns, known));
    *count = 0;
    for (size_t i = 0; i < known; i++)
        if (columns[i].is_there)
            columns[(*count)++] = columns[i];
    return WEIR_OK;
}

/* The number of the rule that the first bad row breaks. NULL = out of memory. */
static char *write_query(const struct check *check, const char *table, const struct column *columns,
                         size_t count)
{
    bool has_run = false;
    sqlite3_str *sql = sqlite3_str_new(NULL);
    sqlite3_str_appendall(sql, "SELECT CASE");
    for (size_t i = 0; i < count; i++) {
        add_column(sql, i, &columns[i]);
        has_run = has_run || strcmp(columns[i].name, "run_id") == 0;
    }
    sqlite3_str_appendf(sql, " WHEN 0 THEN 0 END AS broken FROM main.%s t", table);
    if (has_run)
        sqlite3_str_appendall(sql, " LEFT JOIN temp.weir_counts n USING (run_id)");
    sqlite3_str_appendall(sql, " WHERE (0");
    for (size_t i = 0; i < count; i++)
        add_suspicion(sql, check, &columns[i]);
    sqlite3_str_appendall(sql, ") AND broken IS NOT NULL LIMIT 1");
    return sqlite3_str_finish(sql);
}

static weir_status check_rows(const struct check *check, const char *table,
                              const struct column *columns, size_t count)
{
    sqlite3_stmt *row = NULL;
    char *sql = write_query(check, table, columns, count);
    if (sql == NULL)
        return out_of_memory(check);
    int code = sqlite3_prepare_v2(check->file, sql, -1, &row, NULL);
    sqlite3_free(sql);
    if (code == SQLITE_OK)
        code = sqlite3_step(row);
    weir_status status = WEIR_OK;
    if (code == SQLITE_ROW) {
        const size_t broken = (size_t)sqlite3_column_int(row, 0);
        status = weir_fail(check->error, WEIR_EIO, "is damaged: in its table %s column %s %s",
                           table, columns[broken / RULES].name, rule_words[broken % RULES]);
    } else if (code != SQLITE_DONE) {
        status = fail_read(check);
    }
    (void)sqlite3_finalize(row);
    return status;
}

static weir_status check_table(const struct check *check, const char *table)
{
    struct column columns[MOST_COLUMNS];
    size_t count = 0;
    bool is_there = false;
    WEIR_TRY(look_at_table(check, table, &is_there));
    if (!is_there)
        return WEIR_OK;
    WEIR_TRY(read_columns(check, table, columns, &count));
    return check_rows(check, table, columns, count);
}

/* ---- what is counted ---- */

static weir_status execute(const struct check *check, const char *sql)
{
    return sqlite3_exec(check->file, sql, NULL, NULL, NULL) == SQLITE_OK ? WEIR_OK
                                                                         : fail_read(check);
}

/* Numbers from 0 without a gap, each once: then their count is one more than the last. */
static weir_status count_one(const struct check *check, const struct numbered *of)
{
    bool is_there = false;
    char sql[500];
    WEIR_TRY(look_at_table(check, of->table, &is_there));
    if (!is_there)
        return WEIR_OK;
    (void)sqlite3_snprintf(
        sizeof sql, sql,
        "UPDATE temp.weir_counts AS n SET %s_count = c.rows, is_whole = is_whole AND c.rows = "
        "c.kinds "
        "AND c.first = 0 AND c.last = c.rows - 1 FROM (SELECT run_id, count(*) AS rows, "
        "count(DISTINCT %s) AS kinds, min(%s) AS first, max(%s) AS last FROM main.%s GROUP BY "
        "run_id) "
        "AS c WHERE c.run_id = n.run_id",
        of->number, of->number, of->number, of->number, of->table);
    WEIR_TRY(execute(check, sql));
    sqlite3_stmt *row = NULL;
    if (sqlite3_prepare_v2(check->file,
                           "SELECT 1 FROM temp.weir_counts WHERE is_over AND NOT is_whole", -1,
                           &row, NULL) != SQLITE_OK)
        return fail_read(check);
    const bool is_broken = sqlite3_step(row) == SQLITE_ROW;
    if (sqlite3_finalize(row) != SQLITE_OK)
        return fail_read(check);
    return !is_broken
               ? WEIR_OK
               : weir_fail(check->error, WEIR_EIO,
                           "is damaged: its table %s does not number them from 0 on", of->table);
}

static weir_status count_all(const struct check *check)
{
    bool is_there = false;
    /* Asked for once: SQLite looks into every view for this list. */
    WEIR_TRY(execute(check,
                     "CREATE TEMP TABLE weir_tables AS SELECT name, type = 'table' AND strict AS "
                     "is_ours FROM pragma_table_list WHERE schema = 'main'"));
    WEIR_TRY(look_at_table(check, "run", &is_there));
    WEIR_TRY(execute(
        check, "CREATE TEMP TABLE weir_counts (run_id INTEGER PRIMARY KEY, is_over, node_count "
               "DEFAULT 0, stage_count DEFAULT 0, workload_count DEFAULT 0, label_count "
               "DEFAULT 0, is_whole DEFAULT 1)"));
    WEIR_TRY(execute(check,
                     "INSERT INTO temp.weir_counts (run_id, is_over) SELECT run_id, status NOT IN "
                     "('running', 'failed') FROM main.run"));
    for (size_t i = 0; i < NUMBERED; i++)
        WEIR_TRY(count_one(check, &numbered[i]));
    return WEIR_OK;
}

/* The numbers that are good in whatever run a row is of; without a run, those of one that is not
 * over. */
static weir_status find_last(struct check *check)
{
    for (size_t i = 0; i < NUMBERED; i++) {
        char sql[200];
        sqlite3_stmt *row = NULL;
        (void)sqlite3_snprintf(sizeof sql, sql,
                               "SELECT coalesce(min(iif(is_over, %s_count - 1, %d)), %d) FROM "
                               "temp.weir_counts",
                               numbered[i].number, OPEN_NUMBERS, OPEN_NUMBERS);
        if (sqlite3_prepare_v2(check->file, sql, -1, &row, NULL) != SQLITE_OK ||
            sqlite3_step(row) != SQLITE_ROW) {
            (void)sqlite3_finalize(row);
            return fail_read(check);
        }
        check->last[i] = sqlite3_column_int64(row, 0);
        (void)sqlite3_finalize(row);
    }
    return WEIR_OK;
}

weir_status an_database_check(sqlite3 *file, sqlite3 *known, int64_t version,
                              struct weir_error *error)
{
    struct check check = { .file = file, .known = known, .version = version, .error = error };
    sqlite3_stmt *table = NULL;
    WEIR_TRY(count_all(&check));
    WEIR_TRY(find_last(&check));
    weir_status status = WEIR_OK;
    if (sqlite3_prepare_v2(known, "SELECT name FROM sqlite_schema WHERE type = 'table'", -1, &table,
                           NULL) != SQLITE_OK)
        return out_of_memory(&check);
    while (status == WEIR_OK && sqlite3_step(table) == SQLITE_ROW)
        status = check_table(&check, (const char *)sqlite3_column_text(table, 0));
    if (sqlite3_finalize(table) != SQLITE_OK && status == WEIR_OK)
        status = out_of_memory(&check);
    return status == WEIR_OK
               ? execute(&check, "DROP TABLE temp.weir_counts; DROP TABLE temp.weir_tables")
               : status;
}
