/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tree itself: building, finding, copying, writing. Parsing is in yaml_parse.c.
 */
#include "sim/scenario/read/yaml.h"

#include <string.h>

struct sim_yaml *sim_yaml_new(struct sim_arena *arena, enum sim_yaml_kind kind, const char *text)
{
    struct sim_yaml *node = sim_arena_alloc(arena, 1, sizeof *node);
    node->kind = kind;
    node->text = sim_arena_copy(arena, text);
    return node;
}

void sim_yaml_append(struct sim_yaml *parent, struct sim_yaml *child)
{
    child->parent = parent;
    child->next = NULL;
    child->index = parent->count++;
    if (parent->last == NULL)
        parent->first = child;
    else
        parent->last->next = child;
    parent->last = child;
}

void sim_yaml_insert(struct sim_yaml *node, struct sim_yaml *child)
{
    struct sim_yaml *parent = node->parent;
    struct sim_yaml *rest = node->next;
    parent->last = node;
    parent->count = node->index + 1;
    node->next = NULL;
    sim_yaml_append(parent, child);
    for (struct sim_yaml *next; rest != NULL; rest = next) {
        next = rest->next;
        sim_yaml_append(parent, rest);
    }
}

void sim_yaml_remove(struct sim_yaml *child)
{
    struct sim_yaml *parent = child->parent;
    struct sim_yaml *node = parent->first;
    parent->first = parent->last = NULL;
    parent->count = 0;
    while (node != NULL) {
        struct sim_yaml *next = node->next;
        if (node != child)
            sim_yaml_append(parent, node);
        node = next;
    }
    child->parent = NULL;
}

struct sim_yaml *sim_yaml_get(const struct sim_yaml *mapping, const char *key)
{
    if (mapping == NULL || mapping->kind != SIM_YAML_MAPPING)
        return NULL;
    for (struct sim_yaml *child = mapping->first; child != NULL; child = child->next)
        if (strcmp(child->key, key) == 0)
            return child;
    return NULL;
}

struct sim_yaml *sim_yaml_item(const struct sim_yaml *list, size_t index)
{
    struct sim_yaml *child = list == NULL ? NULL : list->first;
    while (child != NULL && child->index != index)
        child = child->next;
    return child;
}

struct sim_yaml *sim_yaml_clone(struct sim_arena *arena, const struct sim_yaml *node)
{
    struct sim_yaml *copy = sim_arena_alloc(arena, 1, sizeof *copy);
    *copy = *node;
    copy->text = sim_arena_copy(arena, node->text);
    copy->key = sim_arena_copy(arena, node->key);
    copy->parent = copy->first = copy->last = copy->next = NULL;
    copy->count = 0;
    for (const struct sim_yaml *child = node->first; child != NULL; child = child->next)
        sim_yaml_append(copy, sim_yaml_clone(arena, child));
    return copy;
}

void sim_yaml_is_of(struct sim_yaml *node, const struct sim_yaml_file *file)
{
    node->file = file;
    for (struct sim_yaml *child = node->first; child != NULL; child = child->next)
        sim_yaml_is_of(child, file);
}

void sim_yaml_assign(struct sim_yaml *target, const struct sim_yaml *value)
{
    target->kind = value->kind;
    target->is_quoted = value->is_quoted;
    target->origin = value->origin;
    target->file = value->file;
    target->text = value->text;
    target->mark = value->mark;
    if (value->origin != NULL)
        target->key_mark = (struct sim_yaml_mark){ .line = 0 };
    target->first = target->last = NULL;
    target->count = 0;
    struct sim_yaml *child = value->first;
    while (child != NULL) {
        struct sim_yaml *next = child->next;
        sim_yaml_append(target, child);
        child = next;
    }
}

char *sim_yaml_path(struct sim_arena *arena, const struct sim_yaml *node)
{
    if (node->parent == NULL)
        return sim_arena_copy(arena, "");
    const char *before = sim_yaml_path(arena, node->parent);
    if (node->parent->kind == SIM_YAML_LIST)
        return sim_arena_printf(arena, "%s[%zu]", before, node->index);
    return sim_arena_printf(arena, "%s%s%s", before, before[0] == '\0' ? "" : ".",
                            node->written == NULL ? node->key : node->written);
}

/* ---- writing ---- */

/* Words YAML 1.1 readers take for something else than text. */
static bool is_special_word(const char *text)
{
    static const char *const words[] = { "",     "~",     "null", "Null", "NULL", "true", "True",
                                         "TRUE", "false", "yes",  "no",   "on",   "off" };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(text, words[i]) == 0)
            return true;
    return false;
}

static bool needs_quotes(const char *text)
{
    if (is_special_word(text) || strchr("-?:,[]{}#&*!|>'\"%@` \t", text[0]) != NULL)
        return true;
    const size_t length = strlen(text);
    if (text[length - 1] == ' ' || text[length - 1] == ':')
        return true;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < 0x20 || strchr(",[]{}\"\\", text[i]) != NULL ||
            text[i] == 0x7F)
            return true;
    return strstr(text, ": ") != NULL || strstr(text, " #") != NULL;
}

void sim_yaml_write_scalar(const char *text, FILE *out)
{
    if (!needs_quotes(text)) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (const char *at = text; *at != '\0'; at++) {
        const unsigned char byte = (unsigned char)*at;
        if (byte == '"' || byte == '\\')
            fprintf(out, "\\%c", byte);
        else if (byte == '\n')
            fputs("\\n", out);
        else if (byte < 0x20 || byte == 0x7F)
            fprintf(out, "\\x%02x", byte);
        else
            fputc(byte, out);
    }
    fputc('"', out);
}

void sim_yaml_write_flow(const struct sim_yaml *node, FILE *out)
{
    switch (node->kind) {
    case SIM_YAML_NULL:
        fputs("null", out);
        return;
    case SIM_YAML_SCALAR:
        sim_yaml_write_scalar(node->text, out);
        return;
    case SIM_YAML_MAPPING:
    case SIM_YAML_LIST:
        break;
    }
    const bool is_list = node->kind == SIM_YAML_LIST;
    fputc(is_list ? '[' : '{', out);
    for (const struct sim_yaml *child = node->first; child != NULL; child = child->next) {
        if (child != node->first)
            fputs(", ", out);
        if (!is_list) {
            sim_yaml_write_scalar(child->key, out);
            fputs(": ", out);
        }
        sim_yaml_write_flow(child, out);
    }
    fputc(is_list ? ']' : '}', out);
}
