/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Mappings, lists and named mappings by the schema: see the header.
 */
#include "sim/scenario/read/reader.h"

#include "sim/engine/nearest.h"
#include "sim/scenario/read/reader_value.h"

#include <stdlib.h>
#include <string.h>

enum {
    LEAST_BEGINNING = 3, /* letters of a key that a longer name may begin with */
    MOST_KEYS = 96,
    KEYS_ROOM = 240, /* what a line may list */
};

static void read_field(struct sim_reader *reader, const struct sim_yaml *node,
                       const struct sim_field *field, void *draft);

static void *field_target(const struct sim_field *field, void *draft)
{
    return (unsigned char *)draft + field->offset;
}

void sim_reader_add_file(struct sim_reader *reader, const char *path)
{
    for (size_t i = 0; i < reader->files_count; i++)
        if (strcmp(reader->files[i], path) == 0)
            return;
    reader->files =
        sim_arena_grow(reader->arena, reader->files, reader->files_count, sizeof *reader->files);
    reader->files[reader->files_count++] = sim_arena_copy(reader->arena, path);
}

/* ---- sources ---- */

static const char source_choices[] = "measured|datasheet|guess";

static enum sim_source read_source(struct sim_reader *reader, const struct sim_yaml *node)
{
    const char *text = node->kind == SIM_YAML_SCALAR ? node->text : "";
    const uint32_t index = sim_choice_find(source_choices, text);
    if (index != SIM_ABSENT_COUNT)
        return (enum sim_source)(index + 1);
    static const char *const names[] = { "measured", "datasheet", "guess" };
    sim_report_near(reader->report, node, SIM_AT_VALUE, sim_near_name(text, names, 3),
                    "a source is measured, datasheet or guess, found '%s'", text);
    return SIM_SOURCE_UNSTATED;
}

static void count_source(struct sim_reader *reader, const struct sim_field *field)
{
    if (reader->has_sources && sim_value_is_quantity(field))
        reader->sources[reader->source]++;
    if ((field->flags & SIM_FIELD_KNOB) != 0)
        reader->knobs++;
}

/* Is it {value: X, source: ...}? Then the value, and its source is the reader's until restored. */
static const struct sim_yaml *unwrap(struct sim_reader *reader, const struct sim_yaml *node)
{
    const struct sim_yaml *value = sim_yaml_get(node, "value");
    if (value == NULL)
        return node;
    for (const struct sim_yaml *child = node->first; child != NULL; child = child->next) {
        if (strcmp(child->key, "source") == 0)
            reader->source = read_source(reader, child);
        else if (child != value)
            sim_report_near(reader->report, child, SIM_AT_KEY, NULL,
                            "only value and source belong here");
    }
    return value;
}

/* ---- lists ---- */

static void *list_items(struct sim_reader *reader, const struct sim_yaml *node,
                        const struct sim_section *section, struct draft_list *list)
{
    list->items = sim_arena_alloc(reader->arena, node->count, section->size);
    list->count = node->count;
    return list->items;
}

static void read_list(struct sim_reader *reader, const struct sim_yaml *node,
                      const struct sim_field *field, struct draft_list *list)
{
    const struct sim_section *section = field->section;
    const bool is_by_name = (field->flags & SIM_FIELD_BY_NAME) != 0;
    if (node->kind != SIM_YAML_LIST) {
        sim_report_error(reader->report, node, "expected a list of mappings (- ...)%s%s",
                         is_by_name ? ", or a mapping by name" : "",
                         (field->flags & SIM_FIELD_OR_FILE) != 0 ? ", or {file: F.csv}" : "");
        return;
    }
    unsigned char *item = list_items(reader, node, section, list);
    for (const struct sim_yaml *child = node->first; child != NULL; child = child->next) {
        if (child->kind == SIM_YAML_NULL) { /* left out, so that nothing more is said of it */
            if (!child->is_alias)
                sim_report_error(reader->report, child, "an entry of the list is empty");
            list->count--;
            continue;
        }
        sim_read_section(reader, child, section, item);
        item += section->size;
    }
}

