/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON into the caller's sink, a value a call. Commas and line breaks come by themselves: the
 * document's values and the objects of its lists have a line each. Numbers have 17 significant
 * digits, so that reading them back gives the same doubles and the same units. The first failure
 * stays, and everything after it is dropped.
 */
#ifndef SCHED_INTERNAL_JSON_H
#define SCHED_INTERNAL_JSON_H

#include "weir/host.h"

/* Zero it but for `sink`. */
struct weir_json {
    const struct weir_sink *sink;
    weir_status status;
    uint32_t depth;
    bool has_before; /* a value of the same object or list ... */
    bool has_line;   /* ... which began a line */
};

/* `key` is NULL in lists. `bracket` is '{' or '['. */
void weir_json_open(struct weir_json *json, const char *key, char bracket);
void weir_json_close(struct weir_json *json, char bracket);
void weir_json_text(struct weir_json *json, const char *key, const char *text);
/* NaN and infinities are unknown values: null. */
void weir_json_number(struct weir_json *json, const char *key, double value);
void weir_json_integer(struct weir_json *json, const char *key, int64_t value);
/* As a text of digits: no reader of JSON loses any. */
void weir_json_word(struct weir_json *json, const char *key, uint64_t value);
void weir_json_flag(struct weir_json *json, const char *key, bool value);
void weir_json_null(struct weir_json *json, const char *key);

#endif
