/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A streaming JSON writer.
 *
 * Values go out in the order of the calls; the writer keeps commas, quotes and indentation right.
 * Numbers print with the fewest digits that read back exactly; NaN and infinities become null.
 * Text that is not UTF-8 has its bad bytes replaced by U+FFFD. Deeper than SIM_JSON_DEPTH levels is
 * our bug and asserted. For text in memory hand it an open_memstream() file.
 */
#ifndef SIM_CLI_JSON_WRITER_H
#define SIM_CLI_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { SIM_JSON_DEPTH = 32 };

/* Zero it but for `out` (and `compact` for everything on one line). */
struct sim_json {
    FILE *out;
    bool compact;
    bool after_key;
    uint32_t depth;
    uint64_t counts[SIM_JSON_DEPTH]; /* values written at each level */
};

void sim_json_begin_object(struct sim_json *json);
void sim_json_end_object(struct sim_json *json);
void sim_json_begin_array(struct sim_json *json);
void sim_json_end_array(struct sim_json *json);

/* The name of the next value of an object; returns `json`, to which the value is then written. */
struct sim_json *sim_json_key(struct sim_json *json, const char *key);

void sim_json_string(struct sim_json *json, const char *text); /* NULL = null */
void sim_json_number(struct sim_json *json, double value);
void sim_json_integer(struct sim_json *json, int64_t value);
void sim_json_unsigned(struct sim_json *json, uint64_t value);
void sim_json_flag(struct sim_json *json, bool value);
void sim_json_null(struct sim_json *json);
/* A number that is text already ("0.25"); must be valid JSON. */
void sim_json_raw(struct sim_json *json, const char *text);

/* The shortest text of `value` that reads back to it; at most 32 bytes. "null" when not finite. */
void sim_json_number_text(double value, char *text, size_t capacity);

#endif