static void read_named(struct sim_reader *reader, const struct sim_yaml *node,
                       const struct sim_field *field, struct draft_list *list)
{
    const struct sim_section *section = field->section;
    if (node->kind != SIM_YAML_MAPPING) {
        sim_report_error(reader->report, node, "expected a mapping by name (name: ...): %s",
                         field->help);
        return;
    }
    unsigned char *item = list_items(reader, node, section, list);
    for (const struct sim_yaml *child = node->first; child != NULL; child = child->next) {
        sim_read_key_name(reader, child);
        sim_read_section(reader, child, section, item);
        ((struct draft_head *)(void *)item)->name = sim_arena_copy(reader->arena, child->key);
        item += section->size;
    }
}

static char *flow_text(struct sim_reader *reader, const struct sim_yaml *node)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (out == NULL)
        abort();
    sim_yaml_write_flow(node, out);
    if (fclose(out) != 0)
        abort();
    char *copy = sim_arena_text(reader->arena, text, length);
    free(text);
    return copy;
}

static void read_sets(struct sim_reader *reader, const struct sim_yaml *node,
                      struct draft_list *list)
{
    if (node->kind != SIM_YAML_MAPPING) {
        sim_report_error(reader->report, node, "expected a mapping of paths to values");
        return;
    }
    struct draft_set *sets = sim_arena_alloc(reader->arena, node->count, sizeof *sets);
    *list = (struct draft_list){ .items = sets, .count = node->count };
    for (const struct sim_yaml *child = node->first; child != NULL; child = child->next) {
        sets->head = (struct draft_head){ child, sim_arena_copy(reader->arena, child->key) };
        sets->value = flow_text(reader, child);
        sets++;
    }
}

/* ---- fields ---- */

static void read_scalar(struct sim_reader *reader, const struct sim_yaml *node,
                        const struct sim_field *field, void *target)
{
    const enum sim_source before = reader->source;
    if (node->kind == SIM_YAML_MAPPING)
        node = unwrap(reader, node);
    if (node->kind == SIM_YAML_SCALAR) {
        if (sim_value_read(reader, node, field, target))
            count_source(reader, field);
    } else if (node->kind == SIM_YAML_NULL) {
        if (!node->is_alias)
            sim_report_error(reader->report, node, "a value is missing");
    } else {
        sim_report_error(reader->report, node, "expected one value, found a %s (%s)",
                         node->kind == SIM_YAML_LIST ? "list" : "mapping", field->help);
    }
    reader->source = before;
}

static void read_field(struct sim_reader *reader, const struct sim_yaml *node,
                       const struct sim_field *field, void *draft)
{
    void *target = field_target(field, draft);
    if (field->kind == SIM_FIELD_SECTION)
        sim_read_section(reader, node, field->section, target);
    else if (node->kind == SIM_YAML_NULL && field->kind >= SIM_FIELD_SECTION)
        return; /* `timeline:` with nothing behind it is an empty list */
    else if (field->kind == SIM_FIELD_LIST)
        read_list(reader, node, field, target);
    else if (field->kind == SIM_FIELD_NAMED)
        read_named(reader, node, field, target);
    else if (field->kind == SIM_FIELD_SETS)
        read_sets(reader, node, target);
    else
        read_scalar(reader, node, field, target);
}

/* Defaults of all fields, sections inside included. Defaults are right by construction (a test
 * reads an empty scenario), so that nothing is reported here. */
static void set_defaults(struct sim_reader *reader, const struct sim_section *section, void *draft)
{
    for (size_t i = 0; i < section->count; i++) {
        const struct sim_field *field = &section->fields[i];
        sim_value_clear(field, field_target(field, draft));
        if (field->kind == SIM_FIELD_SECTION)
            sim_read_section(reader, NULL, field->section, field_target(field, draft));
        if (field->initial == NULL)
            continue;
        const struct sim_yaml node = { .kind = SIM_YAML_SCALAR,
                                       .text = sim_arena_copy(reader->arena, field->initial) };
        (void)sim_value_read(reader, &node, field, field_target(field, draft));
    }
}

/* "request.gpus" for `gpus`: a key that stands in a mapping inside this one. NULL = in none. */
static const char *find_inside(const struct sim_reader *reader, const struct sim_section *section,
                               const char *key)
{
    for (size_t i = 0; i < section->count; i++) {
        const struct sim_field *field = &section->fields[i];
        if (field->kind == SIM_FIELD_SECTION && sim_schema_find(field->section, key) != NULL)
            return sim_arena_printf(reader->arena, "%s.%s", field->key, key);
    }
    return NULL;
}

