/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tables in CSV files of others: columns by header name, one row at a time, mistakes by place.
 *
 * Reads plain, gzip and zstd files. A byte-order mark, empty lines, CR LF, quoted delimiters and
 * line ends are understood; the delimiter is found in the header (, ; tab |). A row is bad when it
 * has another number of fields than the header, breaks the quoting rules, holds a zero byte, is
 * longer than WL_CSV_ROW_BYTES, or when the sink refuses it. What a bad row means is the caller's
 * choice: the first one ends the reading, or it is skipped and counted.
 * Messages begin with FILE:LINE:FIELD, all counted from 1. LINE is where the row begins.
 */
#ifndef WORKLOADS_CSV_TABLE_H
#define WORKLOADS_CSV_TABLE_H

#include "workloads/byte_source.h"

#include <stdbool.h>

enum { WL_CSV_ROW_BYTES = 1 << 20, WL_CSV_COLUMNS = 32, WL_CSV_MESSAGES = 3 };

struct wl_csv_column {
    const char *name;
    bool is_required;
    const char *alias; /* the header's word for it; NULL = the same */
    const char *words; /* what it may be called as well, parted by '|'; NULL = nothing else */
};

/* Whether a word of a header is one of these, whatever its case, and with a blank or '-' for '_'.
 */
bool wl_csv_is_called(const char *text, const char *words);

struct wl_csv_options {
    const char *path; /* for messages, and to open when `bytes` is NULL; "-" = standard input */
    const uint8_t *bytes;
    size_t byte_count;
    const struct wl_csv_column *columns; /* at most WL_CSV_COLUMNS */
    size_t column_count;                 /* 0 = all of the file, in its order */
    const char *const *header;           /* of a file that has none itself */
    size_t header_count;
    char delimiter; /* 0 = find it */
    bool skips_bad_rows;
    const struct wl_limits *limits; /* NULL = the defaults */
};

/* One row: cells in the order of options->columns; NULL = no such column, or nothing in it. */
struct wl_csv_row {
    const struct wl_csv_options *options;
    size_t line;
    const size_t *fields; /* place in the file of each column, from 1 */
    const char *const *cells;
};

struct wl_csv_sink {
    /* WEIR_EFORMAT = this row is bad; any other failure ends the reading. */
    weir_status (*row)(void *state, const struct wl_csv_row *row, struct weir_error *error);
    /* After the header: which columns there are. NULL = not wanted. */
    weir_status (*header)(void *state, const bool *has_column, struct weir_error *error);
    /* The header's words, NULL for an empty one; before `header`. NULL = not wanted. */
    weir_status (*names)(void *state, const char *const *names, size_t count,
                         struct weir_error *error);
    /* Told of every row that is bad by its form, and of a header without a column it needs: with it
     * such rows are passed over, and none ends the reading. NULL = not wanted. */
    void (*bad)(void *state, size_t line, size_t field, const char *message);
    void *state;
};

struct wl_csv_counts {
    size_t rows, skipped;
    char messages[WL_CSV_MESSAGES][WEIR_ERROR_TEXT]; /* of the first rows skipped */
};

weir_status wl_csv_read(const struct wl_csv_options *options, const struct wl_csv_sink *sink,
                        struct wl_csv_counts *counts, struct weir_error *error);

/* The delimiter that reading would find in a header of this text. */
char wl_csv_delimiter(const char *line, size_t length);

/* ---- for sinks ---- */

/* A refusal of a cell: "trace.csv:7:3: column 'start': MESSAGE". */
weir_status wl_csv_fail(const struct wl_csv_row *row, size_t column, struct weir_error *error,
                        const char *format, ...) WEIR_PRINTF(4, 5);
/* The cell as a finite decimal number; an empty one leaves *value as it is. */
weir_status wl_csv_number(const struct wl_csv_row *row, size_t column, double *value,
                          struct weir_error *error);
/* The cell as a whole number within the range; an empty one is refused. */
struct wl_range {
    int64_t min, max;
};
weir_status wl_csv_whole(const struct wl_csv_row *row, size_t column, struct wl_range range,
                         int64_t *value, struct weir_error *error);

#endif
