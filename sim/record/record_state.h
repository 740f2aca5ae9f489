/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The inside of the recorder, shared by record*.c alone.
 *
 * A `cell` is one typed value of a row. Ordinary rows go through record_insert, one statement a
 * kind; samples (record_sample.c) are collected and go 16 an INSERT. Both count rows and let
 * record_pace commit. Invariant: is_open says whether a transaction is open.
 */
#ifndef SIM_RECORD_RECORD_STATE_H
#define SIM_RECORD_RECORD_STATE_H

#include "sim/engine/digest.h"
#include "sim/record/record.h"

#include <math.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <string.h>

enum record_kind {
    RECORD_META,
    RECORD_EXPERIMENT,
    RECORD_INPUT_FILE,
    RECORD_RUN,
    RECORD_RUN_END,
    RECORD_RUN_WALL,
    RECORD_NODE,
    RECORD_LINK,
    RECORD_STAGE,
    RECORD_WORKER,
    RECORD_DECISION,
    RECORD_DECISION_WALL,
    RECORD_DECISION_STAGE,
    RECORD_ACTION,
    RECORD_CANDIDATE,
    RECORD_HAPPENING,
    RECORD_AUDIT,
    RECORD_RESULT,
    RECORD_RESULT_WALL,
    RECORD_ARRIVAL,
    RECORD_ARRIVAL_PART,
    RECORD_PLACEMENT_CHANGE,
    RECORD_DEFRAG_MOVE,
    RECORD_WORKLOAD,
    RECORD_JOB_LABEL,
    RECORD_JOB_PACE,
    RECORD_JOB,
    RECORD_HISTOGRAM,
    RECORD_EXPECTATION,
    RECORD_KINDS
};

enum { RECORD_RUN_TABLES = 32 };

enum cell_kind { CELL_NULL, CELL_INT, CELL_REAL, CELL_TEXT, CELL_SQL };

struct cell {
    const char *column;
    enum cell_kind kind;
    int64_t integer;
    double real;
    const char *text;
};

static inline struct cell cell_int(const char *column, int64_t value)
{
    return (struct cell){ .column = column, .kind = CELL_INT, .integer = value };
}

/* NaN becomes NULL. */
static inline struct cell cell_real(const char *column, double value)
{
    return (struct cell){ .column = column, .kind = CELL_REAL, .real = value };
}

/* NULL becomes ''. The text must live until the row is written. */
static inline struct cell cell_text(const char *column, const char *text)
{
    return (struct cell){ .column = column, .kind = CELL_TEXT, .text = text ? text : "" };
}

/* NULL unless `has`. */
static inline struct cell cell_if(bool has, struct cell cell)
{
    cell.kind = has ? cell.kind : CELL_NULL;
    return cell;
}

/* An expression, the same in all rows. */
static inline struct cell cell_sql(const char *column, const char *text)
{
    return (struct cell){ .column = column, .kind = CELL_SQL, .text = text };
}

enum { SAMPLE_KINDS = SIM_SAMPLE_FEATURES + 1, SAMPLE_BATCH = 16, SAMPLE_VALUES_MAX = 25 };

struct sample_row {
    uint32_t index;
    double t_s, dt_s;
    double values[SAMPLE_VALUES_MAX];
};

struct sample_table {
    sqlite3_stmt *one, *batch; /* prepared at first use */
    uint32_t table;            /* its place in record_run_tables, then */
    size_t pending;
    struct sample_row rows[SAMPLE_BATCH];
};

/* What the rows of a table say, in their order. */
struct table_content {
    int64_t row_count;
    uint64_t digest;
};

struct sim_recorder {
    sqlite3 *database;
    char *path;
    sqlite3_stmt *statements[RECORD_KINDS]; /* prepared at first use */
    uint32_t tables[RECORD_KINDS];          /* their places in record_run_tables, then */
    struct sample_table samples[SAMPLE_KINDS];
    char *temporary;  /* the name until the first run; NULL = it has its own */
    bool is_shard;    /* of one run: has a manifest, needs no indexes */
    bool is_fleeting; /* it need not outlive the program */
    bool has_lost;    /* rows that were written are gone */
    bool has_failed;  /* something could not be written */
    bool is_open;     /* inside a transaction */
    uint32_t rows;    /* since the last commit */
    struct table_content contents[RECORD_RUN_TABLES]; /* of a shard */
    uint64_t
        rewritten; /* tables of record_run_tables whose rows change, the first the lowest bit */
    int64_t commit_due_ns;
    int64_t experiment_id, run_id;
    int64_t run_start_unix_s; /* wall clock */
    enum sim_keep keep;       /* of the present run */
    uint64_t *denials;        /* by kind of job: a digest of the latest denial that has a row */
    uint32_t denial_capacity;
};

/* record.c */
/* "PATH: cannot WHAT: <message of sqlite>": WEIR_ENOMEM when memory or disk are at their end, else
 * WEIR_EIO. */
weir_status record_fail(struct sim_recorder *recorder, const char *what, struct weir_error *error);
weir_status record_execute(struct sim_recorder *recorder, const char *sql,
                           struct weir_error *error);
weir_status record_prepare(struct sim_recorder *recorder, const char *sql, sqlite3_stmt **statement,
                           struct weir_error *error);