static bool is_longer(const char *name, const char *key, size_t length)
{
    const size_t whole = strlen(name);
    return strncmp(name, key, length) == 0 || (whole > length && name[whole - length - 1] == '_' &&
                                               strcmp(name + whole - length, key) == 0);
}

/* "queueing" for `queue`, "node_selector" for `selector`: the one name that begins or ends so. NULL
 * = none, or several. */
static const char *find_longer(const char *key, const char *const *names, size_t count)
{
    const char *found = NULL;
    const size_t length = strlen(key);
    for (size_t i = 0; i < count; i++) {
        if (length < LEAST_BEGINNING || !is_longer(names[i], key, length))
            continue;
        if (found != NULL)
            return NULL;
        found = names[i];
    }
    return found;
}

/* "; there are: max, min, while", or where to read them when they are many. */
static const char *list_names(const struct sim_reader *reader, const struct sim_section *section,
                              const char *const *names, size_t count)
{
    char list[KEYS_ROOM] = "";
    size_t length = 0;
    for (size_t i = 0; i < count && length < sizeof list; i++)
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", i == 0 ? "" : ", ",
                                   names[i]);
    if (length < sizeof list)
        return sim_arena_printf(reader->arena, "; there are: %s", list);
    if (section->policy != SIM_POLICY_NONE)
        return "; weir help POLICY lists its parameters";
    return section == &sim_schema_scenario
               ? "; weir list keys lists them"
               : sim_arena_printf(reader->arena, "; weir help '%s' lists them", section->name);
}

/* "; 'sched' stands at the top of the file" for what an outer mapping has; NULL = none has it. */
static const char *find_outside(const struct sim_reader *reader, const struct sim_section *section,
                                const char *key)
{
    const struct sim_section *const top = &sim_schema_scenario;
    const struct sim_section *const wholes[] = { reader->inner == section ? reader->outer : NULL,
                                                 top };
    const struct sim_word word = { key, strlen(key) };
    for (size_t w = 0; w < 2; w++)
        for (size_t i = 0; wholes[w] != NULL && wholes[w] != section && i < wholes[w]->count; i++)
            if (sim_is_called(word, wholes[w]->fields[i].key))
                return sim_arena_printf(reader->arena, "; '%s' stands %s%s",
                                        wholes[w]->fields[i].key,
                                        wholes[w] == top ? "at the top of the file" : "in ",
                                        wholes[w] == top ? "" : wholes[w]->name);
    return NULL;
}

/* What the writer may have meant: a name that is near, that begins so, or that stands further
 * inside. */
static const char *find_meant(const struct sim_reader *reader, const struct sim_section *section,
                              const char *key, const char *const *names, size_t count)
{
    const char *meant = sim_near_name(key, names, count);
    if (meant == NULL)
        meant = find_longer(key, names, count);
    return meant != NULL ? meant : find_inside(reader, section, key);
}

static size_t keys_of(const struct sim_reader *reader, const struct sim_section *section,
                      const char *names[MOST_KEYS])
{
    size_t count = 0;
    for (; count < section->count && count < MOST_KEYS; count++) {
        const struct sim_field *field = &section->fields[count];
        names[count] = reader->is_old && field->was != NULL ? field->was : field->key;
    }
    return count;
}

/* The rest of a law that was cut at its comma: said already at the law. */
static bool is_cut_off(const struct sim_section *section, const struct sim_yaml *node)
{
    if (node->kind != SIM_YAML_NULL || node->parent == NULL || strchr(node->key, ')') == NULL)
        return false;
    for (const struct sim_yaml *law = node->parent->first; law != node; law = law->next) {
        const struct sim_field *field = sim_schema_find(section, law->key);
        if (law->kind == SIM_YAML_SCALAR && sim_value_is_cut(law) &&
            (field == NULL || field->kind != SIM_FIELD_TEXT))
            return true;
    }
    return false;
}

