/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scenarios that extend others; see the header. The base is settled (words.h), so that its lists
 * are lists; what goes over it is taken as it is written. */
#include "sim/scenario/read/extends.h"

#include "sim/scenario/read/input_file.h"
#include "sim/scenario/schema/schema.h"
#include "sim/scenario/schema/words.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One file of the chain. */
struct link {
    const struct sim_extends *extends;
    struct sim_report *report;
    const char *folder;
    const char *path;
    const struct link *over; /* the one that extends it */
};

bool sim_is_removal(const struct sim_yaml *value)
{
    const bool is_dash = value->kind == SIM_YAML_LIST && value->count == 1 &&
                         value->first->kind == SIM_YAML_NULL && !value->first->is_alias;
    const bool is_word = value->kind == SIM_YAML_SCALAR && strcmp(value->text, "-") == 0;
    return is_dash || is_word || (value->kind == SIM_YAML_NULL && !value->is_alias);
}

/* ---- merging ---- */

static void merge_mapping(const struct link *link, struct sim_yaml *base,
                          const struct sim_section *section, const struct sim_yaml *over);

static void put(const struct link *link, struct sim_yaml *base, const char *key,
                const struct sim_yaml *value)
{
    struct sim_yaml *copy = sim_yaml_clone(link->extends->arena, value);
    if (key != NULL && strcmp(key, value->key) != 0) {
        copy->written = copy->key;
        copy->key = sim_arena_copy(link->extends->arena, key);
    }
    sim_yaml_append(base, copy);
}

static void replace(const struct link *link, struct sim_yaml *base, const struct sim_yaml *value)
{
    struct sim_yaml *copy = sim_yaml_clone(link->extends->arena, value);
    base->key_mark = value->key_mark;
    sim_yaml_assign(base, copy);
}

/* What tells an entry of a list from the others. */
static const char *const name_keys[] = { "name", "label", "type" };

static const struct sim_yaml *name_of(const struct sim_yaml *entry)
{
    for (size_t i = 0; i < sizeof name_keys / sizeof name_keys[0]; i++) {
        const struct sim_yaml *name = sim_yaml_get(entry, name_keys[i]);
        if (name != NULL && name->kind == SIM_YAML_SCALAR)
            return name;
    }
    return NULL;
}

/* The first of these keys that entries have. */
static const char *name_key(const struct sim_section *section)
{
    size_t i = 0;
    while (i + 1 < sizeof name_keys / sizeof name_keys[0] &&
           sim_schema_find(section, name_keys[i]) == NULL)
        i++;
    return name_keys[i];
}

static struct sim_yaml *entry_named(const struct sim_yaml *list, const char *name)
{
    for (struct sim_yaml *entry = list->first; entry != NULL; entry = entry->next) {
        const struct sim_yaml *own = name_of(entry);
        if (own != NULL && strcmp(own->text, name) == 0)
            return entry;
    }
    return NULL;
}

static void report_nothing(const struct link *link, const struct sim_yaml *value,
                           const struct sim_yaml *base)
{
    const char **names = sim_arena_alloc(link->extends->arena, base->count + 1, sizeof *names);
    size_t count = 0;
    for (const struct sim_yaml *child = base->first; child != NULL; child = child->next) {
        const struct sim_yaml *own = base->kind == SIM_YAML_LIST ? name_of(child) : NULL;
        if (own != NULL || child->key != NULL)
            names[count++] = own != NULL ? own->text : child->key;
    }
    sim_report_near(link->report, value, SIM_AT_KEY, sim_near_name(value->key, names, count),
                    "there is nothing to remove: the base has no '%s'", value->key);
}

