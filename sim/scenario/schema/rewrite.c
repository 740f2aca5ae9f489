/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Changing a YAML text: see the header. A mapping in flow style ({a: 1, b: 2}) is cut at its
 * commas, one in block style at its lines.
 */
#include "sim/scenario/schema/rewrite.h"

#include <stdlib.h>
#include <string.h>

static bool is_of_text(const struct sim_rewrite *rewrite, const struct sim_yaml *node)
{
    return rewrite != NULL && node != NULL && node->origin == NULL && node->file == NULL &&
           node->mark.line > 0;
}

static bool is_continued(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

/* The byte at a place; columns count characters. */
static size_t offset_of(const struct sim_rewrite *rewrite, int line, int column)
{
    const char *text = rewrite->report->text;
    const size_t length = rewrite->report->length;
    size_t at = 0;
    for (; line > 1 && at < length; at++)
        line -= text[at] == '\n' ? 1 : 0;
    for (; column > 1 && at < length; column--)
        for (at++; at < length && is_continued(text[at]); at++)
            continue;
    return at;
}

static size_t start_of(const struct sim_rewrite *rewrite, struct sim_yaml_mark mark)
{
    return offset_of(rewrite, mark.line, mark.column);
}

static size_t end_of(const struct sim_rewrite *rewrite, struct sim_yaml_mark mark)
{
    return offset_of(rewrite, mark.line, mark.column + mark.width);
}

static void note(struct sim_rewrite *rewrite, size_t from, size_t to, const char *text)
{
    rewrite->edits =
        sim_arena_grow(rewrite->arena, rewrite->edits, rewrite->count, sizeof *rewrite->edits);
    rewrite->edits[rewrite->count++] = (struct sim_rewrite_edit){ from, to, text };
}

static bool is_flow(const struct sim_rewrite *rewrite, const struct sim_yaml *mapping)
{
    return mapping->mark.line > 0 && rewrite->report->text[start_of(rewrite, mapping->mark)] == '{';
}

void sim_rewrite_key(struct sim_rewrite *rewrite, const struct sim_yaml *node, const char *key)
{
    if (!is_of_text(rewrite, node))
        return;
    const size_t from = start_of(rewrite, node->key_mark);
    const char quote = rewrite->report->text[from];
    const bool is_quoted = quote == '"' || quote == '\'';
    note(rewrite, from, end_of(rewrite, node->key_mark),
         is_quoted ? sim_arena_printf(rewrite->arena, "%c%s%c", quote, key, quote)
                   : sim_arena_copy(rewrite->arena, key));
}

/* Quotes go with what they hold: the new text brings its own. */
void sim_rewrite_value(struct sim_rewrite *rewrite, const struct sim_yaml *node, const char *text)
{
    if (!is_of_text(rewrite, node))
        return;
    const char *whole = rewrite->report->text;
    size_t from = start_of(rewrite, node->mark);
    size_t to = end_of(rewrite, node->mark);
    const int quote = from > 0 ? whole[from - 1] : '\0';
    if ((quote == '"' || quote == '\'') && whole[from] != quote && whole[to] == quote) {
        from--;
        to++;
    }
    note(rewrite, from, to, sim_arena_copy(rewrite->arena, text));
}

/* ---- entries ---- */

/* The ',' or closing bracket behind a value in flow style. */
static size_t flow_end(const char *text, size_t at)
{
    int depth = 0;
    char quote = '\0';
    for (; text[at] != '\0'; at++) {
        const char c = text[at];
        if (quote != '\0') {
            if (c == quote)
                quote = '\0';
            continue;
        }
        if (depth == 0 && (c == ',' || c == '}' || c == ']'))
            return at;
        depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
        if (c == '"' || c == '\'')
            quote = c;
    }
    return at;
}

static void drop_in_flow(struct sim_rewrite *rewrite, size_t from)
{
    const char *text = rewrite->report->text;
    size_t to = flow_end(text, from);
    size_t before = from;
    while (before > 0 && strchr(" \t\n", text[before - 1]) != NULL)
        before--;
    if (before > 0 && text[before - 1] == ',') {
        note(rewrite, before - 1, to, "");
        return;
    }
    while (text[to] == ',' || text[to] == ' ')
        to++;
    note(rewrite, from, to, "");
}

static size_t next_line(const char *text, size_t at)
{
    at += strcspn(text + at, "\n");
    return at + (text[at] == '\n' ? 1 : 0);
}

/* The line behind an entry: the first that is not blank and not further in than its key. */
static size_t block_end(const char *text, size_t at, size_t column)
{
    size_t line = next_line(text, at);
    while (text[line] != '\0') {
        const size_t indent = strspn(text + line, " ");
        if (text[line + indent] != '\n' && indent <= column)
            break;
        line = next_line(text, line);
    }
    return line;
}

static void drop_in_block(struct sim_rewrite *rewrite, size_t from)
{
    const char *text = rewrite->report->text;
    size_t line = from;
    while (line > 0 && text[line - 1] != '\n')
        line--;
    const size_t column = from - line;
    const size_t to = block_end(text, from, column);
    const bool is_behind_dash = strspn(text + line, " ") < column;
    if (!is_behind_dash)
        note(rewrite, line, to, "");
    else /* the next entry takes its place */
        note(rewrite, from, to + strspn(text + to, " "), "");
}

void sim_rewrite_drop(struct sim_rewrite *rewrite, const struct sim_yaml *node)
{
    if (!is_of_text(rewrite, node))
        return;
    const size_t from = start_of(rewrite, node->key_mark);
    if (is_flow(rewrite, node->parent))
        drop_in_flow(rewrite, from);
    else
        drop_in_block(rewrite, from);
}

void sim_rewrite_insert(struct sim_rewrite *rewrite, const struct sim_yaml *node, const char *text)
{
    if (!is_of_text(rewrite, node))
        return;
    const size_t at = end_of(rewrite, node->mark);
    if (is_flow(rewrite, node->parent))
        note(rewrite, at, at, sim_arena_printf(rewrite->arena, ", %s", text));
    else
        note(rewrite, at, at,
             sim_arena_printf(rewrite->arena, "\n%*s%s", node->key_mark.column - 1, "", text));
}

void sim_rewrite_insert_first(struct sim_rewrite *rewrite, const struct sim_yaml *mapping,
                              const char *text)
{
    if (!is_of_text(rewrite, mapping) || mapping->first == NULL)
        return;
    const struct sim_yaml *first = mapping->first;
    const size_t at = start_of(rewrite, first->key_mark);
    if (is_flow(rewrite, mapping))
        note(rewrite, at, at, sim_arena_printf(rewrite->arena, "%s, ", text));
    else
        note(rewrite, at, at,
             sim_arena_printf(rewrite->arena, "%s\n%*s", text, first->key_mark.column - 1, ""));
}

void sim_rewrite_insert_before(struct sim_rewrite *rewrite, const struct sim_yaml *node,
                               const char *text)
{
    if (!is_of_text(rewrite, node))
        return;
    const size_t at = start_of(rewrite, node->key_mark);
    note(rewrite, at, at, sim_arena_printf(rewrite->arena, "%s\n", text));
}

void sim_rewrite_fail(struct sim_rewrite *rewrite, const struct sim_yaml *node, const char *message)
{
    if (rewrite != NULL)
        sim_report_error(rewrite->report, node, "%s", message);
}

/* ---- all at once ---- */

static int by_place(const void *a, const void *b)
{
    const struct sim_rewrite_edit *first = a;
    const struct sim_rewrite_edit *second = b;
    if (first->from != second->from)
        return first->from < second->from ? -1 : 1;
    return first->to < second->to ? -1 : 1;
}

char *sim_rewrite_apply(const struct sim_rewrite *rewrite)
{
    const char *text = rewrite->report->text;
    char *made = sim_arena_copy(rewrite->arena, "");
    size_t at = 0;
    if (rewrite->count > 0)
        qsort(rewrite->edits, rewrite->count, sizeof *rewrite->edits, by_place);
    for (size_t i = 0; i < rewrite->count; i++) {
        const struct sim_rewrite_edit *edit = &rewrite->edits[i];
        const int kept = edit->from > at ? (int)(edit->from - at) : 0;
        made = sim_arena_printf(rewrite->arena, "%s%.*s%s", made, kept, text + at, edit->text);
        at = edit->to > at ? edit->to : at;
    }
    return sim_arena_printf(rewrite->arena, "%s%s", made, text + at);
}
