/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tables of results, printed alike by every command: for people, as JSON, CSV, Markdown or LaTeX.
 *
 * A column has a heading for people and a machine name for JSON and CSV; a unit is shown with the
 * heading. Cells are text; numbers come as the caller rounded them for people, and JSON prints a
 * cell of a number column bare ("" and "-" become null). Widths are right for UTF-8, and the
 * process's locale is never touched.
 */
#ifndef SIM_CLI_TABLE_H
#define SIM_CLI_TABLE_H

#include "sim/cli/json_writer.h"
#include "weir/version.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define SIM_FORMATS(X)                                                                             \
    X(SIM_FORMAT_TABLE, "table")                                                                   \
    X(SIM_FORMAT_JSON, "json")                                                                     \
    X(SIM_FORMAT_CSV, "csv")                                                                       \
    X(SIM_FORMAT_MD, "md")                                                                         \
    X(SIM_FORMAT_LATEX, "latex")

#define SIM_FORMAT_ENUM(name, text) name,
enum sim_format { SIM_FORMATS(SIM_FORMAT_ENUM) SIM_FORMAT_COUNT };
#undef SIM_FORMAT_ENUM

/* For people: sentences stand beside the table. */
static inline bool sim_format_is_text(enum sim_format format)
{
    return format == SIM_FORMAT_TABLE || format == SIM_FORMAT_MD;
}

struct sim_column {
    const char *header; /* for people */
    const char *name;   /* for machines: throughput_per_s */
    const char *unit;   /* shown behind the heading, NULL or "" = none */
    bool is_right;      /* aligned to the right */
    bool is_number;     /* bare in JSON */
};

struct sim_table;

/* `columns` must outlive the table. Ends the program when memory runs out. */
struct sim_table *sim_table_create(const struct sim_column *columns, size_t count);
/* The next cell; a row is over when it has as many cells as there are columns. NULL = empty. */
void sim_table_add(struct sim_table *table, const char *text);
void sim_table_addf(struct sim_table *table, const char *format, ...) WEIR_PRINTF(2, 3);
/* The next cells: rounded for people, exact for programs, "-" for what is not finite. */
void sim_table_add_numbers(struct sim_table *table, enum sim_format format, const double *values,
                           size_t count);
/* A row of texts. */
void sim_table_row(struct sim_table *table, const char *const *cells);
size_t sim_table_rows(const struct sim_table *table);
/* JSON: {"schema": 1, "version": "0.1.0", "rows": [{...}, ...]}. */
void sim_table_print(const struct sim_table *table, enum sim_format format, FILE *out);
/* Sentences, broken between words where the terminal ends; what goes on is indented by two. */
void sim_print_text(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The rows alone, as an array of objects inside a larger document. */
void sim_table_write_json(const struct sim_table *table, struct sim_json *json);
void sim_table_destroy(struct sim_table *table);

/* Text of a number for tables: `digits` significant ones, plain notation where it stays short;
 * "-" for NaN. Returns `text`. */
const char *sim_table_number(double value, int digits, char *text, size_t capacity);

/* A cell of CSV (RFC 4180); what a spreadsheet would take for a formula has an apostrophe in front.
 */
void sim_csv_cell(const char *text, FILE *out);

/* Around sentences that stand beside a table: TeX passes them over. */
void sim_table_remarks(enum sim_format format, bool begins, FILE *out);
/* One of them: what Markdown or TeX would read as something else is text. */
void sim_table_say(enum sim_format format, FILE *out, const char *words, ...) WEIR_PRINTF(3, 4);

#endif
