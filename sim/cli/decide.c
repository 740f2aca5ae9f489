/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The command line of `weir decide`: options, reading documents, printing answers.
 */
#include "sim/cli/decide.h"

#include "sim/cli/isolate.h"
#include "sim/cli/json_writer.h"
#include "sim/cli/options.h"
#include "sim/cli/plugin.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- documents ---- */

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
    return weir_fail(error, WEIR_EFORMAT, "%s:%d:%d: %s", path, line, fault->column, fault->text);
}

/* One document a line; empty lines are left out. */
static weir_status load_lines(const char *path, const char *text, json_t *documents,
                              struct weir_error *error)
{
    json_error_t fault;
    int line = 0;

    for (const char *at = text; *at != '\0'; line++) {
        const size_t length = strcspn(at, "\n");
        if (strspn(at, " \t\r") < length) {
            json_t *const document = json_loadb(at, length, JSON_DECODE_ANY, &fault);
            if (document == NULL)
                return bad_json(path, &fault, line + 1, error);
            json_array_append_new(documents, document);
        }
        at += length + (at[length] == '\n');
    }
    return WEIR_OK;
}

/* Whether the text goes on after its first line: then a fault may mean JSON lines. */
static bool has_lines(const char *text)
{
    const size_t first = strcspn(text, "\n");
    json_error_t fault;
    json_t *const document = json_loadb(text, first, 0, &fault);

    json_decref(document);
    return document != NULL;
}

weir_status decide_parse(const char *path, const char *text, size_t length, json_t **documents,
                         struct weir_error *error)
{
    json_error_t fault;
    json_t *const whole = json_loadb(text, length, 0, &fault);

    if (json_is_array(whole)) {
        *documents = whole;
    } else if (whole != NULL) {
        *documents = json_pack("[o]", whole);
    } else if (has_lines(text)) {
        json_t *const list = json_array();
        const weir_status status = load_lines(path, text, list, error);
        if (status != WEIR_OK) {
            json_decref(list);
            return status;
        }
        *documents = list;
    } else {
        return bad_json(path, &fault, fault.line, error);
    }
    return WEIR_OK;
}

weir_status decide_load(const char *path, json_t **documents, struct weir_error *error)
{
    size_t length = 0;
    char *text = NULL;

    WEIR_TRY(read_all(path, &text, &length, error));
    assert(text != NULL);
    const weir_status status = decide_parse(path, text, length, documents, error);
    free(text);
    return status;
}

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

/* ---- the command ---- */

struct arguments {
    struct sim_options options; /* plug-ins */
    struct sim_policies policies;
    const char **paths; /* room for every word of the command line */
    size_t path_count;
    bool checks;
    bool is_compact;
};

static const struct argp_option options[] = {
    { "check", 'c', NULL, 0, "Compare with the known answers in the files, one line a case", 0 },
    { "compact", 'l', NULL, 0, "Print every answer on one line", 0 },
    { 0 }
};

/* NOLINTNEXTLINE(readability-non-const-parameter): argp gives the type */
static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct arguments *const arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->options;
        return 0;
    case 'c':
        arguments->checks = true;
        return 0;
    case 'l':
        arguments->is_compact = true;
        return 0;
    case ARGP_KEY_ARG:
        arguments->paths[arguments->path_count++] = arg;
        return 0;
    case ARGP_KEY_END:
        if (arguments->checks && arguments->path_count == 0)
            argp_error(state, "--check needs files");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = { { &sim_options_plugin_argp, 0, NULL, 0 },
                                              { NULL, 0, NULL, 0 } };

static const struct argp decide_argp = {
    .options = options,
    .parser = parse_option,
    .args_doc = "[FILE...]",
    .doc = "One scheduler decision for each JSON document of the files (or of standard input): an "
           "object, an array of objects, or one object a line. The object's `command` is "
           "autoscale, place, remove, fragmentation, shape, slots or naive.",
    .children = children
};

static int fail_input(const struct weir_error *error)
{
    fprintf(stderr, "weir decide: %s\n", error->text);
    return SIM_EXIT_INPUT;
}

static int answer_file(const struct arguments *arguments, const char *path)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    json_t *documents = NULL;

    if (decide_load(path, &documents, &error) != WEIR_OK)
        return fail_input(&error);
    const bool is_list = json_array_size(documents) > 1;
    int code = SIM_EXIT_OK;
    for (size_t i = 0; code == SIM_EXIT_OK && i < json_array_size(documents); i++) {
        const json_t *const document = json_array_get(documents, i);
        const json_t *const inner = json_object_get(document, "input");
        const struct decide_question question = { .input = inner != NULL ? inner : document,
                                                  .policies = &arguments->policies };
        json_t *answer = NULL;
        if (decide_answer_with(&question, &answer, &error) == WEIR_OK) {
            decide_print(answer, arguments->is_compact || is_list, stdout);
        } else {
            if (is_list)
                weir_error_wrap(&error, "document %zu", i + 1);
            weir_error_wrap(&error, "%s", path);
            code = fail_input(&error);
        }
        json_decref(answer);
    }
    json_decref(documents);
    return code;
}

static int check_files(const struct arguments *arguments)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct decide_tally tally = { 0 };

    for (size_t i = 0; i < arguments->path_count; i++) {
        if (decide_check_file(arguments->paths[i], stdout, &tally, &error) != WEIR_OK)
            return fail_input(&error);
    }
    printf("%u ok (%u of them exact), %u intended deviations, %u failed\n", tally.ok, tally.exact,
           tally.deviations, tally.failed);
    return tally.failed > 0 ? SIM_EXIT_CHECK : SIM_EXIT_OK;
}

static int answer_files(void *state)
{
    const struct arguments *const arguments = state;
    int code = arguments->path_count == 0 ? answer_file(arguments, "-") : SIM_EXIT_OK;

    for (size_t i = 0; code == SIM_EXIT_OK && i < arguments->path_count; i++)
        code = answer_file(arguments, arguments->paths[i]);
    (void)fflush(stdout);
    return code;
}

/* Plug-ins answer in a process of their own. */
static int answer_all(struct arguments *arguments)
{
    char message[SIM_ISOLATE_MESSAGE] = "";

    if (arguments->options.plugins_count == 0)
        return answer_files(arguments);
    const int code = sim_isolate_call(answer_files, arguments, SIM_ISOLATE_TIMEOUT_S, message);
    if (code >= 0)
        return code;
    fprintf(stderr, "weir decide: a plug-in: %s; try weir policies check on it\n", message);
    return SIM_EXIT_POLICY;
}

int sim_cmd_decide(int argc, char **argv)
{
    struct arguments arguments = { .paths = calloc((size_t)argc + 1, sizeof(char *)) };
    int code = SIM_EXIT_OK;

    if (arguments.paths == NULL)
        return SIM_EXIT_INPUT;
    sim_options_parse(&decide_argp, argc, argv, &arguments);
    if (arguments.checks)
        code = check_files(&arguments);
    else
        code = sim_plugins_load(arguments.options.plugins, arguments.options.plugins_count,
                                &arguments.policies);
    if (!arguments.checks && code == SIM_EXIT_OK)
        code = answer_all(&arguments);
    sim_plugins_clear(&arguments.policies);
    sim_options_clear(&arguments.options);
    free(arguments.paths);
    return code;
}
