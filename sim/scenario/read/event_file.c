/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A timeline from a table: see the header. */
#include "sim/scenario/read/event_file.h"

#include "sim/scenario/read/input_file.h"
#include "workloads/csv_table.h"

#include <string.h>
#include <strings.h>

enum { COLUMNS = 64 };

struct events {
    struct sim_reader *reader;
    const struct sim_section *section; /* of an entry */
    struct sim_yaml *list;
    struct sim_yaml_file file;
    char delimiter;
    const char *keys[COLUMNS]; /* of each column of the file; NULL = for people */
    size_t count;
    bool is_usable; /* there are times and actions */
};

/* ---- places ---- */

/* Where a field of a row stands in the text: a quoted one may run over its line. */
static struct sim_yaml_mark mark_of(const struct events *events, size_t line, size_t field)
{
    struct sim_yaml_mark mark = { .line = (int)line, .column = 1, .width = 1 };
    const char *at = events->file.text;
    for (size_t i = 1; at != NULL && i < line; i++) {
        at = strchr(at, '\n');
        at = at == NULL ? NULL : at + 1;
    }
    if (at == NULL)
        return mark;
    bool is_quoted = false;
    size_t number = 1;
    size_t start = 0;
    size_t end = 0;
    for (; at[end] != '\0' && at[end] != '\n'; end++) {
        is_quoted = at[end] == '"' ? !is_quoted : is_quoted;
        if (is_quoted || at[end] != events->delimiter)
            continue;
        if (number++ == field)
            break;
        start = end + 1;
    }
    start += strspn(at + start, " ");
    mark.column = (int)start + 1;
    mark.width = end > start ? (int)(end - start) : 1;
    return mark;
}

static struct sim_yaml *node_at(const struct events *events, enum sim_yaml_kind kind,
                                const char *text, struct sim_yaml_mark mark)
{
    struct sim_yaml *node = sim_yaml_new(events->reader->arena, kind, text);
    node->mark = node->key_mark = mark;
    node->file = &events->file;
    return node;
}

/* ---- words ---- */

/* What logs call a node that goes and one that comes back. */
static const char *plain_word(const char *word)
{
    static const char *const names[][2] = {
        { "failed", "down" }, { "lost", "down" },    { "died", "down" }, { "NotReady", "down" },
        { "back", "up" },     { "recovered", "up" }, { "Ready", "up" },  { "policy", "set" },
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcasecmp(word, names[i][0]) == 0)
            return names[i][1];
    return word;
}

/* "down" in a row about a node is node_down. What is no action either way stays as it is, for the
 * reader to refuse. */
static const char *action_of(const struct events *events, const char *word, const char *about)
{
    const struct sim_field *field = sim_schema_find(events->section, "action");
    const char *plain = plain_word(word);
    const char *whole = sim_arena_printf(events->reader->arena, "%s%s", about, plain);
    if (sim_choice_find(field->choices, plain) != SIM_ABSENT_COUNT)
        return plain;
    return sim_choice_find(field->choices, whole) == SIM_ABSENT_COUNT ? word : whole;
}

/* ---- rows ---- */

static void trim(char *text, char **start)
{
    *start = text + strspn(text, " ");
    for (size_t length = strlen(*start); length > 0 && (*start)[length - 1] == ' '; length--)
        (*start)[length - 1] = '\0';
}

/* "sched.placement = fgd; ..." as a mapping of paths to values. */
static struct sim_yaml *sets_of(const struct events *events, const char *cell,
                                struct sim_yaml_mark mark)
{
    struct sim_arena *arena = events->reader->arena;
    struct sim_yaml *sets = node_at(events, SIM_YAML_MAPPING, NULL, mark);
    char *rest = sim_arena_copy(arena, cell);
    for (char *part = strsep(&rest, ";"); part != NULL; part = strsep(&rest, ";")) {
        char *equals = strchr(part, '=');
        char *path = NULL;
        char *value = NULL;
        trim(part, &path);
        if (*path == '\0')
            continue;
        if (equals == NULL) {
            const struct sim_yaml *at = node_at(events, SIM_YAML_SCALAR, cell, mark);
            sim_report_error(events->reader->report, at, "expected path = value, found '%s'", path);
            continue;
        }
        *equals = '\0';
        trim(part, &path);
        trim(equals + 1, &value);
        struct sim_yaml *set = node_at(events, SIM_YAML_SCALAR, value, mark);
        set->key = path;
        sim_yaml_append(sets, set);
    }
    return sets;
}

