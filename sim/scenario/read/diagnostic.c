/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Remarks on input files: keeping, ordering and printing them. Texts are malloc'ed and belong to
 * the list.
 */
#include "sim/engine/nearest.h"
#include "sim/scenario/report.h"

#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_REMARKS = 1000, LONGEST_LINE = 200 };

/* ---- keeping ---- */

static void clear_one(struct sim_diagnostic *item)
{
    free(item->file);
    free(item->message);
    free(item->suggestion);
    free(item->source_line);
}

void sim_diagnostics_clear(struct sim_diagnostics *diagnostics)
{
    for (size_t i = 0; i < diagnostics->count; i++)
        clear_one(&diagnostics->items[i]);
    free(diagnostics->items);
    *diagnostics = (struct sim_diagnostics){ .items = NULL };
}

static char *copy_text(const char *text)
{
    char *copy = text == NULL ? NULL : strdup(text);
    if (text != NULL && copy == NULL)
        abort(); /* as the arena does */
    return copy;
}

/* The text of a line, cut when very long; NULL when there is none. */
static char *line_text(const struct sim_yaml_file *file, int line)
{
    const char *at = file->text;
    const char *end = at == NULL ? NULL : at + file->length;
    for (int number = 1; at != NULL && number < line; number++) {
        at = memchr(at, '\n', (size_t)(end - at));
        if (at != NULL)
            at++;
    }
    if (at == NULL || line < 1)
        return NULL;
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    size_t length = (size_t)((stop == NULL ? end : stop) - at);
    if (length > 0 && at[length - 1] == '\r')
        length--;
    char *copy = strndup(at, length > LONGEST_LINE ? LONGEST_LINE : length);
    if (copy == NULL)
        abort();
    return copy;
}

static void add(struct sim_report *report, struct sim_diagnostic item)
{
    struct sim_diagnostics *out = report->out;
    if (out->count >= MOST_REMARKS) {
        clear_one(&item);
        return;
    }
    if (out->count % 16 == 0) {
        struct sim_diagnostic *grown = reallocarray(out->items, out->count + 16, sizeof *grown);
        if (grown == NULL)
            abort();
        out->items = grown;
    }
    out->items[out->count++] = item;
    out->errors += item.is_warning ? 0 : 1;
}

/* A tab in what is quoted would look like blanks. */
static const char *with_tabs_seen(struct sim_arena *arena, const char *text)
{
    const char *tab = strchr(text, '\t');
    while (tab != NULL) {
        text = sim_arena_printf(arena, "%.*s\\t%s", (int)(tab - text), text, tab + 1);
        tab = strchr(text, '\t');
    }
    return text;
}

