/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Checking a document against the tables (see decide_format.h). The way from the document to the
 * value that is looked at is kept, so that its text is searched for the place of a mistake only
 * when there is one.
 */
#include "sim/cli/decide/decide_format.h"

#include "sim/cli/decide/decide_input.h"
#include "sim/scenario/report.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAMES = 64 };

struct checking {
    const struct decide_documents *documents;
    size_t index;
    const struct sim_policies *policies;
    struct sim_diagnostics *diagnostics;
    struct sim_json_step steps[SIM_JSON_STEPS];
    size_t depth;
};

/* ---- messages ---- */

/* "workers[3].gpus[0].fraction" */
static void write_path(const struct sim_json_step *steps, size_t count, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < count && used < size; i++) {
        const int length =
            steps[i].key != NULL
                ? snprintf(text + used, size - used, "%s%s", i == 0 ? "" : ".", steps[i].key)
                : snprintf(text + used, size - used, "[%zu]", steps[i].index);
        used += length > 0 ? (size_t)length : 0;
    }
}

static void add(const struct checking *checking, const char *near, const char *message)
{
    const struct decide_documents *const documents = checking->documents;
    const struct sim_json_place place =
        decide_documents_place(documents, checking->index, checking->steps, checking->depth);
    const struct sim_yaml node = { .mark = { .line = place.line, .column = place.column } };
    struct sim_report report = { .path = documents->path,
                                 .text = documents->text,
                                 .length = strlen(documents->text),
                                 .out = checking->diagnostics };

    (void)sim_report_near(&report, &node, SIM_AT_VALUE, near, "%s", message);
}

static void complain(const struct checking *checking, const char *near, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void complain(const struct checking *checking, const char *near, const char *format, ...)
{
    char path[256];
    char text[256];
    char message[520];
    va_list arguments;

    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): the line above begins it */
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    write_path(checking->steps, checking->depth, path, sizeof path);
    (void)snprintf(message, sizeof message, "%s%s%s", path, path[0] != '\0' ? ": " : "", text);
    add(checking, near, message);
}

static void enter(struct checking *checking, struct sim_json_step step)
{
    assert(checking->depth < SIM_JSON_STEPS); /* the tables are not that deep */
    checking->steps[checking->depth++] = step;
}

/* ---- values ---- */

static void check_object(struct checking *checking, json_t *object, const struct decide_keys *keys);

/* NULL, or the integer that a whole number written otherwise (2.0, 8e10) stands for: callers set it
 * in its place, which jansson leaves as it is for NULL. */
static json_t *check_number(const struct checking *checking, const struct decide_key *key,
                            bool is_whole, const json_t *value)
{
    const double number = json_number_value(value);
    const double most = key->most > 0 ? key->most : (double)INFINITY;

    if (!json_is_number(value))
        complain(checking, NULL, "must be a %s", is_whole ? "whole number" : "number");
    else if (number < key->least || number > most)
        complain(checking, NULL, "must be within [%g, %g], got %g", key->least, most, number);
    else if (is_whole && fabs(number - nearbyint(number)) > 0)
        complain(checking, NULL, "must be whole, got %g", number);
    else if (is_whole && json_is_real(value))
        return json_integer((json_int_t)number);
    return NULL;
}

static void check_word(const struct checking *checking, const json_t *value)
{
    uint64_t word;

    if (!decide_word(value, &word))
        complain(checking, NULL, "must be a whole number from 0 on, or a text of its digits");
}

static void check_choice(const struct checking *checking, const struct decide_key *key,
                         const json_t *value)
{
    char words[256];
    const char *names[MOST_NAMES];
    size_t count = 0;
    const char *const word = json_string_value(value);

    if (word != NULL && decide_choice(key->choices, word) >= 0)
        return;
    (void)snprintf(words, sizeof words, "%s", key->choices);
    for (char *at = words, *next = NULL; at != NULL && count < MOST_NAMES; at = next) {
        next = strchr(at, '|');
        if (next != NULL)
            *next++ = '\0';
        names[count++] = at;
    }
    complain(checking, word != NULL ? sim_near_name(word, names, count) : NULL, "must be one of %s",
             key->choices);
}

static void check_text(const struct checking *checking, const struct decide_key *key,
                       const json_t *value)
{
    const char *const text = json_string_value(value);

    if (text == NULL)
        complain(checking, NULL, "must be a text");
    else if (key->kind == DECIDE_NAME && strlen(text) >= WEIR_MIG_NAME)
        complain(checking, NULL, "must have at most %d bytes", WEIR_MIG_NAME - 1);
}

/* A whole number becomes the text of its digits. */
static void check_id(const struct checking *checking, json_t *object, const char *name,
                     const json_t *value)
{
    if (json_is_integer(value))
        json_object_set_new(object, name,
                            json_sprintf("%" JSON_INTEGER_FORMAT, json_integer_value(value)));
    else if (!json_is_string(value))
        complain(checking, NULL, "must be a text or a whole number");
}

