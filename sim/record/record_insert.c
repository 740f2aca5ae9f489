/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One row at a time: the statement of a kind of rows is made of the columns of its first row and
 * kept. All rows of a kind name the same columns; other ones are a programming error.
 */
#include "sim/record/record_state.h"

#include <assert.h>

enum verb { ADD, REPLACE, UPDATE };

/* Whose a row is: that id is a column of all rows of the kind, and comes by itself. */
enum owner { OF_FILE, OF_EXPERIMENT, OF_RUN };
static const char *const owner_columns[] = { "", "experiment_id", "run_id" };

static const struct kind {
    const char *table;
    enum owner owner;
    enum verb verb;
    enum sim_keep level; /* what it belongs to; those of a file and of results need no level */
} kinds[RECORD_KINDS] = {
    [RECORD_META] = { .table = "meta", .owner = OF_FILE, .verb = REPLACE },
    [RECORD_EXPERIMENT] = { .table = "experiment", .owner = OF_FILE },
    [RECORD_INPUT_FILE] = { .table = "input_file", .owner = OF_EXPERIMENT },
    [RECORD_RUN] = { .table = "run", .owner = OF_FILE },
    [RECORD_RUN_END] = { .table = "run", .owner = OF_RUN, .verb = UPDATE },
    [RECORD_RUN_WALL] = { .table = "run_wall", .owner = OF_RUN, .verb = REPLACE },
    [RECORD_NODE] = { .table = "node", .owner = OF_RUN },
    [RECORD_LINK] = { .table = "link", .owner = OF_RUN },
    [RECORD_STAGE] = { .table = "stage", .owner = OF_RUN },
    [RECORD_WORKER] = { .table = "worker", .owner = OF_RUN, .level = SIM_KEEP_JOBS },
    [RECORD_DECISION] = { .table = "decision", .owner = OF_RUN, .level = SIM_KEEP_JOBS },
    [RECORD_DECISION_WALL] = { .table = "decision_wall", .owner = OF_RUN, .level = SIM_KEEP_JOBS },
    [RECORD_DECISION_STAGE] = { .table = "decision_stage",
                                .owner = OF_RUN,
                                .level = SIM_KEEP_JOBS },
    [RECORD_ACTION] = { .table = "action", .owner = OF_RUN, .level = SIM_KEEP_ALL },
    [RECORD_CANDIDATE] = { .table = "candidate", .owner = OF_RUN, .level = SIM_KEEP_ALL },
    [RECORD_HAPPENING] = { .table = "happening", .owner = OF_RUN, .level = SIM_KEEP_SERIES },
    [RECORD_AUDIT] = { .table = "audit", .owner = OF_RUN },
    [RECORD_RESULT] = { .table = "result", .owner = OF_RUN },
    [RECORD_RESULT_WALL] = { .table = "result_wall", .owner = OF_RUN },
    [RECORD_ARRIVAL] = { .table = "arrival_sample", .owner = OF_RUN, .level = SIM_KEEP_SERIES },
    [RECORD_ARRIVAL_PART] = { .table = "arrival_part", .owner = OF_RUN, .level = SIM_KEEP_SERIES },
    [RECORD_PLACEMENT_CHANGE] = { .table = "placement_change", .owner = OF_RUN },
    [RECORD_DEFRAG_MOVE] = { .table = "defrag_move", .owner = OF_RUN, .level = SIM_KEEP_JOBS },
    [RECORD_WORKLOAD] = { .table = "workload", .owner = OF_RUN },
    [RECORD_JOB_LABEL] = { .table = "job_label", .owner = OF_RUN },
    [RECORD_JOB_PACE] = { .table = "job_pace", .owner = OF_RUN, .level = SIM_KEEP_ALL },
    [RECORD_JOB] = { .table = "job", .owner = OF_RUN, .level = SIM_KEEP_JOBS },
    [RECORD_HISTOGRAM] = { .table = "histogram", .owner = OF_RUN },
    [RECORD_EXPECTATION] = { .table = "expectation", .owner = OF_EXPERIMENT },
};

bool sim_recorder_keeps(const struct sim_recorder *recorder, enum sim_keep level)
{
    return recorder != NULL && (recorder->keep == SIM_KEEP_UNSAID || level <= recorder->keep);
}

/* ---- statements ---- */

/* The owner's column comes last in all of them. */
static void add_columns(sqlite3_str *sql, const char *owner, const struct cell *cells, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sqlite3_str_appendf(sql, "%s%s", i == 0 ? "" : ", ", cells[i].column);
    if (owner[0] != '\0')
        sqlite3_str_appendf(sql, ", %s", owner);
    sqlite3_str_appendall(sql, ") VALUES (");
    for (size_t i = 0; i < count; i++)
        sqlite3_str_appendf(sql, "%s%s", i == 0 ? "" : ", ",
                            cells[i].kind == CELL_SQL ? cells[i].text : "?");
    sqlite3_str_appendall(sql, owner[0] != '\0' ? ", ?)" : ")");
}

