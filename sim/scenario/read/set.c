/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Changing values by path: see the header.
 */
#include "sim/scenario/read/set.h"

#include "sim/scenario/catalog/catalog_gpus.h"
#include "sim/scenario/read/extends.h"
#include "sim/scenario/schema/words.h"

#include <stdlib.h>
#include <string.h>

struct walk {
    struct sim_arena *arena;
    struct sim_report *report;
    const struct sim_yaml *root;
    const struct sim_yaml *at; /* where to report */
    const char *path;          /* whole */
    const char *rest;          /* what is still to walk, "" = arrived */
    struct sim_yaml *value;    /* NULL = nothing is set, what stands there is looked at */
    const char *found;
    bool is_whole;
};

static bool walk_section(struct walk *walk, struct sim_yaml *node,
                         const struct sim_section *section);

/* The next component, "" when malformed: "a.b", "a[0].b". */
static char *next_component(struct walk *walk)
{
    const char *start = walk->rest;
    if (*start == '[') {
        const size_t length = strcspn(start, "]");
        walk->rest = start + length + (start[length] == ']' ? 1 : 0);
        walk->rest += *walk->rest == '.' ? 1 : 0;
        return sim_arena_text(walk->arena, start + 1, length - 1);
    }
    const size_t length = strcspn(start, ".[");
    walk->rest = start + length + (start[length] == '.' ? 1 : 0);
    return sim_arena_text(walk->arena, start, length);
}

static bool is_arrived(const struct walk *walk)
{
    return walk->rest[0] == '\0';
}

static bool fail_near(struct walk *walk, const char *word, const char *const *names, size_t count)
{
    return sim_report_near(walk->report, walk->at, SIM_AT_KEY, sim_near_name(word, names, count),
                           "path '%s' leads nowhere: there is no '%s'", walk->path, word);
}

static struct sim_yaml *child_of(struct walk *walk, struct sim_yaml *node, const char *key)
{
    struct sim_yaml *child = sim_yaml_get(node, key);
    if (child != NULL)
        return child;
    child = sim_yaml_new(walk->arena, SIM_YAML_NULL, NULL);
    child->key = sim_arena_copy(walk->arena, key);
    child->origin = walk->at->origin;
    child->file = walk->at->file;
    child->mark = walk->at->mark;
    child->key_mark = walk->at->key_mark;
    sim_yaml_append(node, child);
    return child;
}

/* A bare value or nothing becomes a mapping, so that a key of it can be set. */
static bool open_mapping(struct walk *walk, struct sim_yaml *node,
                         const struct sim_section *section)
{
    const bool is_wrapped =
        sim_yaml_get(node, "value") != NULL && sim_schema_find(section, "value") == NULL;
    if (node->kind == SIM_YAML_MAPPING && !(is_wrapped && section->scalar_key != NULL))
        return true;
    if (node->kind == SIM_YAML_NULL) {
        node->kind = SIM_YAML_MAPPING;
        return true;
    }
    if (node->kind == SIM_YAML_LIST || section->scalar_key == NULL)
        return sim_report_error(walk->report, walk->at, "path '%s': '%s' is no mapping in the file",
                                walk->path, node->key == NULL ? "" : node->key);
    struct sim_yaml *bare = sim_yaml_new(walk->arena, node->kind, node->text);
    sim_yaml_assign(bare, node);
    bare->key = sim_arena_copy(walk->arena, section->scalar_key);
    bare->key_mark = node->mark;
    node->kind = SIM_YAML_MAPPING;
    node->text = NULL;
    node->first = node->last = NULL;
    node->count = 0;
    sim_yaml_append(node, bare);
    return true;
}

/* ---- policies ---- */

/* Another policy, by its name alone, has nothing of the one that stood here: what both happen to
 * call the same may not be meant for it. */
static void forget_parameters(struct sim_yaml *node, const struct sim_section *section,
                              const char *policy)
{
    const struct sim_yaml *const before = sim_yaml_get(node, section->scalar_key);
    if (before != NULL && before->kind == SIM_YAML_SCALAR && strcmp(before->text, policy) == 0)
        return;
    for (struct sim_yaml *child = node->first, *next; child != NULL; child = next) {
        next = child->next;
        if (sim_schema_find(section, child->key) == NULL)
            sim_yaml_remove(child);
    }
}

/* Parameters of the policy that stood here need not exist in the new one. */
static void tolerate_parameters(struct sim_yaml *node, const struct sim_section *section)
{
    for (struct sim_yaml *child = node->first; child != NULL; child = child->next)
        if (sim_schema_find(section, child->key) == NULL)
            child->is_tolerated = true;
}

/* ---- arriving ---- */

/* What a walk opened on its way there is nothing that a file has. */
static bool remove_node(struct walk *walk, struct sim_yaml *node)
{
    const bool is_there = node->kind != SIM_YAML_NULL || node->is_alias;
    sim_yaml_remove(node);
    return is_there || sim_report_error(walk->report, walk->at,
                                        "path '%s': there is nothing to remove", walk->path);
}

