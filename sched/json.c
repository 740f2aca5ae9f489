/* SPDX-License-Identifier: Apache-2.0 */
/* Writing JSON; see the header. */
#include "sched/internal/json.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LINE_DEPTH = 2 }; /* values up to here have a line each */

static void put_text(struct weir_json *json, const char *text, size_t length)
{
    if (json->status == WEIR_OK && length > 0)
        json->status = json->sink->write(json->sink->state, text, length);
}

static void put(struct weir_json *json, const char *format, ...) WEIR_PRINTF(2, 3);

/* At most 255 bytes; longer pieces are made of several calls. */
static void put(struct weir_json *json, const char *format, ...)
{
    char text[256];
    va_list arguments;

    va_start(arguments, format);
    const int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof text)
        json->status = WEIR_EINVARIANT;
    else
        put_text(json, text, (size_t)length);
}

static void put_string(struct weir_json *json, const char *text)
{
    put(json, "\"");
    for (const char *at = text; *at != '\0'; at++) {
        const unsigned char byte = (unsigned char)*at;
        if (byte == '"' || byte == '\\')
            put(json, "\\%c", byte);
        else if (byte < 0x20)
            put(json, "\\u%04x", byte);
        else
            put_text(json, at, 1);
    }
    put(json, "\"");
}

static void new_line(struct weir_json *json)
{
    put(json, "\n%*s", (int)(2 * json->depth), "");
}

/* What stands before a value: numbers of a list share a line. */
static void begin(struct weir_json *json, const char *key, bool is_open)
{
    const bool has_line =
        json->depth == 1 || (json->depth == LINE_DEPTH && (key != NULL || is_open));

    if (json->has_before)
        put(json, "%s", has_line ? "," : ", ");
    if (has_line)
        new_line(json);
    json->has_before = true;
    json->has_line = has_line;
    if (key == NULL)
        return;
    put_string(json, key);
    put(json, ": ");
}

void weir_json_open(struct weir_json *json, const char *key, char bracket)
{
    begin(json, key, true);
    put(json, "%c", bracket);
    json->depth++;
    json->has_before = false;
    json->has_line = false;
}

void weir_json_close(struct weir_json *json, char bracket)
{
    json->depth--;
    if (json->has_line)
        new_line(json);
    put(json, "%c", bracket == '{' ? '}' : ']');
    json->has_before = true;
    json->has_line = json->depth > 0 && json->depth <= LINE_DEPTH;
    if (json->depth == 0)
        put(json, "\n");
}

void weir_json_text(struct weir_json *json, const char *key, const char *text)
{
    begin(json, key, false);
    put_string(json, text);
}

void weir_json_number(struct weir_json *json, const char *key, double value)
{
    begin(json, key, false);
    if (isfinite(value))
        put(json, "%.17g", value);
    else
        put(json, "null");
}

void weir_json_integer(struct weir_json *json, const char *key, int64_t value)
{
    begin(json, key, false);
    put(json, "%lld", (long long)value);
}

void weir_json_word(struct weir_json *json, const char *key, uint64_t value)
{
    begin(json, key, false);
    put(json, "\"%llu\"", (unsigned long long)value);
}

void weir_json_flag(struct weir_json *json, const char *key, bool value)
{
    begin(json, key, false);
    put(json, "%s", value ? "true" : "false");
}

void weir_json_null(struct weir_json *json, const char *key)
{
    begin(json, key, false);
    put(json, "null");
}