/* Every element of a list; of numbers null is one that is not known. */
static void check_elements(struct checking *checking, const struct decide_key *key, json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *const element = json_array_get(list, i);
        enter(checking, (struct sim_json_step){ .index = i });
        if (key->of != NULL)
            check_object(checking, element, key->of);
        else if (key->choices != NULL)
            check_choice(checking, key, element);
        else if (!json_is_null(element) || key->element != DECIDE_NUMBER)
            (void)json_array_set_new(
                list, i, check_number(checking, key, key->element != DECIDE_NUMBER, element));
        checking->depth--;
    }
}

static void check_list(struct checking *checking, const struct decide_key *key, json_t *value)
{
    if (!json_is_array(value))
        complain(checking, NULL, "must be a list");
    else
        check_elements(checking, key, value);
}

/* The parameters of the policy that a key beside them names; of an unknown one nothing is known. */
static void check_params(struct checking *checking, const json_t *policy, const char *key,
                         json_t *value)
{
    const char *names[MOST_NAMES];
    char kind[32];
    const struct weir_param *params = NULL;

    (void)snprintf(kind, sizeof kind, "%.*s", (int)strcspn(key, "_"), key);
    const char *const name = json_string_value(json_object_get(policy, kind));
    const uint32_t count =
        name == NULL ? 0 : decide_params_of(checking->policies, kind, name, &params);

    if (!json_is_object(value)) {
        complain(checking, NULL, "must be an object");
        return;
    }
    for (uint32_t i = 0; i < count && i < MOST_NAMES; i++)
        names[i] = params[i].name;
    void *at = params != NULL ? json_object_iter(value) : NULL;
    for (; at != NULL; at = json_object_iter_next(value, at)) {
        const char *const param = json_object_iter_key(at);
        if (weir_param_find(params, count, param) != WEIR_NO_INDEX)
            continue;
        enter(checking, (struct sim_json_step){ .key = param });
        complain(checking, sim_near_name(param, names, count < MOST_NAMES ? count : MOST_NAMES),
                 "%s has no such parameter", name);
        checking->depth--;
    }
}

static void check_value(struct checking *checking, json_t *object, const struct decide_key *key,
                        json_t *value)
{
    if (json_is_null(value) && (key->may_be_null || !key->is_required))
        return;
    switch (key->kind) {
    case DECIDE_NUMBER:
    case DECIDE_UNITS:
    case DECIDE_COUNT:
    case DECIDE_WHOLE:
        (void)json_object_set_new(
            object, key->name,
            check_number(checking, key, key->kind == DECIDE_COUNT || key->kind == DECIDE_WHOLE,
                         value));
        break;
    case DECIDE_WORD:
        check_word(checking, value);
        break;
    case DECIDE_CHOICE:
        check_choice(checking, key, value);
        break;
    case DECIDE_TEXT:
    case DECIDE_NAME:
        check_text(checking, key, value);
        break;
    case DECIDE_ID:
        check_id(checking, object, key->name, value);
        break;
    case DECIDE_FLAG:
        if (!json_is_boolean(value))
            complain(checking, NULL, "must be true or false");
        break;
    case DECIDE_OBJECT:
        check_object(checking, value, key->of);
        break;
    case DECIDE_LIST:
        check_list(checking, key, value);
        break;
    case DECIDE_PARAMS:
        check_params(checking, object, key->name, value);
        break;
    case DECIDE_TYPES:
        if (json_is_array(value))
            check_elements(checking, key, value);
        else
            (void)json_object_set_new(object, key->name, check_number(checking, key, true, value));
        break;
    }
}

static const struct decide_key *find_key(const struct decide_keys *keys, const char *name)
{
    for (size_t i = 0; i < keys->count; i++) {
        if (strcmp(keys->keys[i].name, name) == 0)
            return &keys->keys[i];
    }
    return NULL;
}

static void refuse_key(const struct checking *checking, const struct decide_keys *keys,
                       const char *name)
{
    const char *names[MOST_NAMES];

    for (size_t i = 0; i < keys->count; i++)
        names[i] = keys->keys[i].name;
    complain(checking, sim_near_name(name, names, keys->count), "unknown key");
}

static void check_object(struct checking *checking, json_t *object, const struct decide_keys *keys)
{
    if (!json_is_object(object)) {
        complain(checking, NULL, "must be an object");
        return;
    }
    void *at = json_object_iter(object);
    for (; at != NULL; at = json_object_iter_next(object, at)) {
        const char *const name = json_object_iter_key(at);
        const struct decide_key *const key = find_key(keys, name);
        enter(checking, (struct sim_json_step){ .key = name });
        if (key == NULL)
            refuse_key(checking, keys, name);
        else
            check_value(checking, object, key, json_object_iter_value(at));
        checking->depth--;
    }
    for (size_t i = 0; i < keys->count; i++) {
        const json_t *const value = json_object_get(object, keys->keys[i].name);
        if (keys->keys[i].is_required && value == NULL)
            complain(checking, NULL, "key '%s' is missing (%s)", keys->keys[i].name,
                     keys->keys[i].help);
    }
}