void sim_report_unknown_key(struct sim_reader *reader, const struct sim_yaml *node,
                            const struct sim_section *section, const char *const *extra,
                            size_t extra_count)
{
    const char *names[MOST_KEYS];
    size_t count = keys_of(reader, section, names);
    for (size_t i = 0; i < extra_count && count < MOST_KEYS; i++)
        names[count++] = extra[i];
    const struct sim_field *today = sim_schema_find_old(section, node->key);
    if (node->is_tolerated || is_cut_off(section, node))
        return;
    const bool is_others = section->other != NULL &&
                           (sim_schema_find(section->other, node->key) != NULL ||
                            (reader->is_old && sim_schema_find_old(section->other, node->key)));
    if (is_others)
        sim_report_near(reader->report, node, SIM_AT_KEY, NULL, "%s", section->other_says);
    else {
        const char *meant =
            today != NULL ? today->key : find_meant(reader, section, node->key, names, count);
        const char *outside = meant != NULL ? "" : find_outside(reader, section, node->key);
        sim_report_near(reader->report, node, SIM_AT_KEY, meant, "unknown key%s",
                        outside != NULL ? outside : list_names(reader, section, names, count));
    }
}

static void read_children(struct sim_reader *reader, const struct sim_yaml *node,
                          const struct sim_section *section, void *draft)
{
    for (const struct sim_yaml *child = node->first; child != NULL; child = child->next) {
        const struct sim_field *field = sim_schema_find(section, child->key);
        if (field != NULL)
            read_field(reader, child, field, draft);
        else if (strcmp(child->key, "source") != 0 && section->policy == SIM_POLICY_NONE)
            sim_report_unknown_key(reader, child, section, NULL, 0);
    }
}

/* Is there an unknown key that looks like this one? Then that was said already. */
static bool is_misspelt(const struct sim_yaml *node, const struct sim_section *section,
                        const struct sim_field *field)
{
    for (const struct sim_yaml *child = node->first; child != NULL; child = child->next)
        if (sim_schema_find(section, child->key) == NULL &&
            sim_near_name(child->key, &field->key, 1) != NULL)
            return true;
    return false;
}

static void check_required(struct sim_reader *reader, const struct sim_yaml *node,
                           const struct sim_section *section)
{
    for (size_t i = 0; i < section->count; i++) {
        const struct sim_field *field = &section->fields[i];
        if ((field->flags & SIM_FIELD_REQUIRED) == 0 || sim_yaml_get(node, field->key) != NULL ||
            node->is_alias || is_misspelt(node, section, field))
            continue;
        struct sim_yaml place = *node; /* its first character, not the whole block */
        place.mark.width = 1;
        sim_report_error(reader->report, &place, "key '%s' is missing (%s)", field->key,
                         field->help);
    }
}

/* A bare value that stands for one key, or {value: ..., source: ...} around one. */
static bool read_bare(struct sim_reader *reader, const struct sim_yaml *node,
                      const struct sim_section *section, void *draft)
{
    const bool is_wrapped =
        sim_yaml_get(node, "value") != NULL && sim_schema_find(section, "value") == NULL;
    if (section->scalar_key == NULL || (node->kind != SIM_YAML_SCALAR && !is_wrapped))
        return false;
    read_field(reader, node, sim_schema_find(section, section->scalar_key), draft);
    return true;
}

void sim_read_section(struct sim_reader *reader, const struct sim_yaml *node,
                      const struct sim_section *section, void *draft)
{
    set_defaults(reader, section, draft);
    const struct sim_section *const outer = reader->outer;
    reader->outer = reader->inner;
    reader->inner = section;
    const enum sim_source before = reader->source;
    const bool had_sources = reader->has_sources;
    reader->has_sources = section->has_sources;
    if (node != NULL)
        ((struct draft_head *)draft)->node = node;
    if (node == NULL || read_bare(reader, node, section, draft)) {
        /* nothing more to read */
    } else if (node->kind == SIM_YAML_MAPPING || node->kind == SIM_YAML_NULL) {
        const struct sim_yaml *source = sim_yaml_get(node, "source");
        if (source != NULL)
            reader->source = read_source(reader, source);
        read_children(reader, node, section, draft);
        check_required(reader, node, section);
    } else {
        const char *names[MOST_KEYS];
        const size_t count = keys_of(reader, section, names);
        sim_report_error(reader->report, node, "expected a mapping (key: value)%s%s",
                         section->scalar_key == NULL ? "" : " or one value",
                         list_names(reader, section, names, count));
    }
    if (section->policy != SIM_POLICY_NONE)
        sim_read_policy(reader, node, section, draft);
    reader->inner = reader->outer;
    reader->outer = outer;
    reader->source = before;
    reader->has_sources = had_sources;
}