static const char *cell_of(const struct events *events, const struct wl_csv_row *row,
                           const char *key)
{
    for (size_t i = 0; i < events->count; i++)
        if (events->keys[i] != NULL && strcmp(events->keys[i], key) == 0)
            return row->cells[i];
    return NULL;
}

static void add_value(const struct events *events, struct sim_yaml *entry, const char *key,
                      const char *text, struct sim_yaml_mark mark)
{
    const bool is_sets = strcmp(key, "set") == 0;
    struct sim_yaml *value =
        is_sets ? sets_of(events, text, mark) : node_at(events, SIM_YAML_SCALAR, text, mark);
    value->key = sim_arena_copy(events->reader->arena, key);
    sim_yaml_append(entry, value);
}

/* What the row is about, as actions begin: the first of these columns that has something in it. */
static const char *about_of(const struct events *events, const struct wl_csv_row *row,
                            const char *node)
{
    static const char *const keys[][2] = { { "stage", "stage_" }, { "store", "store_" } };
    for (size_t i = 0; node == NULL && i < sizeof keys / sizeof keys[0]; i++) {
        const char *text = cell_of(events, row, keys[i][0]);
        if (text != NULL && text[strspn(text, " ")] != '\0')
            return keys[i][1];
    }
    return node == NULL ? "" : "node_";
}

/* One entry, about `node` where the row names nodes. */
static void add_entry(const struct events *events, const struct wl_csv_row *row, const char *node)
{
    struct sim_yaml *entry = node_at(events, SIM_YAML_MAPPING, NULL, mark_of(events, row->line, 1));
    for (size_t i = 0; i < events->count; i++) {
        const char *key = events->keys[i];
        const char *text = row->cells[i];
        if (key == NULL || text == NULL || text[strspn(text, " ")] == '\0')
            continue;
        if (strcmp(key, "node") == 0)
            text = node;
        if (strcmp(key, "action") == 0)
            text = action_of(events, text, about_of(events, row, node));
        add_value(events, entry, key, text, mark_of(events, row->line, i + 1));
    }
    sim_yaml_append(events->list, entry);
}

static weir_status on_row(void *state, const struct wl_csv_row *row, struct weir_error *error)
{
    const struct events *events = state;
    const char *nodes = cell_of(events, row, "node");
    char *rest = sim_arena_copy(events->reader->arena, nodes == NULL ? "" : nodes);
    bool has_any = false;
    (void)error;
    if (!events->is_usable)
        return WEIR_OK;
    for (char *node = strsep(&rest, " ;"); node != NULL; node = strsep(&rest, " ;")) {
        if (node[0] == '\0')
            continue;
        add_entry(events, row, node);
        has_any = true;
    }
    if (!has_any)
        add_entry(events, row, NULL);
    return WEIR_OK;
}

static void on_bad(void *state, size_t line, size_t field, const char *message)
{
    const struct events *events = state;
    const struct sim_yaml *at =
        node_at(events, SIM_YAML_SCALAR, NULL, mark_of(events, line, field));
    sim_report_error(events->reader->report, at, "%s", message);
}

/* ---- columns ---- */

static const char *key_of(const struct events *events, const char *name, bool *is_for_people)
{
    static const char *const ours[][2] = { { SIM_EVENT_TIME_WORDS, "at" },
                                           { SIM_EVENT_ACTION_WORDS, "action" },
                                           { "node_name|nodes|host|hostname", "node" },
                                           { "duration", "for" } };
    const struct sim_field *field = sim_schema_find(events->section, name);
    *is_for_people =
        wl_csv_is_called(name, "note|notes|comment|reason|message|description|details");
    if (field != NULL)
        return field->key;
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
        if (wl_csv_is_called(name, ours[i][0]))
            return ours[i][1];
    return NULL;
}

static void report_column(const struct events *events, const char *name, struct sim_yaml_mark mark)
{
    const char *names[COLUMNS] = { "time", "event", "note", "comment" };
    size_t count = 4;
    for (size_t i = 0; i < events->section->count && count < COLUMNS; i++)
        names[count++] = events->section->fields[i].key;
    sim_report_near(events->reader->report, node_at(events, SIM_YAML_SCALAR, NULL, mark),
                    SIM_AT_VALUE, sim_near_name(name, names, count),
                    "there is no column '%s' (what is for people alone goes into `note`)", name);
}

