/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The query layer: the only file that talks to SQLite.
 *
 * A query yields a frame: a table of numbers and texts in memory. SQL NULL and text are NAN as
 * numbers, numbers are "" as texts. Statements name their parameters (:run :text :from :to :id), so
 * that one argument block serves them all. Runs and their results are read here once and handed to
 * sentences, tables and charts alike.
 */
#ifndef ANALYSIS_QUERY_H
#define ANALYSIS_QUERY_H

#include "analysis/analysis.h"

struct an_frame {
    size_t row_count, column_count;
    double *numbers; /* row after row */
    char **texts;    /* row after row; NULL = not a text */
    char **names;    /* of the columns */
};

/* Values of the named parameters; those a statement does not name are ignored. */
struct an_args {
    int64_t run;
    int64_t id;
    const char *text;
    double from, to;
};

/* `args` may be NULL. An empty result is a frame without rows. WEIR_EUNSUPPORTED: the file is older
 * than a table that the statement names. */
weir_status an_query(struct an_db *db, const char *sql, const struct an_args *args,
                     struct an_frame **frame, struct weir_error *error);
/* The same row by row, for more rows than memory should hold: `each` gets the numbers of one. */
weir_status an_query_each(struct an_db *db, const char *sql, const struct an_args *args,
                          void (*each)(void *state, const double *numbers), void *state,
                          struct weir_error *error);
void an_frame_destroy(struct an_frame *frame);
/* Holds the frames and numbers of one piece of work until they are all let go together. */
struct an_kept;
struct an_keeper {
    struct an_db *db;
    struct an_kept *kept; /* the last one; NULL = none */
    weir_status unread;   /* an error that nobody asked for */
};
/* `error` NULL: an_keep_check tells of it, which who ends the work calls. That a file is older than
 * a table is none then. */
weir_status an_keep_query(struct an_keeper *keeper, const char *sql, const struct an_args *args,
                          const struct an_frame **frame, struct weir_error *error);
/* Zeroed. */
weir_status an_keep_numbers(struct an_keeper *keeper, size_t count, double **numbers,
                            struct weir_error *error);
weir_status an_keep_check(const struct an_keeper *keeper, struct weir_error *error);
void an_keep_clear(struct an_keeper *keeper);
const char *an_column(const struct an_frame *frame, size_t column);
/* What several statements read, worked out once for a run: they find it as a table of that name,
 * until it is asked for with other arguments. */
struct an_shared {
    const char *name, *sql;
};
weir_status an_share(struct an_db *db, const struct an_shared *shared, const struct an_args *args,
                     struct weir_error *error);
/* Files of older versions lack the newer tables. */
weir_status an_has_table(struct an_db *db, const char *name, bool *has, struct weir_error *error);

/* SQL: kinds of what happens to nodes because more or fewer of them are wanted: no fault. */
#define AN_SUPPLY_SQL "('node_requested', 'node_came', 'node_released', 'node_notice')"

double an_number(const struct an_frame *frame, size_t row, size_t column);
/* Never NULL. */
const char *an_text(const struct an_frame *frame, size_t row, size_t column);

/* One run and the experiment around it. */
struct an_run {
    struct an_keeper keeper; /* of the texts */
    int64_t run_id, experiment_id;
    const char *scenario, *description, *command_line, *baseline, *scenario_digest;
    const char *variant, *placement, *scaling, *status, *message, *version;
    uint32_t replication, replications; /* of its variant */
    int64_t seed, start_unix_s;         /* 0 = not given */
    double warmup_s, end_s, sample_s;   /* end: so far, when it still runs */
    bool is_steady;
};

/* By its number in the file: names of variants are cleaned when they are read. */
weir_status an_run_read(struct an_db *db, int64_t run_id, struct an_run **run,
                        struct weir_error *error);
/* `variant` NULL = the experiment's baseline. WEIR_ENOTFOUND lists the variants there are. */
weir_status an_run_find(struct an_db *db, const char *variant, uint32_t replication,
                        struct an_run **run, struct weir_error *error);
void an_run_destroy(struct an_run *run);

const char *an_db_path(const struct an_db *db);
/* What readers are told to be its path: a copy stands for what it is of. */
weir_status an_db_rename(struct an_db *db, const char *path, struct weir_error *error);

/* One result of a run; value NAN when there is none. */
struct an_value {
    double value;
    double n, censored;
    bool is_lower_bound;
};
weir_status an_result(struct an_db *db, int64_t run_id, const char *metric, struct an_value *value,
                      struct weir_error *error);

#endif