/* Of a mapping what stands for it where it is written bare (a policy's name, a law). */
static bool look(struct walk *walk, const struct sim_yaml *node, const struct sim_section *section)
{
    if (node->kind == SIM_YAML_MAPPING && section != NULL && section->scalar_key != NULL &&
        sim_yaml_get(node, section->scalar_key) != NULL)
        node = sim_yaml_get(node, section->scalar_key);
    walk->found = node->kind == SIM_YAML_SCALAR ? node->text : NULL;
    return walk->found != NULL ||
           sim_report_error(walk->report, walk->at, "path '%s': there is no single value",
                            walk->path);
}

static bool arrive(struct walk *walk, struct sim_yaml *node, const struct sim_section *section)
{
    if (walk->value == NULL)
        return look(walk, node, section);
    if (sim_is_removal(walk->value))
        return remove_node(walk, node);
    const bool is_policy = section != NULL && section->policy != SIM_POLICY_NONE;
    if (is_policy && node->kind == SIM_YAML_MAPPING && walk->value->kind == SIM_YAML_SCALAR) {
        forget_parameters(node, section, walk->value->text);
        node = child_of(walk, node, section->scalar_key);
    }
    sim_yaml_assign(node, walk->value);
    node->is_tolerated = false;
    return true;
}

/* ---- lists ---- */

static const char *entry_name(const struct sim_yaml *entry, const char *component)
{
    static const char *const keys[] = { "name", "type", "label" };
    const char *first = NULL;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const struct sim_yaml *child = sim_yaml_get(entry, keys[i]);
        if (child == NULL || child->kind != SIM_YAML_SCALAR)
            continue;
        if (strcmp(child->text, component) == 0)
            return child->text;
        first = first == NULL ? child->text : first;
    }
    return first;
}

static struct sim_yaml *find_entry(struct walk *walk, struct sim_yaml *list, const char *component)
{
    const size_t digits = strspn(component, "0123456789");
    if (digits > 0 && component[digits] == '\0' && digits < 9)
        return sim_yaml_item(list, (size_t)strtoul(component, NULL, 10));
    (void)walk;
    for (struct sim_yaml *entry = list->first; entry != NULL; entry = entry->next) {
        const char *name = entry_name(entry, component);
        if (name != NULL && strcmp(name, component) == 0)
            return entry;
    }
    return NULL;
}

static bool walk_list(struct walk *walk, struct sim_yaml *list, const struct sim_section *section)
{
    const char *component = next_component(walk);
    struct sim_yaml *entry = list->kind == SIM_YAML_LIST ? find_entry(walk, list, component) : NULL;
    if (entry == NULL) {
        const char **names = sim_arena_alloc(walk->arena, list->count + 1, sizeof *names);
        size_t count = 0;
        for (const struct sim_yaml *child = list->first; child != NULL; child = child->next) {
            const char *name = entry_name(child, "");
            if (name != NULL)
                names[count++] = name;
        }
        return fail_near(walk, component, names, count);
    }
    return is_arrived(walk) ? arrive(walk, entry, section) : walk_section(walk, entry, section);
}

/* ---- mappings by name ---- */

/* New names may appear only where a wrong one cannot pass unnoticed. */
static bool may_appear(const struct sim_field *field, const char *name)
{
    if (strcmp(field->key, "node_types") == 0)
        return false;
    return strcmp(field->key, "gpu_types") != 0 || sim_catalog_gpu_find(name) != NULL;
}

static bool walk_named(struct walk *walk, struct sim_yaml *node, const struct sim_field *field)
{
    const char *component = next_component(walk);
    if (node->kind == SIM_YAML_NULL)
        node->kind = SIM_YAML_MAPPING;
    if (node->kind != SIM_YAML_MAPPING)
        return sim_report_error(walk->report, walk->at, "path '%s': '%s' is no mapping in the file",
                                walk->path, field->key);
    if (sim_yaml_get(node, component) == NULL && !may_appear(field, component)) {
        const char **names = sim_arena_alloc(walk->arena, node->count + 1, sizeof *names);
        size_t count = 0;
        for (const struct sim_yaml *child = node->first; child != NULL; child = child->next)
            names[count++] = child->key;
        return fail_near(walk, component, names, count);
    }
    struct sim_yaml *child = child_of(walk, node, component);
    return is_arrived(walk) ? arrive(walk, child, NULL) : walk_section(walk, child, field->section);
}

/* ---- mappings by the schema ---- */

static bool fail_key(struct walk *walk, const struct sim_section *section, const char *component)
{
    const char **names = sim_arena_alloc(walk->arena, section->count, sizeof *names);
    for (size_t i = 0; i < section->count; i++)
        names[i] = section->fields[i].key;
    return fail_near(walk, component, names, section->count);
}

