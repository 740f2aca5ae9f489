/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * YAML events of libfyaml to our tree. Nothing is resolved: an alias is a mistake, not a copy, so
 * that no small file can grow large, and nothing is nested deeper than a stack can hold.
 */
#include "sim/files/utf8.h"
#include "sim/scenario/read/name_set.h"
#include "sim/scenario/read/yaml.h"
#include "sim/scenario/report.h"

#include <libfyaml.h>
#include <string.h>

enum { DEPTH_MOST = 64 };

struct builder {
    struct sim_arena *arena;
    struct sim_report *report;
    struct fy_parser *parser;
    struct sim_yaml_mark last; /* the last place that an event told */
    uint32_t depth;
    bool is_too_deep; /* and so it was not read on */
    bool is_broken;   /* the stream ended early; libfyaml says why */
};

static struct sim_yaml_mark mark_of(const struct fy_mark *start, const struct fy_mark *end)
{
    struct sim_yaml_mark mark = { .line = 1, .column = 1, .width = 1 };
    if (start != NULL) {
        mark.line = start->line + 1;
        mark.column = start->column + 1;
    }
    if (start != NULL && end != NULL && start->line == end->line && end->column > start->column)
        mark.width = end->column - start->column;
    return mark;
}

static struct sim_yaml_mark event_mark(struct fy_event *event)
{
    return mark_of(fy_event_start_mark(event), fy_event_end_mark(event));
}

static struct fy_event *next_event(struct builder *builder)
{
    struct fy_event *event = fy_parser_parse(builder->parser);
    if (event == NULL)
        builder->is_broken = true;
    else if (fy_event_start_mark(event) != NULL)
        builder->last = event_mark(event);
    return event;
}

static void check_decorations(struct builder *builder, struct fy_event *event)
{
    const struct sim_yaml_mark mark = event_mark(event);
    if (fy_event_get_anchor_token(event) != NULL)
        sim_report_at(builder->report, mark,
                      "anchors (&name) are not supported: write the value out");
    if (fy_event_get_tag_token(event) != NULL)
        sim_report_at(builder->report, mark, "tags (!name) are not supported");
}

static bool is_null_word(const char *text)
{
    return text[0] == '\0' || strcmp(text, "~") == 0 || strcmp(text, "null") == 0;
}

static struct sim_yaml *scalar_node(struct builder *builder, struct fy_event *event)
{
    struct fy_token *token = fy_event_get_token(event);
    size_t length = 0;
    const char *text = token == NULL ? "" : fy_token_get_text(token, &length);
    struct sim_yaml *node = sim_yaml_new(builder->arena, SIM_YAML_SCALAR, NULL);
    node->text =
        sim_arena_text(builder->arena, text == NULL ? "" : text, text == NULL ? 0 : length);
    node->is_quoted = token != NULL && fy_token_scalar_style(token) != FYSS_PLAIN;
    node->mark = builder->last; /* `seed:` with nothing behind it is at its key */
    if (memchr(node->text, '\0', length) != NULL)
        sim_report_at(builder->report, node->mark, "a text contains a NUL byte");
    if (!node->is_quoted && is_null_word(node->text))
        node->kind = SIM_YAML_NULL;
    return node;
}

static struct sim_yaml *build_value(struct builder *builder, struct fy_event *event);

static struct sim_yaml *build_list(struct builder *builder, struct fy_event *start)
{
    struct sim_yaml *list = sim_yaml_new(builder->arena, SIM_YAML_LIST, NULL);
    list->mark = event_mark(start);
    fy_parser_event_free(builder->parser, start);
    struct fy_event *event = next_event(builder);
    while (event != NULL && event->type != FYET_SEQUENCE_END) {
        struct sim_yaml *item = build_value(builder, event);
        if (item == NULL)
            return NULL;
        sim_yaml_append(list, item);
        event = next_event(builder);
    }
    fy_parser_event_free(builder->parser, event);
    return builder->is_broken ? NULL : list;
}