static bool has_key(const struct events *events, const char *key)
{
    for (size_t i = 0; i < events->count; i++)
        if (events->keys[i] != NULL && strcmp(events->keys[i], key) == 0)
            return true;
    return false;
}

static weir_status on_names(void *state, const char *const *names, size_t count,
                            struct weir_error *error)
{
    struct events *events = state;
    size_t line = 1;
    (void)error;
    for (const char *at = events->file.text; at != NULL && *at == '\n'; at++)
        line++;
    for (size_t i = 0; i < count && i < COLUMNS; i++) {
        const struct sim_yaml_mark mark = mark_of(events, line, i + 1);
        bool is_for_people = names[i] == NULL;
        const char *key = names[i] == NULL ? NULL : key_of(events, names[i], &is_for_people);
        if (key != NULL && has_key(events, key))
            sim_report_error(events->reader->report, node_at(events, SIM_YAML_SCALAR, NULL, mark),
                             "a second column of '%s'", key);
        else if (key == NULL && !is_for_people)
            report_column(events, names[i], mark);
        events->keys[i] = key;
        events->count = i + 1;
    }
    events->is_usable = has_key(events, "at") && has_key(events, "action");
    if (!events->is_usable)
        on_bad(events, line, 1,
               has_key(events, "at") ? "no column 'event' (or 'action')"
                                     : "no column 'time' (or 'at')");
    return WEIR_OK;
}

/* ---- the file ---- */

static void read_rows(struct events *events, const char *text, size_t length)
{
    struct sim_report *report = events->reader->report;
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct wl_csv_counts counts = { 0 };
    const struct wl_csv_options csv = { .path = events->file.path,
                                        .bytes = (const uint8_t *)text,
                                        .byte_count = length,
                                        .delimiter = events->delimiter };
    const struct wl_csv_sink sink = {
        .row = on_row, .names = on_names, .bad = on_bad, .state = events
    };
    if (wl_csv_read(&csv, &sink, &counts, &error) != WEIR_OK)
        sim_report_error(report, NULL, "%s", error.text);
}

/* The name of the file, or NULL when the timeline is not one. */
static const struct sim_yaml *file_of(struct sim_report *report, const struct sim_yaml *timeline)
{
    const struct sim_yaml *file = sim_yaml_get(timeline, "file");
    if (timeline == NULL || timeline->kind != SIM_YAML_MAPPING || file == NULL ||
        file->kind != SIM_YAML_SCALAR)
        return NULL;
    for (const struct sim_yaml *child = timeline->first; child != NULL; child = child->next)
        if (child != file)
            sim_report_near(report, child, SIM_AT_KEY, NULL,
                            "a timeline that is a file has the key file and no other");
    return file;
}

void sim_event_file_fill(struct sim_reader *reader, struct sim_yaml *root)
{
    struct sim_yaml *timeline = sim_yaml_get(root, "timeline");
    const struct sim_yaml *file = file_of(reader->report, timeline);
    if (file == NULL)
        return;
    struct weir_error error = { .phase = -1 };
    struct events *events = sim_arena_alloc(reader->arena, 1, sizeof *events);
    size_t length = 0;
    char *text = sim_input_file_read(reader->arena, reader->folder, file->text, &length, &error);
    if (text == NULL)
        sim_report_error(reader->report, file, "%s", error.text);
    timeline->kind = SIM_YAML_LIST;
    timeline->first = timeline->last = NULL;
    timeline->count = 0;
    if (text == NULL)
        return;
    sim_reader_add_file(reader, file->text);
    const bool is_plain = memchr(text, '\0', length) == NULL;
    const char *head = text + strspn(text, "\n");
    *events =
        (struct events){ .reader = reader,
                         .section = sim_schema_find(&sim_schema_scenario, "timeline")->section,
                         .list = timeline,
                         .file = { sim_input_file_path(reader->arena, reader->folder, file->text),
                                   is_plain ? text : NULL, is_plain ? length : 0 },
                         .delimiter = wl_csv_delimiter(head, strcspn(head, "\n")) };
    read_rows(events, text, length);
}