/* {caption: {...}, decode: -} over a list of things with names. */
static void merge_by_name(const struct link *link, struct sim_yaml *base,
                          const struct sim_section *section, const struct sim_yaml *over)
{
    for (const struct sim_yaml *value = over->first; value != NULL; value = value->next) {
        struct sim_yaml *entry = entry_named(base, value->key);
        if (sim_is_removal(value) && entry == NULL) {
            report_nothing(link, value, base);
        } else if (sim_is_removal(value)) {
            sim_yaml_remove(entry);
        } else if (entry != NULL) {
            merge_mapping(link, entry, section, value);
        } else {
            struct sim_yaml *added = sim_yaml_clone(link->extends->arena, value);
            struct sim_yaml *name = sim_yaml_new(link->extends->arena, SIM_YAML_SCALAR, value->key);
            name->key = sim_arena_copy(link->extends->arena, name_key(section));
            name->file = value->file;
            name->mark = name->key_mark = value->key_mark;
            added->key = NULL;
            if (sim_yaml_get(added, name->key) == NULL && added->kind == SIM_YAML_MAPPING)
                sim_yaml_append(added, name);
            sim_yaml_append(base, added);
        }
    }
}

/* Entries with the name of one of the base go over it, others behind; a list without names takes
 * the place of the base's. */
static void merge_list(const struct link *link, struct sim_yaml *base,
                       const struct sim_section *section, const struct sim_yaml *over)
{
    bool has_names = over->count > 0;
    for (const struct sim_yaml *value = over->first; value != NULL; value = value->next)
        has_names = has_names && name_of(value) != NULL;
    if (!has_names) {
        replace(link, base, over);
        return;
    }
    for (const struct sim_yaml *value = over->first; value != NULL; value = value->next) {
        const struct sim_yaml *name = name_of(value);
        struct sim_yaml *entry = name == NULL ? NULL : entry_named(base, name->text);
        if (entry != NULL)
            merge_mapping(link, entry, section, value);
        else
            put(link, base, NULL, value);
    }
}

static void merge_value(const struct link *link, struct sim_yaml *base,
                        const struct sim_field *field, const struct sim_yaml *over)
{
    const struct sim_section *section = field == NULL ? NULL : field->section;
    const bool is_list = base->kind == SIM_YAML_LIST && field != NULL && section != NULL;
    const bool is_file = field != NULL && (field->flags & SIM_FIELD_OR_FILE) != 0;
    if (is_list && over->kind == SIM_YAML_MAPPING && !is_file)
        merge_by_name(link, base, section, over);
    else if (is_list && over->kind == SIM_YAML_LIST)
        merge_list(link, base, section, over);
    else if (base->kind == SIM_YAML_MAPPING && over->kind == SIM_YAML_MAPPING && !is_file)
        merge_mapping(link, base, section, over);
    else
        replace(link, base, over);
}

/* The field that a key of a mapping is; what is named by the user has the fields of a section. */
static const struct sim_field *field_of(const struct sim_section *section, const char *key)
{
    return section == NULL ? NULL : sim_schema_find(section, key);
}

static void merge_key(const struct link *link, struct sim_yaml *base, const struct sim_field *field,
                      const struct sim_yaml *over)
{
    const char *key = field == NULL ? over->key : field->key;
    struct sim_yaml *own = sim_yaml_get(base, key);
    if (sim_is_removal(over) && own == NULL)
        report_nothing(link, over, base);
    else if (sim_is_removal(over))
        sim_yaml_remove(own);
    else if (own == NULL)
        put(link, base, key, over);
    else
        merge_value(link, own, field, over);
}

static void merge_mapping(const struct link *link, struct sim_yaml *base,
                          const struct sim_section *section, const struct sim_yaml *over)
{
    if (over->kind != SIM_YAML_MAPPING || base->kind != SIM_YAML_MAPPING) {
        replace(link, base, over);
        return;
    }
    const bool has_policy = sim_yaml_get(over, "policy") != NULL;
    for (struct sim_yaml *own = base->first; own != NULL && has_policy; own = own->next)
        own->is_tolerated = true; /* parameters of the policy that stood here */
    for (const struct sim_yaml *value = over->first; value != NULL; value = value->next)
        merge_key(link, base, field_of(section, value->key), value);
}

/* ---- files ---- */