static void add_pair(struct builder *builder, struct sim_yaml *mapping, struct sim_name_set *keys,
                     struct sim_yaml *key, struct sim_yaml *value)
{
    if (key->kind == SIM_YAML_MAPPING || key->kind == SIM_YAML_LIST) {
        sim_report_at(builder->report, key->mark, "a key must be a plain word");
        return;
    }
    if (key->is_alias)
        return; /* reported */
    value->key = key->text;
    value->key_mark = key->mark;
    if (strcmp(key->text, "<<") == 0) {
        sim_report_at(builder->report, key->mark,
                      "merge keys (<<) are not supported: write the keys out");
        return;
    }
    if (!sim_name_set_add(keys, key->text))
        sim_report_at(builder->report, key->mark, "key '%s' is given twice (first on line %d)",
                      key->text, sim_yaml_get(mapping, key->text)->key_mark.line);
    else
        sim_yaml_append(mapping, value);
}

static struct sim_yaml *build_mapping(struct builder *builder, struct fy_event *start)
{
    struct sim_yaml *mapping = sim_yaml_new(builder->arena, SIM_YAML_MAPPING, NULL);
    struct sim_name_set keys = sim_name_set_open(builder->arena);
    mapping->mark = event_mark(start);
    fy_parser_event_free(builder->parser, start);
    struct fy_event *event = next_event(builder);
    while (event != NULL && event->type != FYET_MAPPING_END) {
        struct sim_yaml *key = build_value(builder, event);
        if (key == NULL || (event = next_event(builder)) == NULL)
            return NULL;
        struct sim_yaml *value = build_value(builder, event);
        if (value == NULL)
            return NULL;
        add_pair(builder, mapping, &keys, key, value);
        event = next_event(builder);
    }
    fy_parser_event_free(builder->parser, event);
    return builder->is_broken ? NULL : mapping;
}

/* Consumes the event. NULL when the stream broke. */
static struct sim_yaml *build_value(struct builder *builder, struct fy_event *event)
{
    struct sim_yaml *node = NULL;
    check_decorations(builder, event);
    if (event->type == FYET_MAPPING_START || event->type == FYET_SEQUENCE_START) {
        if (builder->depth == DEPTH_MOST) {
            sim_report_at(builder->report, event_mark(event), "is nested more than %d levels deep",
                          (int)DEPTH_MOST);
            fy_parser_event_free(builder->parser, event);
            builder->is_too_deep = true;
            builder->is_broken = true;
            return NULL;
        }
        builder->depth++;
        node = event->type == FYET_MAPPING_START ? build_mapping(builder, event)
                                                 : build_list(builder, event);
        builder->depth--;
        return node;
    }
    if (event->type == FYET_SCALAR) {
        node = scalar_node(builder, event);
    } else if (event->type == FYET_ALIAS) {
        node = sim_yaml_new(builder->arena, SIM_YAML_NULL, NULL);
        node->is_alias = true;
        node->mark = event_mark(event);
        sim_report_at(builder->report, node->mark,
                      "aliases (*name) are not supported: write the value out");
    } else {
        builder->is_broken = true;
    }
    fy_parser_event_free(builder->parser, event);
    return node;
}

/* The first document; says so when there are more. */
static struct sim_yaml *build_stream(struct builder *builder)
{
    struct sim_yaml *root = NULL;
    bool is_over = false;
    while (!is_over && !builder->is_broken) {
        struct fy_event *event = next_event(builder);
        if (event == NULL)
            break;
        is_over = event->type == FYET_STREAM_END;
        if (event->type == FYET_DOCUMENT_START && root != NULL) {
            sim_report_at(builder->report, event_mark(event),
                          "a second document begins here; a scenario is one document");
            is_over = true;
        }
        if (event->type == FYET_STREAM_START || event->type == FYET_STREAM_END ||
            event->type == FYET_DOCUMENT_START || event->type == FYET_DOCUMENT_END)
            fy_parser_event_free(builder->parser, event);
        else
            root = build_value(builder, event);
    }
    return builder->is_broken ? NULL : root;
}

