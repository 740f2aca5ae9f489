/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A streaming JSON writer: see the header. Owns no memory; errors of the stream stay in the stream
 * (ferror), where the caller looks once at the end.
 */
#include "sim/cli/json_writer.h"

#include "sim/files/utf8.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

static void put_newline(struct sim_json *json)
{
    if (json->compact)
        return;
    fputc('\n', json->out);
    for (uint32_t level = 0; level < json->depth; level++)
        fputs("  ", json->out);
}

/* What comes between the value before and this one. */
static void begin_value(struct sim_json *json)
{
    if (json->after_key) {
        json->after_key = false;
        return;
    }
    if (json->counts[json->depth]++ > 0)
        fputc(',', json->out);
    if (json->depth > 0)
        put_newline(json);
}

static void open_level(struct sim_json *json, char bracket)
{
    begin_value(json);
    fputc(bracket, json->out);
    assert(json->depth + 1 < SIM_JSON_DEPTH);
    json->counts[++json->depth] = 0;
}

static void close_level(struct sim_json *json, char bracket)
{
    assert(json->depth > 0);
    const bool is_empty = json->counts[json->depth--] == 0;
    if (!is_empty)
        put_newline(json);
    fputc(bracket, json->out);
    if (json->depth == 0 && !json->compact)
        fputc('\n', json->out);
}

void sim_json_begin_object(struct sim_json *json)
{
    open_level(json, '{');
}

void sim_json_end_object(struct sim_json *json)
{
    close_level(json, '}');
}

void sim_json_begin_array(struct sim_json *json)
{
    open_level(json, '[');
}

void sim_json_end_array(struct sim_json *json)
{
    close_level(json, ']');
}

static void put_control(FILE *out, unsigned char byte)
{
    switch (byte) {
    case '\n':
        fputs("\\n", out);
        return;
    case '\t':
        fputs("\\t", out);
        return;
    case '\r':
        fputs("\\r", out);
        return;
    default:
        fprintf(out, "\\u%04x", byte);
        return;
    }
}

static void put_quoted(FILE *out, const char *text)
{
    uint32_t point = 0;
    fputc('"', out);
    while (*text != '\0') {
        const size_t length = sim_utf8_decode(text, &point);
        if (length == 0)
            fputs("\xEF\xBF\xBD", out);
        else if (point < 0x20 || point == 0x7F)
            put_control(out, (unsigned char)point);
        else
            fprintf(out, "%s%.*s", point == '"' || point == '\\' ? "\\" : "", (int)length, text);
        text += length > 0 ? length : 1;
    }
    fputc('"', out);
}

struct sim_json *sim_json_key(struct sim_json *json, const char *key)
{
    begin_value(json);
    put_quoted(json->out, key);
    fputs(json->compact ? ":" : ": ", json->out);
    json->after_key = true;
    return json;
}

void sim_json_string(struct sim_json *json, const char *text)
{
    if (text == NULL) {
        sim_json_null(json);
        return;
    }
    begin_value(json);
    put_quoted(json->out, text);
}

void sim_json_number_text(double value, char *text, size_t capacity)
{
    if (!isfinite(value)) {
        (void)snprintf(text, capacity, "null");
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(text, capacity, "%.*g", digits, value);
        const double back = strtod(text, NULL);
        if (!(back < value) && !(back > value))
            return;
    }
}

void sim_json_number(struct sim_json *json, double value)
{
    char text[32];
    sim_json_number_text(value, text, sizeof text);
    sim_json_raw(json, text);
}

void sim_json_integer(struct sim_json *json, int64_t value)
{
    begin_value(json);
    fprintf(json->out, "%lld", (long long)value);
}

void sim_json_unsigned(struct sim_json *json, uint64_t value)
{
    begin_value(json);
    fprintf(json->out, "%llu", (unsigned long long)value);
}

void sim_json_flag(struct sim_json *json, bool value)
{
    sim_json_raw(json, value ? "true" : "false");
}

void sim_json_null(struct sim_json *json)
{
    sim_json_raw(json, "null");
}

void sim_json_raw(struct sim_json *json, const char *text)
{
    begin_value(json);
    fputs(text, json->out);
}