/* ---- the whole document ---- */

static int compare_texts(const void *a, const void *b)
{
    const json_t *const *const left = a;
    const json_t *const *const right = b;

    return strcmp(json_string_value(*left), json_string_value(*right));
}

/* An id twice: whom it means would be a guess. */
static void check_ids(struct checking *checking, const json_t *document, const char *list_key)
{
    const json_t *const list = json_object_get(document, list_key);
    const size_t count = json_array_size(list);
    const json_t **const ids = calloc(count + 1, sizeof(json_t *));

    size_t used = 0;

    for (size_t i = 0; ids != NULL && i < count; i++)
        if (!decide_flag_or(json_array_get(list, i), "removed", false)) /* it may come again */
            ids[used++] = json_object_get(json_array_get(list, i), "id");
    if (ids != NULL)
        qsort(ids, used, sizeof(json_t *), compare_texts);
    enter(checking, (struct sim_json_step){ .key = list_key });
    for (size_t i = 1; ids != NULL && i < used; i++) {
        if (strcmp(json_string_value(ids[i - 1]), json_string_value(ids[i])) == 0)
            complain(checking, NULL, "the id %s is there twice", json_string_value(ids[i]));
    }
    checking->depth--;
    free(ids);
}

static bool is_change(const json_t *document)
{
    const char *const command = json_string_value(json_object_get(document, "command"));

    return command != NULL && strcmp(command, "next") == 0;
}

/* What another program answers, or another version of this one. */
static bool is_ours(struct checking *checking, const json_t *document)
{
    const char *const format = json_string_value(json_object_get(document, "format"));
    const json_t *const version = json_object_get(document, "version");
    const char *const command = json_string_value(json_object_get(document, "command"));

    if (!json_is_object(document))
        complain(checking, NULL, "must be an object");
    else if (format == NULL || strcmp(format, DECIDE_FORMAT) != 0)
        complain(checking, NULL, "format must be %s", DECIDE_FORMAT);
    else if (json_number_value(version) < DECIDE_VERSION ||
             json_number_value(version) > DECIDE_VERSION)
        complain(checking, NULL, "version must be %d, which weir explain --decide writes; got %lld",
                 DECIDE_VERSION, (long long)json_number_value(version));
    else if (command != NULL && strcmp(command, "autoscale") != 0 &&
             !(checking->documents->is_session && is_change(document)))
        complain(checking, NULL, "command must be autoscale%s, got %s",
                 checking->documents->is_session ? " or next" : "", command);
    else
        return true;
    return false;
}

void decide_format_check(const struct decide_documents *documents, size_t index,
                         const struct sim_policies *policies, struct sim_diagnostics *diagnostics)
{
    json_t *const document = json_array_get(documents->list, index);
    struct checking checking = {
        .documents = documents, .index = index, .policies = policies, .diagnostics = diagnostics
    };
    struct sim_report report = { .path = documents->path, .out = diagnostics };

    if (!is_ours(&checking, document))
        return;
    check_object(&checking, document,
                 is_change(document) ? &decide_change_keys : &decide_document_keys);
    if (diagnostics->errors == 0) {
        check_ids(&checking, document, "nodes");
        check_ids(&checking, document, "workers");
    }
    sim_report_finish(&report);
}

/* ---- a message that begins with a path ---- */

/* One step at the beginning of a path, in the memory of `path`; what follows it, or NULL. */
static char *read_step(char *path, struct sim_json_step *step)
{
    const size_t length = path[0] == '[' ? strcspn(path, "]") + 1 : strcspn(path, ".:[ ");
    const char end = path[length - (path[0] == '[')];

    if (length == 0 || strchr(path[0] == '[' ? "]" : ".:[", end) == NULL || end == '\0')
        return NULL;
    if (path[0] == '[') {
        *step = (struct sim_json_step){ .index = (size_t)strtoull(path + 1, NULL, 10) };
        return path + length + (path[length] == '.');
    }
    *step = (struct sim_json_step){ .key = path };
    if (end == '[') { /* the next step needs its bracket, this one its end: both fit with a move */
        memmove(path + length + 1, path + length, strlen(path + length) + 1);
        path[length] = '\0';
        return path + length + 1;
    }
    path[length] = '\0';
    return path + length + 1;
}

void decide_format_report(const struct decide_documents *documents, size_t index,
                          const char *message, struct sim_diagnostics *diagnostics)
{
    struct checking checking = { .documents = documents,
                                 .index = index,
                                 .diagnostics = diagnostics };
    char path[2 * WEIR_ERROR_TEXT];
    char *at = path;

    (void)snprintf(path, WEIR_ERROR_TEXT, "%s", message);
    while (at != NULL && checking.depth < SIM_JSON_STEPS) {
        at += strspn(at, " :");
        at = read_step(at, &checking.steps[checking.depth]);
        checking.depth += at != NULL;
    }
    add(&checking, NULL, message);
}
