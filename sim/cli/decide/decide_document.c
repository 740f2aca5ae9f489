/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading and printing documents (see decide_document.h). */
#include "sim/cli/decide/decide_document.h"

#include "sim/cli/json_writer.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A key twice in one object would be one of the two at random. */
enum { READING = JSON_REJECT_DUPLICATES };

/* ---- reading ---- */

/* A whole file as text with a zero at its end; "-" is standard input. */
static weir_status read_all(const char *path, char **text, size_t *length, struct weir_error *error)
{
    FILE *const file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    char *buffer = NULL;
    size_t used = 0;
    size_t capacity = 0;
    bool is_done = false;

    if (file == NULL)
        return weir_fail(error, WEIR_EIO, "%s: %s", path, strerror(errno));
    while (!is_done) {
        capacity = capacity == 0 ? 1 << 16 : capacity * 2;
        char *const larger = realloc(buffer, capacity);
        if (larger == NULL)
            break;
        buffer = larger;
        used += fread(buffer + used, 1, capacity - used - 1, file);
        is_done = used + 1 < capacity;
    }
    const bool has_failed = ferror(file) != 0;
    if (file != stdin)
        fclose(file);
    if (!is_done || has_failed) {
        free(buffer);
        return weir_fail(error, is_done ? WEIR_EIO : WEIR_ENOMEM, "%s: cannot be read", path);
    }
    buffer[used] = '\0';
    *text = buffer;
    *length = used;
    return WEIR_OK;
}

static weir_status bad_json(const char *path, const json_error_t *fault, int line,
                            struct weir_error *error)
{
    const bool is_other = line == 1 && fault->column <= 1;
    return weir_fail(error, WEIR_EFORMAT, "%s:%d:%d: %s%s", path, line, fault->column, fault->text,
                     is_other ? "; a decision is a JSON document: weir export DB --to decision "
                                "--at TIME writes one"
                              : "");
}

/* One document a line; empty lines are left out. */
static weir_status read_lines(struct decide_documents *documents, struct weir_error *error)
{
    json_error_t fault;
    size_t count = 0;
    int line = 0;

    for (const char *at = documents->text; *at != '\0'; line++) {
        const size_t length = strcspn(at, "\n");
        if (strspn(at, " \t\r") < length) {
            json_t *const document = json_loadb(at, length, READING, &fault);
            size_t *const starts = realloc(documents->starts, (count + 1) * sizeof *starts);
            if (starts != NULL)
                documents->starts = starts;
            if (document == NULL || starts == NULL) {
                json_decref(document);
                return starts == NULL ? weir_fail(error, WEIR_ENOMEM, "out of memory")
                                      : bad_json(documents->path, &fault, line + 1, error);
            }
            starts[count++] = (size_t)(at - documents->text);
            json_array_append_new(documents->list, document);
        }
        at += length + (at[length] == '\n');
    }
    return WEIR_OK;
}

/* Whether the text goes on after its first line: then a fault may mean JSON lines. */
static bool has_lines(const char *text)
{
    json_t *const document = json_loadb(text, strcspn(text, "\n"), READING, NULL);

    json_decref(document);
    return document != NULL;
}

/* Takes the text over. */
static weir_status read_text(const char *path, char *text, size_t length,
                             struct decide_documents *documents, struct weir_error *error)
{
    json_error_t fault;
    json_t *const whole = json_loadb(text, length, READING, &fault);

    *documents = (struct decide_documents){ .path = path, .text = text };
    documents->is_array = json_is_array(whole);
    if (whole != NULL) {
        documents->list = documents->is_array ? whole : json_pack("[o]", whole);
        return WEIR_OK;
    }
    if (!has_lines(text))
        return bad_json(path, &fault, fault.line, error);
    documents->list = json_array();
    return read_lines(documents, error);
}

weir_status decide_documents_load(const char *path, struct decide_documents *documents,
                                  struct weir_error *error)
{
    size_t length = 0;
    char *text = NULL;

    *documents = (struct decide_documents){ .path = path };
    WEIR_TRY(read_all(path, &text, &length, error));
    assert(text != NULL);
    return read_text(path, text, length, documents, error);
}

weir_status decide_documents_parse(const char *path, const char *text, size_t length,
                                   struct decide_documents *documents, struct weir_error *error)
{
    char *const copy = malloc(length + 1);

    *documents = (struct decide_documents){ .path = path };
    if (copy == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    if (length > 0)
        memcpy(copy, text, length);
    copy[length] = '\0';
    return read_text(path, copy, length, documents, error);
}

void decide_documents_clear(struct decide_documents *documents)
{
    json_decref(documents->list);
    free(documents->starts);
    free(documents->text);
    *documents = (struct decide_documents){ .path = documents->path };
}

struct sim_json_place decide_documents_place(const struct decide_documents *documents, size_t index,
                                             const struct sim_json_step *steps, size_t count)
{
    struct sim_json_step all[1 + SIM_JSON_STEPS] = { { .index = index } };
    const size_t known = count < SIM_JSON_STEPS ? count : SIM_JSON_STEPS;
    const size_t from = documents->starts != NULL ? documents->starts[index] : 0;

    for (size_t i = 0; i < known; i++)
        all[1 + i] = steps[i];
    return documents->is_array ? sim_json_locate(documents->text, 0, all, known + 1)
                               : sim_json_locate(documents->text, from, steps, known);
}

/* ---- printing ---- */

static void write_value(struct sim_json *out, const json_t *value);

static void write_object(struct sim_json *out, const json_t *value)
{
    /* jansson's iterators ask for a mutable object although they change nothing.
     * NOLINTNEXTLINE(performance-no-int-to-ptr): the cast takes away const alone */
    json_t *const object = json_incref((json_t *)(uintptr_t)value);

    sim_json_begin_object(out);
    for (void *at = json_object_iter(object); at != NULL; at = json_object_iter_next(object, at)) {
        sim_json_key(out, json_object_iter_key(at));
        write_value(out, json_object_iter_value(at));
    }
    sim_json_end_object(out);
    json_decref(object);
}

static void write_value(struct sim_json *out, const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        write_object(out, value);
        break;
    case JSON_ARRAY:
        sim_json_begin_array(out);
        for (size_t i = 0; i < json_array_size(value); i++)
            write_value(out, json_array_get(value, i));
        sim_json_end_array(out);
        break;
    case JSON_STRING:
        sim_json_string(out, json_string_value(value));
        break;
    case JSON_INTEGER:
        sim_json_integer(out, json_integer_value(value));
        break;
    case JSON_REAL:
        sim_json_number(out, json_real_value(value));
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        sim_json_flag(out, json_is_true(value));
        break;
    case JSON_NULL:
        sim_json_null(out);
        break;
    }
}

void decide_print(const json_t *document, bool compact, FILE *out)
{
    struct sim_json json = { .out = out, .compact = compact };

    write_value(&json, document);
    if (compact)
        fputc('\n', out); /* the indented form ends its line itself */
}