static bool walk_field(struct walk *walk, struct sim_yaml *node, const struct sim_field *field)
{
    switch ((enum sim_field_kind)field->kind) {
    case SIM_FIELD_SECTION:
        return is_arrived(walk) ? arrive(walk, node, field->section)
                                : walk_section(walk, node, field->section);
    case SIM_FIELD_LIST:
        return is_arrived(walk) ? arrive(walk, node, NULL) : walk_list(walk, node, field->section);
    case SIM_FIELD_NAMED:
        return is_arrived(walk) ? arrive(walk, node, NULL) : walk_named(walk, node, field);
    case SIM_FIELD_TEXT:
    case SIM_FIELD_FLAG:
    case SIM_FIELD_NUMBER:
    case SIM_FIELD_COUNT:
    case SIM_FIELD_COUNT64:
    case SIM_FIELD_WHOLE:
    case SIM_FIELD_TIME:
    case SIM_FIELD_BYTES:
    case SIM_FIELD_CHOICE:
    case SIM_FIELD_LAW:
    case SIM_FIELD_TIMESTAMP:
    case SIM_FIELD_SETS:
        break;
    }
    if (!is_arrived(walk) && node->kind == SIM_YAML_NULL)
        sim_yaml_remove(node); /* so that nothing more is said of it */
    if (!is_arrived(walk))
        return sim_report_error(walk->report, walk->at,
                                "path '%s' goes too deep: '%s' is a single value", walk->path,
                                field->key);
    walk->is_whole = field->kind == SIM_FIELD_COUNT || field->kind == SIM_FIELD_COUNT64 ||
                     field->kind == SIM_FIELD_WHOLE;
    return arrive(walk, node, NULL);
}

static bool walk_section(struct walk *walk, struct sim_yaml *node,
                         const struct sim_section *section)
{
    const char *component = sim_words_today(walk->root, section, next_component(walk));
    const struct sim_field *field = sim_schema_find(section, component);
    if (is_arrived(walk) && sim_words_is_gone(walk->root, section, component))
        return open_mapping(walk, node, section) &&
               arrive(walk, child_of(walk, node, component), NULL);
    if (field == NULL && (section->policy == SIM_POLICY_NONE || !is_arrived(walk)))
        return fail_key(walk, section, component);
    if (!open_mapping(walk, node, section))
        return false;
    if (field == NULL) /* a parameter of the policy: checked when it is read */
        return arrive(walk, child_of(walk, node, component), NULL);
    if (section->policy != SIM_POLICY_NONE && strcmp(field->key, section->scalar_key) == 0)
        tolerate_parameters(node, section);
    return walk_field(walk, child_of(walk, node, field->key), field);
}

bool sim_set_apply(struct sim_arena *arena, struct sim_report *report, struct sim_yaml *root,
                   const char *path, struct sim_yaml *value, const struct sim_yaml *at)
{
    struct walk walk = { .arena = arena,
                         .report = report,
                         .root = root,
                         .at = at,
                         .path = path,
                         .rest = path,
                         .value = value };
    if (path[0] == '\0')
        return sim_report_error(report, at, "a path is missing");
    return walk_section(&walk, root, &sim_schema_scenario);
}

const char *sim_set_read(struct sim_arena *arena, struct sim_report *report, struct sim_yaml *root,
                         const char *path, bool *is_whole)
{
    const struct sim_yaml at = { .kind = SIM_YAML_SCALAR, .origin = path };
    struct walk walk = {
        .arena = arena, .report = report, .root = root, .at = &at, .path = path, .rest = path
    };
    if (!walk_section(&walk, root, &sim_schema_scenario))
        return NULL;
    *is_whole = walk.is_whole;
    return walk.found;
}

static void set_origin(struct sim_yaml *node, const char *origin)
{
    node->origin = origin;
    node->mark = node->key_mark = (struct sim_yaml_mark){ .line = 0 };
    for (struct sim_yaml *child = node->first; child != NULL; child = child->next)
        set_origin(child, origin);
}

bool sim_set_apply_text(struct sim_arena *arena, struct sim_report *report, struct sim_yaml *root,
                        const char *text)
{
    const char *origin = sim_arena_printf(arena, "--set %s", text);
    const struct sim_yaml at = { .kind = SIM_YAML_SCALAR, .origin = origin };
    const char *equals = strchr(text, '=');
    if (equals == NULL)
        return sim_report_error(report, &at, "is not PATH=VALUE");
    struct sim_report inner = { .path = origin, .out = report->out };
    const size_t errors = report->out->errors;
    struct sim_yaml *value = sim_yaml_parse(arena, equals + 1, strlen(equals + 1), &inner);
    if (value == NULL || report->out->errors > errors)
        return false;
    if (equals[1 + strspn(equals + 1, " ")] == '\0')
        value->kind = SIM_YAML_NULL;
    set_origin(value, origin);
    const char *path = sim_arena_text(arena, text, (size_t)(equals - text));
    return sim_set_apply(arena, report, root, path, value, &at);
}
