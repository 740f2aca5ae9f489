/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Words that hold for every file, and the names of schema 1: see the header. What changed its place
 * since schema 1 is in words_old.c.
 */
#include "sim/scenario/schema/words_parts.h"

#include <string.h>

bool sim_words_are_old(const struct sim_yaml *root)
{
    const struct sim_yaml *schema = sim_yaml_get(root, "schema");
    return schema != NULL && schema->kind == SIM_YAML_SCALAR && strcmp(schema->text, "1") == 0;
}

static const struct sim_field *find_field(const struct sim_words *words,
                                          const struct sim_section *section, const char *key)
{
    return sim_words_are_old(words->root) ? sim_schema_find_old(section, key)
                                          : sim_schema_find(section, key);
}

/* ---- names ---- */

void sim_words_rename(struct sim_words *words, struct sim_yaml *node, const char *key)
{
    sim_rewrite_key(words->rewrite, node, key);
    if (node->written == NULL)
        node->written = node->key;
    node->key = sim_arena_copy(words->arena, key);
}

/* False when the key is there under its own name too; then it is said and the node is gone. */
static bool take_name(struct sim_words *words, struct sim_yaml *node, const char *key)
{
    if (strcmp(node->key, key) == 0)
        return true;
    if (sim_yaml_get(node->parent, key) == NULL) {
        sim_words_rename(words, node, key);
        return true;
    }
    sim_report_near(words->report, node, SIM_AT_KEY, NULL,
                    "is another name of '%s', which is given too", key);
    sim_yaml_remove(node);
    return false;
}

/* ---- forms ---- */

/* {a: {...}, b: {...}} as a list of entries with names. */
static void make_list(struct sim_words *words, struct sim_yaml *node)
{
    for (const struct sim_yaml *child = node->first; child != NULL; child = child->next)
        if (child->kind == SIM_YAML_SCALAR || child->kind == SIM_YAML_LIST)
            return; /* no mapping by name; the reader says so */
    node->kind = SIM_YAML_LIST;
    for (struct sim_yaml *entry = node->first; entry != NULL; entry = entry->next) {
        struct sim_yaml *name = sim_yaml_new(words->arena, SIM_YAML_SCALAR, entry->key);
        struct sim_yaml *first = entry->first;
        name->key = sim_arena_copy(words->arena, "name");
        name->origin = entry->origin;
        name->file = entry->file;
        name->mark = name->key_mark = entry->key_mark;
        if (sim_yaml_get(entry, "name") != NULL)
            continue; /* its own name counts */
        entry->kind = SIM_YAML_MAPPING;
        entry->first = entry->last = NULL;
        entry->count = 0;
        sim_yaml_append(entry, name);
        for (struct sim_yaml *next; first != NULL; first = next) {
            next = first->next;
            sim_yaml_append(entry, first);
        }
    }
}

/* [a, b] as "a|b". */
static void join_words(struct sim_words *words, struct sim_yaml *node)
{
    const char *joined = NULL;
    for (const struct sim_yaml *child = node->first; child != NULL; child = child->next) {
        if (child->kind != SIM_YAML_SCALAR)
            return; /* the reader says so */
        joined = joined == NULL ? child->text
                                : sim_arena_printf(words->arena, "%s|%s", joined, child->text);
    }
    if (joined == NULL)
        return;
    node->kind = SIM_YAML_SCALAR;
    node->text = sim_arena_copy(words->arena, joined);
    node->first = node->last = NULL;
    node->count = 0;
}

static void settle_entries(struct sim_words *words, struct sim_yaml *node,
                           const struct sim_section *section)
{
    for (struct sim_yaml *entry = node->first; entry != NULL; entry = entry->next)
        sim_words_settle_section(words, entry, section);
}

void sim_words_settle_field(struct sim_words *words, struct sim_yaml *node,
                            const struct sim_field *field)
{
    if (field->kind == SIM_FIELD_SECTION)
        sim_words_settle_section(words, node, field->section);
    if (field->kind == SIM_FIELD_LIST && node->kind == SIM_YAML_MAPPING &&
        (field->flags & SIM_FIELD_BY_NAME) != 0)
        make_list(words, node);
    if (field->kind == SIM_FIELD_LIST || field->kind == SIM_FIELD_NAMED)
        settle_entries(words, node, field->section);
    if (field->kind == SIM_FIELD_SETS && sim_words_are_old(words->root))
        sim_words_settle_sets(words, node);
    if ((field->flags & SIM_FIELD_WORDS) != 0 && node->kind == SIM_YAML_LIST)
        join_words(words, node);
}

void sim_words_settle_section(struct sim_words *words, struct sim_yaml *node,
                              const struct sim_section *section)
{
    if (node->kind != SIM_YAML_MAPPING)
        return;
    for (struct sim_yaml *child = node->first, *next; child != NULL; child = next) {
        const struct sim_field *field = find_field(words, section, child->key);
        next = child->next;
        if (field != NULL && take_name(words, child, field->key))
            sim_words_settle_field(words, child, field);
    }
}

void sim_words_settle(struct sim_words *words)
{
    if (sim_words_are_old(words->root))
        sim_words_settle_work(words);
    sim_words_settle_section(words, words->root, &sim_schema_scenario);
}

void sim_words_finish(struct sim_words *words)
{
    sim_words_settle(words);
    if (sim_words_are_old(words->root))
        sim_words_settle_rest(words);
}