static char *message_text(const struct sim_yaml *node, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
static char *message_text(const struct sim_yaml *node, const char *format, va_list arguments)
{
    struct sim_arena arena = { .blocks = NULL };
    const char *path = node == NULL ? "" : sim_yaml_path(&arena, node);
    const char *text = with_tabs_seen(&arena, sim_arena_vprintf(&arena, format, arguments));
    char *message =
        copy_text(sim_arena_printf(&arena, "%s%s%s", path, path[0] == '\0' ? "" : ": ", text));
    sim_arena_clear(&arena);
    return message;
}

static struct sim_diagnostic item_at(const struct sim_report *report, const struct sim_yaml *node,
                                     enum sim_report_place place)
{
    struct sim_yaml_mark mark = { .line = 0 };
    if (node != NULL)
        mark = place == SIM_AT_KEY && node->key_mark.line > 0 ? node->key_mark : node->mark;
    const bool is_set = node != NULL && node->origin != NULL;
    const struct sim_yaml_file own = { report->path, report->text, report->length };
    const struct sim_yaml_file *file = node != NULL && node->file != NULL ? node->file : &own;
    return (struct sim_diagnostic){ .file = copy_text(is_set ? node->origin : file->path),
                                    .line = mark.line,
                                    .column = mark.column,
                                    .width = mark.width,
                                    .source_line = line_text(file, mark.line) };
}

bool sim_report_error(struct sim_report *report, const struct sim_yaml *node, const char *format,
                      ...)
{
    va_list arguments;
    va_start(arguments, format);
    struct sim_diagnostic item = item_at(report, node, SIM_AT_VALUE);
    item.message = message_text(node, format, arguments);
    va_end(arguments);
    add(report, item);
    return false;
}

bool sim_report_near(struct sim_report *report, const struct sim_yaml *node,
                     enum sim_report_place place, const char *suggestion, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    struct sim_diagnostic item = item_at(report, node, place);
    item.message = message_text(node, format, arguments);
    item.suggestion = copy_text(suggestion);
    va_end(arguments);
    add(report, item);
    return false;
}

void sim_report_warning(struct sim_report *report, const struct sim_yaml *node, const char *format,
                        ...)
{
    va_list arguments;
    va_start(arguments, format);
    struct sim_diagnostic item = item_at(report, node, SIM_AT_VALUE);
    item.message = message_text(node, format, arguments);
    item.is_warning = true;
    va_end(arguments);
    add(report, item);
}

void sim_report_at(struct sim_report *report, struct sim_yaml_mark mark, const char *format, ...)
{
    const struct sim_yaml place = { .mark = mark };
    va_list arguments;
    va_start(arguments, format);
    struct sim_diagnostic item = item_at(report, &place, SIM_AT_VALUE);
    item.message = message_text(NULL, format, arguments);
    va_end(arguments);
    add(report, item);
}

/* ---- ordering ---- */

/* What has no line comes first, then the file of the report, then those that it names. */
static int rank_of(const struct sim_report *report, const struct sim_diagnostic *item)
{
    return item->line == 0 ? 0 : strcmp(item->file, report->path) == 0 ? 1 : 2;
}

static bool comes_after(const struct sim_report *report, const struct sim_diagnostic *a,
                        const struct sim_diagnostic *b)
{
    const int ranks = rank_of(report, a) - rank_of(report, b);
    const int files = ranks == 0 && a->line > 0 ? strcmp(a->file, b->file) : 0;
    if (ranks != 0 || files != 0)
        return ranks > 0 || files > 0;
    if (a->line != b->line)
        return a->line > b->line;
    return a->column > b->column;
}

static bool is_same(const struct sim_diagnostic *a, const struct sim_diagnostic *b)
{
    return a->line == b->line && a->column == b->column && strcmp(a->file, b->file) == 0 &&
           strcmp(a->message, b->message) == 0;
}

void sim_report_finish(struct sim_report *report)
{
    struct sim_diagnostics *out = report->out;
    for (size_t i = 1; i < out->count; i++) { /* insertion sort: stable, and nearly in order */
        const struct sim_diagnostic item = out->items[i];
        size_t at = i;
        for (; at > 0 && comes_after(report, &out->items[at - 1], &item); at--)
            out->items[at] = out->items[at - 1];
        out->items[at] = item;
    }
    size_t kept = 0;
    out->errors = 0;
    for (size_t i = 0; i < out->count; i++) {
        if (kept > 0 && is_same(&out->items[kept - 1], &out->items[i])) {
            clear_one(&out->items[i]);
            continue;
        }
        out->items[kept++] = out->items[i];
        out->errors += out->items[kept - 1].is_warning ? 0 : 1;
    }
    out->count = kept;
}

/* ---- printing ---- */

/* The line, and below it a caret with tildes under `width` characters. */
static void print_source(const struct sim_diagnostic *item, FILE *out)
{
    if (item->source_line == NULL || item->column < 1)
        return;
    fprintf(out, "%s\n", item->source_line);
    const size_t length = strlen(item->source_line);
    size_t at = 0;
    for (int column = 1; column < item->column && at < length; column++) {
        fputc(item->source_line[at] == '\t' ? '\t' : ' ', out);
        for (at++; at < length && ((unsigned char)item->source_line[at] & 0xC0) == 0x80; at++)
            continue;
    }
    fputc('^', out);
    for (int i = 1; i < item->width && at + (size_t)i < length; i++)
        fputc('~', out);
    fputc('\n', out);
}

static void print_count(const struct sim_diagnostics *diagnostics, FILE *out)
{
    const size_t warnings = diagnostics->count - diagnostics->errors;
    const char *file = diagnostics->items[0].file;
    for (size_t i = diagnostics->count; i > 0; i--) /* the first with a line */
        if (diagnostics->items[i - 1].line > 0)
            file = diagnostics->items[i - 1].file;
    if (diagnostics->errors > 0)
        fprintf(out, "%s: %zu error%s%s\n", file, diagnostics->errors,
                diagnostics->errors == 1 ? "" : "s",
                diagnostics->count >= MOST_REMARKS ? " or more" : "");
    else
        fprintf(out, "%s: %zu warning%s\n", file, warnings, warnings == 1 ? "" : "s");
}

void sim_diagnostics_print(const struct sim_diagnostics *diagnostics, FILE *out)
{
    for (size_t i = 0; i < diagnostics->count; i++) {
        const struct sim_diagnostic *item = &diagnostics->items[i];
        fprintf(out, "%s:", item->file);
        if (item->line > 0)
            fprintf(out, "%d:%d:", item->line, item->column);
        fprintf(out, " %s: %s", item->is_warning ? "warning" : "error", item->message);
        if (item->suggestion != NULL)
            fprintf(out, "; did you mean '%s'?", item->suggestion);
        fputc('\n', out);
        print_source(item, out);
    }
    if (diagnostics->count > 0)
        print_count(diagnostics, out);
}

void sim_diagnostics_print_json(const struct sim_diagnostics *diagnostics, FILE *out)
{
    json_t *list = json_array();
    for (size_t i = 0; i < diagnostics->count; i++) {
        const struct sim_diagnostic *item = &diagnostics->items[i];
        json_t *entry = json_object();
        (void)json_object_set_new(entry, "file", json_string(item->file));
        (void)json_object_set_new(entry, "line", json_integer(item->line));
        (void)json_object_set_new(entry, "column", json_integer(item->column));
        (void)json_object_set_new(entry, "severity",
                                  json_string(item->is_warning ? "warning" : "error"));
        (void)json_object_set_new(entry, "message", json_string(item->message));
        (void)json_object_set_new(entry, "suggestion",
                                  item->suggestion == NULL ? json_null()
                                                           : json_string(item->suggestion));
        (void)json_array_append_new(list, entry);
    }
    json_t *document = json_object();
    (void)json_object_set_new(document, "schema", json_integer(1));
    (void)json_object_set_new(document, "version", json_string(WEIR_VERSION));
    (void)json_object_set_new(document, "errors", json_integer((json_int_t)diagnostics->errors));
    (void)json_object_set_new(document, "diagnostics", list);
    (void)json_dumpf(document, out, JSON_INDENT(2));
    fputc('\n', out);
    json_decref(document);
}

/* ---- near names ---- */

enum { LONGEST_NAME = 63 };

static size_t smallest(size_t a, size_t b, size_t c)
{
    const size_t least = a < b ? a : b;
    return least < c ? least : c;
}

/* Optimal string alignment distance (Levenshtein with swaps of neighbours). */
static size_t edit_distance(const char *a, const char *b)
{
    const size_t m = strlen(a);
    const size_t n = strlen(b);
    if (m > LONGEST_NAME || n > LONGEST_NAME)
        return SIZE_MAX;
    size_t rows[3][LONGEST_NAME + 1];
    for (size_t j = 0; j <= n; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= m; i++) {
        size_t *now = rows[i % 3];
        const size_t *above = rows[(i - 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= n; j++) {
            now[j] = smallest(above[j] + 1, now[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = smallest(now[j], now[j], rows[(i - 2) % 3][j - 2] + 1);
        }
    }
    return rows[m % 3][n];
}

/* Half edits, as in engine/nearest.h. SIZE_MAX: not near. */
static size_t nearness(const char *word, const char *name)
{
    const struct sim_word begin = { word, strlen(word) };
    const size_t most = strlen(word) > 8 ? 4 : 3;
    if (sim_is_called(begin, name))
        return 0;
    if (sim_begins_name(begin, name))
        return 1;
    const size_t distance = edit_distance(word, name);
    /* Two letters of three are not near: the distance must stay below the length. */
    return distance < most && distance < strlen(name) && distance < strlen(word) ? 2 * distance
                                                                                 : SIZE_MAX;
}

const char *sim_near_name(const char *word, const char *const *names, size_t count)
{
    const char *best = NULL;
    size_t best_rank = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        const size_t rank = nearness(word, names[i]);
        if (rank < best_rank) {
            best_rank = rank;
            best = names[i];
        }
    }
    return best;
}