static void report_syntax(struct fy_diag *diag, struct sim_report *report)
{
    void *iterator = NULL;
    size_t count = 0;
    const struct fy_diag_error *error = NULL;
    while ((error = fy_diag_errors_iterate(diag, &iterator)) != NULL) {
        const struct sim_yaml_mark mark = { .line = error->line > 0 ? error->line : 1,
                                            .column = error->column > 0 ? error->column : 1,
                                            .width = 1 };
        const bool is_dash = strstr(error->msg, "block sequence on the same line") != NULL ||
                             strstr(error->msg, "cannot start with '-'") != NULL;
        sim_report_at(report, mark, "%s%s", error->msg,
                      is_dash ? " (to remove an entry, write null)" : "");
        count++;
    }
    if (count == 0)
        sim_report_error(report, NULL, "is not YAML");
}

static void drop_message(struct fy_diag *diag, void *user, const char *text, size_t length)
{
    (void)diag;
    (void)user;
    (void)text;
    (void)length;
}

/* Does a line begin at this byte? Unicode has breaks of its own, and a byte order mark
 * may stand in front of the first line. */
static bool is_line_start(const char *text, size_t at)
{
    static const char *const breaks[] = { "\n",           "\r",           "\xC2\x85",
                                          "\xE2\x80\xA8", "\xE2\x80\xA9", "\xEF\xBB\xBF" };
    if (at == 0)
        return true;
    for (size_t i = 0; i < sizeof breaks / sizeof breaks[0]; i++) {
        const size_t length = strlen(breaks[i]);
        if (at >= length && memcmp(text + at - length, breaks[i], length) == 0)
            return true;
    }
    return false;
}

/* libfyaml 0.7.12 loops for ever on an unfinished directive, which nobody needs here, and ends
 * without a word where a comment is not UTF-8. */
static bool is_parseable(struct sim_report *report, const char *text, size_t length)
{
    static const char database[] = "SQLite format 3";
    struct sim_yaml_mark mark = { .line = 1, .column = 1, .width = 1 };
    int column = 0;
    size_t size = 1;
    for (size_t i = 0; i < length; i += size) {
        uint32_t point = 0;
        size = sim_utf8_decode(text + i, &point);
        column++;
        if (size == 0) {
            mark.column = column;
            sim_report_at(report, mark, "the text is not UTF-8: there is a byte 0x%02X",
                          (unsigned)(unsigned char)text[i]);
            return false;
        }
        const bool is_directive = text[i] == '%' && is_line_start(text, i);
        const bool is_database = i == sizeof database - 1 && memcmp(text, database, i) == 0;
        if (is_directive || text[i] == '\0') {
            sim_report_at(report, mark, "%s",
                          is_directive  ? "directives (%YAML, %TAG) are not supported"
                          : is_database ? "this is a database, not a scenario"
                                        : "the text contains a NUL byte");
            return false;
        }
        mark.line += text[i] == '\n' ? 1 : 0;
        column = text[i] == '\n' ? 0 : column;
    }
    return true;
}

struct sim_yaml *sim_yaml_parse(struct sim_arena *arena, const char *text, size_t length,
                                struct sim_report *report)
{
    if (!is_parseable(report, text, length))
        return NULL;
    struct fy_diag_cfg diag_config;
    fy_diag_cfg_default(&diag_config);
    diag_config.fp = NULL;
    diag_config.output_fn = drop_message;
    diag_config.colorize = false;
    struct fy_diag *diag = fy_diag_create(&diag_config);
    fy_diag_set_collect_errors(diag, true);
    const struct fy_parse_cfg config = { .flags = FYPCF_QUIET, .diag = diag };
    struct builder builder = { .arena = arena, .report = report };
    builder.parser = fy_parser_create(&config);
    struct sim_yaml *root = NULL;
    if (builder.parser == NULL || fy_parser_set_string(builder.parser, text, length) != 0)
        builder.is_broken = true;
    else
        root = build_stream(&builder);
    if (builder.is_broken && !builder.is_too_deep)
        report_syntax(diag, report);
    else if (root == NULL && !builder.is_broken)
        root = sim_yaml_new(arena, SIM_YAML_MAPPING, NULL);
    fy_parser_destroy(builder.parser);
    fy_diag_destroy(diag);
    return root;
}