/* Files that a base names are found from its own folder, too. */
static void keep_paths(const struct link *link, struct sim_yaml *node)
{
    static const char law[] = "empirical(";
    const bool is_text = node->kind == SIM_YAML_SCALAR && link->folder != NULL;
    for (struct sim_yaml *child = node->first; child != NULL; child = child->next)
        keep_paths(link, child);
    if (is_text && strncmp(node->text, law, strlen(law)) == 0) {
        node->text = sim_arena_printf(link->extends->arena, "%s%s%s", law, link->folder,
                                      node->text + strlen(law));
        return;
    }
    if (!is_text || node->key == NULL || node->text[0] == '\0')
        return;
    const char *path = sim_input_file_path(link->extends->arena, link->folder, node->text);
    if (strchr(node->text, '.') != NULL && access(path, R_OK) == 0)
        node->text = sim_arena_copy(link->extends->arena, path);
}

static struct sim_yaml *apply(const struct link *link, struct sim_yaml *root);

static bool is_circle(const struct link *link, const char *path)
{
    for (; link != NULL; link = link->over)
        if (link->path != NULL && strcmp(link->path, path) == 0)
            return true;
    return false;
}

/* The tree of a base, its own bases below it; `whole` is its path from the root of all folders. */
static struct sim_yaml *read_base(const struct link *link, struct sim_yaml_file of,
                                  const char *whole)
{
    struct sim_arena *arena = link->extends->arena;
    struct sim_report *report = sim_arena_alloc(arena, 1, sizeof *report);
    struct sim_yaml_file *file = sim_arena_alloc(arena, 1, sizeof *file);
    *report = (struct sim_report){ of.path, of.text, of.length, link->report->out };
    *file = of;
    struct sim_yaml *root = sim_yaml_parse(arena, of.text, of.length, report);
    if (root == NULL || root->kind != SIM_YAML_MAPPING) {
        if (root != NULL)
            sim_report_error(report, root, SIM_NO_MAPPING);
        return NULL;
    }
    const struct link base = { link->extends, report, sim_input_file_folder(arena, of.path), whole,
                               link };
    keep_paths(&base, root);
    sim_yaml_is_of(root, file);
    root = apply(&base, root);
    struct sim_words words = { .arena = arena, .report = report, .root = root };
    if (root != NULL)
        sim_words_settle(&words);
    return root;
}

static struct sim_yaml *find_base(const struct link *link, const struct sim_yaml *extends)
{
    struct weir_error error = { .phase = -1 };
    struct sim_arena *arena = link->extends->arena;
    const bool is_text = extends->kind == SIM_YAML_SCALAR;
    char *path = is_text ? sim_input_file_path(arena, link->folder, extends->text) : NULL;
    char *real = path == NULL ? NULL : realpath(path, NULL);
    const char *whole = sim_arena_copy(arena, real);
    const bool is_round = whole != NULL && is_circle(link, whole);
    free(real);
    if (!is_text || is_round) {
        sim_report_error(link->report, extends, "%s",
                         is_round ? "extends itself: the files go round in a circle"
                                  : "expected the path of a scenario");
        return NULL;
    }
    size_t length = 0;
    const char *text = sim_input_file_read(arena, NULL, path, &length, &error);
    if (text == NULL) {
        sim_report_error(link->report, extends, "%s", error.text);
        return NULL;
    }
    link->extends->found(link->extends->state, path, text, length);
    return read_base(link, (struct sim_yaml_file){ path, text, length }, whole);
}

static struct sim_yaml *apply(const struct link *link, struct sim_yaml *root)
{
    struct sim_yaml *extends = sim_yaml_get(root, "extends");
    if (extends == NULL)
        return root;
    struct sim_yaml *base = find_base(link, extends);
    sim_yaml_remove(extends);
    if (base == NULL)
        return NULL;
    if (sim_words_are_old(base) != sim_words_are_old(root) &&
        sim_yaml_get(root, "schema") != NULL) {
        sim_report_error(link->report, extends, "'%s' is of another schema: weir check --write",
                         extends->text);
        return NULL;
    }
    base->mark = root->mark;
    base->file = root->file;
    merge_mapping(link, base, &sim_schema_scenario, root);
    return base;
}

struct sim_yaml *sim_extends_apply(const struct sim_extends *extends, struct sim_yaml *root)
{
    char *real = extends->report->path == NULL ? NULL : realpath(extends->report->path, NULL);
    const struct link link = { extends, extends->report, extends->folder,
                               sim_arena_copy(extends->arena, real), NULL };
    free(real);
    return apply(&link, root);
}