/* The same of a text that was put together, which ends with it. */
weir_status record_prepare_built(struct sim_recorder *recorder, sqlite3_str *sql,
                                 sqlite3_stmt **statement, struct weir_error *error);
/* The first value of a query. */
weir_status record_read_integer(struct sim_recorder *recorder, const char *sql, int64_t *value,
                                struct weir_error *error);
/* Steps a bound statement that returns no rows and resets it; opens a transaction if none is open,
 * counts `rows`, commits when it is time. */
weir_status record_step(struct sim_recorder *recorder, sqlite3_stmt *statement, uint32_t rows,
                        struct weir_error *error);
weir_status record_begin(struct sim_recorder *recorder, struct weir_error *error);
weir_status record_commit(struct sim_recorder *recorder, struct weir_error *error);
/* Whether a commit waits until the disk has it, or only until the log does. */
weir_status record_set_synchronous(struct sim_recorder *recorder, bool is_full,
                                   struct weir_error *error);
/* Log mode, and no indexes. */
weir_status record_prepare_loading(struct sim_recorder *recorder, struct weir_error *error);
void record_finalize_statements(struct sim_recorder *recorder);
bool record_is_full(int system_error);
/* An empty file that nobody may read who may not read `like`, or by the umask when
 * that is not there. */
weir_status record_create_empty(const char *made, const char *like, struct weir_error *error);
/* A database that is complete, and closed, takes the place of what was there. */
weir_status record_give_name(const char *made, const char *path, struct weir_error *error);

/* record_file.c */
/* A recorder of the name, as `begin` makes or finds it; no link is followed. */
weir_status record_open(const char *path,
                        weir_status (*begin)(struct sim_recorder *, struct weir_error *),
                        struct sim_recorder **recorder, struct weir_error *error);
weir_status record_connect(struct sim_recorder *recorder, const char *path,
                           struct weir_error *error);
/* WEIR_EIO when what lies there is not to be replaced. */
weir_status record_check_target(const char *path, bool overwrite, struct weir_error *error);
/* Versions of what wrote it. */
weir_status record_write_meta(struct sim_recorder *recorder, struct weir_error *error);
/* A new file takes its name, with all that was written so far, if it has not yet. */
weir_status record_publish(struct sim_recorder *recorder, struct weir_error *error);
/* A recorder that reads a file as its writer left it; record_discard() it. */
weir_status record_open_reader(const char *path, struct sim_recorder **recorder,
                               struct weir_error *error);
void record_discard(struct sim_recorder *recorder);
/* Closes a file that has its name; the disk has a shard then. */
weir_status record_let_go(struct sim_recorder *recorder, struct weir_error *error);

/* record_manifest.c: of the present run, before the commit that ends it. */
weir_status record_write_manifest(struct sim_recorder *recorder, struct weir_error *error);
/* The place in record_run_tables, or WEIR_NO_INDEX. */
uint32_t record_table(const char *table);
/* A row is the sum of its values, below. */
void record_add_row(struct table_content *content, uint64_t row);
static inline uint64_t record_digest_column(const char *name)
{
    return sim_digest_bytes(SIM_DIGEST_START, name, strlen(name));
}
/* NaN is NULL, and zero has no sign: as SQLite keeps them. */
static inline uint64_t record_digest_number(uint64_t column, double value)
{
    const double kept = value + 0.0;
    uint64_t bits = 0;
    memcpy(&bits, &kept, sizeof bits);
    return isnan(value) ? 0 : sim_digest_word(column, bits);
}
static inline uint64_t record_digest_text(uint64_t column, const char *text, size_t length)
{
    return sim_digest_bytes(~column, text, length);
}
/* Which of record_run_tables have rows, the first in the lowest bit; of "main" or what is attached.
 */
weir_status record_find_present(struct sim_recorder *recorder, const char *schema,
                                uint64_t *present, struct weir_error *error);

/* record_insert.c: one row of a kind; nothing without a recorder or when its level is not kept. */
weir_status record_insert(struct sim_recorder *recorder, enum record_kind kind,
                          const struct cell *cells, size_t cell_count, struct weir_error *error);
#define INSERT(recorder, kind, cells, error)                                                       \
    record_insert((recorder), (kind), (cells), sizeof(cells) / sizeof((cells)[0]), (error))

/* record_sample.c */
weir_status record_flush_samples(struct sim_recorder *recorder, struct weir_error *error);
void record_close_samples(struct sim_recorder *recorder);

/* Tables whose rows carry a run_id, NULL-terminated: for removing and copying runs. */
extern const char *const record_run_tables[];

static inline struct cell cell_index(const char *column, uint32_t index)
{
    return cell_if(index != WEIR_NO_INDEX, cell_int(column, index));
}

/* Whose a row is: a stage's, or a rank's of a job. */
static inline struct cell cell_pool(const char *column, const struct weir_owner *owner)
{
    return cell_if(owner->kind == WEIR_OWNER_POOL, cell_index(column, owner->index));
}
static inline struct cell cell_workload(const char *column, const struct weir_owner *owner)
{
    return cell_if(owner->kind == WEIR_OWNER_JOB, cell_int(column, owner->index));
}
static inline struct cell cell_job(const char *column, const struct weir_owner *owner)
{
    return cell_if(owner->kind == WEIR_OWNER_JOB, cell_int(column, (int64_t)owner->id));
}

#endif