/* A table whose rows are replaced or changed, or have a value that SQLite finds, is read back when
 * its run is over. */
static void note_table(struct sim_recorder *recorder, enum record_kind kind,
                       const struct cell *cells, size_t count)
{
    bool changes = kinds[kind].verb != ADD;
    for (size_t i = 0; i < count; i++)
        changes = changes || cells[i].kind == CELL_SQL;
    const uint32_t table = record_table(kinds[kind].table);
    recorder->tables[kind] = table;
    if (changes && table != WEIR_NO_INDEX)
        recorder->rewritten |= UINT64_C(1) << table;
}

static weir_status prepare(struct sim_recorder *recorder, enum record_kind kind,
                           const struct cell *cells, size_t count, struct weir_error *error)
{
    const struct kind *rows = &kinds[kind];
    const char *owner = owner_columns[rows->owner];
    sqlite3_str *sql = sqlite3_str_new(recorder->database);
    if (rows->verb == UPDATE) {
        sqlite3_str_appendf(sql, "UPDATE %s SET ", rows->table);
        for (size_t i = 0; i < count; i++)
            sqlite3_str_appendf(sql, "%s%s = ?", i == 0 ? "" : ", ", cells[i].column);
        sqlite3_str_appendf(sql, " WHERE %s = ?", owner);
    } else {
        sqlite3_str_appendf(sql, "INSERT %sINTO %s (", rows->verb == REPLACE ? "OR REPLACE " : "",
                            rows->table);
        add_columns(sql, owner, cells, count);
    }
    note_table(recorder, kind, cells, count);
    return record_prepare_built(recorder, sql, &recorder->statements[kind], error);
}

/* ---- rows ---- */

static int bind_cell(sqlite3_stmt *statement, int position, const struct cell *cell)
{
    switch (cell->kind) {
    case CELL_NULL:
        return sqlite3_bind_null(statement, position);
    case CELL_INT:
        return sqlite3_bind_int64(statement, position, cell->integer);
    case CELL_REAL: /* SQLite itself stores NaN as NULL */
        return sqlite3_bind_double(statement, position, cell->real);
    case CELL_SQL:
        break;
    case CELL_TEXT:
        return sqlite3_bind_text(statement, position, cell->text, -1, SQLITE_STATIC);
    }
    return SQLITE_MISUSE;
}

static uint64_t digest_cell(const struct cell *cell)
{
    const uint64_t column = record_digest_column(cell->column);
    switch (cell->kind) {
    case CELL_INT:
        return record_digest_number(column, (double)cell->integer);
    case CELL_REAL:
        return record_digest_number(column, cell->real);
    case CELL_TEXT:
        return record_digest_text(column, cell->text, strlen(cell->text));
    case CELL_NULL:
    case CELL_SQL:
        break;
    }
    return 0;
}

/* The manifest of a shard is of all its rows. */
static void add_content(struct sim_recorder *recorder, enum record_kind kind,
                        const struct cell *cells, size_t count)
{
    const uint32_t table = recorder->tables[kind];
    if (!recorder->is_shard || table == WEIR_NO_INDEX || (recorder->rewritten >> table & 1) != 0)
        return;
    uint64_t row = 0;
    for (size_t i = 0; i < count; i++)
        row += digest_cell(&cells[i]);
    if (kinds[kind].owner == OF_RUN)
        row += record_digest_number(record_digest_column(owner_columns[OF_RUN]),
                                    (double)recorder->run_id);
    record_add_row(&recorder->contents[table], row);
}

weir_status record_insert(struct sim_recorder *recorder, enum record_kind kind,
                          const struct cell *cells, size_t cell_count, struct weir_error *error)
{
    if (!sim_recorder_keeps(recorder, kinds[kind].level))
        return WEIR_OK;
    if (recorder->statements[kind] == NULL)
        WEIR_TRY(prepare(recorder, kind, cells, cell_count, error));
    sqlite3_stmt *statement = recorder->statements[kind];
    const int64_t owner = kinds[kind].owner == OF_RUN ? recorder->run_id : recorder->experiment_id;
    int position = 0;
    int failed = 0;
    for (size_t i = 0; i < cell_count; i++)
        if (cells[i].kind != CELL_SQL)
            failed |= bind_cell(statement, ++position, &cells[i]);
    if (kinds[kind].owner != OF_FILE)
        failed |= sqlite3_bind_int64(statement, ++position, owner);
    assert(sqlite3_bind_parameter_count(statement) == position);
    if (failed != SQLITE_OK)
        return record_fail(recorder, "bind a value", error);
    add_content(recorder, kind, cells, cell_count);
    return record_step(recorder, statement, 1, error);
}
