/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The canonical text, written by the schema from the resolved draft. Absent values are left out;
 * a mapping of which only the bare key is there becomes the bare value.
 */
#include "sim/scenario/read/emit.h"

#include "sim/scenario/schema/acts.h"
#include "sim/scenario/schema/needs.h"
#include "sim/scenario/schema/schema.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct emitter {
    struct sim_arena *arena;
    FILE *out;
    const struct sim_yaml *root; /* as given */
    uint32_t there;              /* enum sim_acts: the work there is */
    const struct level *level;
};

/* A mapping on the way from the top to where the writing is. */
struct level {
    const struct level *above;
    const void *draft;
    struct sim_needs_step step;
};

static struct level level_in(const struct emitter *emitter, const struct sim_section *section,
                             const void *draft)
{
    const struct level *above = emitter->level;
    const struct draft_head *head = draft;
    return (
        struct level){ above, draft, { above == NULL ? NULL : &above->step, head->node, section } };
}

static void emit_fields(struct emitter *emitter, const struct sim_section *section,
                        const void *draft, int indent, bool is_first_inline);

static const void *field_source(const struct sim_field *field, const void *draft)
{
    return (const unsigned char *)draft + field->offset;
}

/* ---- absence ---- */

static bool is_field_absent(const struct sim_field *field, const void *draft);

static bool is_section_absent(const struct sim_section *section, const void *draft)
{
    for (size_t i = 0; i < section->count; i++)
        if (!is_field_absent(&section->fields[i], draft))
            return false;
    return true;
}

static bool is_field_absent(const struct sim_field *field, const void *draft)
{
    const void *source = field_source(field, draft);
    switch ((enum sim_field_kind)field->kind) {
    case SIM_FIELD_TEXT:
    case SIM_FIELD_LAW:
        return *(void *const *)source == NULL;
    case SIM_FIELD_NUMBER:
        return isnan(*(const double *)source);
    case SIM_FIELD_FLAG:
    case SIM_FIELD_COUNT:
    case SIM_FIELD_CHOICE:
        return *(const uint32_t *)source == SIM_ABSENT_COUNT;
    case SIM_FIELD_COUNT64:
        return field->initial == NULL && *(const uint64_t *)source == UINT64_MAX;
    case SIM_FIELD_WHOLE:
    case SIM_FIELD_TIME:
    case SIM_FIELD_BYTES:
    case SIM_FIELD_TIMESTAMP:
        return *(const int64_t *)source == INT64_MIN;
    case SIM_FIELD_SECTION:
        return is_section_absent(field->section, source);
    case SIM_FIELD_LIST:
    case SIM_FIELD_NAMED:
    case SIM_FIELD_SETS:
        return ((const struct draft_list *)source)->count == 0;
    }
    return true;
}

/* Whether the other key that a key needs says so. */
static bool is_need_met(const struct emitter *emitter, const char *needs)
{
    char word[64];
    for (const struct level *level = emitter->level; level != NULL; level = level->above)
        for (size_t i = 0; i < level->step.section->count; i++) {
            const struct sim_field *field = &level->step.section->fields[i];
            if (field->kind != SIM_FIELD_CHOICE || !sim_needs_is_key(needs, field->key))
                continue;
            const uint32_t index = *(const uint32_t *)field_source(field, level->draft);
            return !sim_choice_word(field->choices, index, word, sizeof word) ||
                   sim_needs_has_word(needs, word);
        }
    return true;
}

/* ---- single values ---- */

static const char *number_text(struct sim_arena *arena, const struct sim_field *field, double value)
{
    const char *text = sim_quantity_number(arena, value);
    if (field->unit == SIM_UNIT_POWER)
        return sim_arena_printf(arena, "%s W", text);
    return field->unit == SIM_UNIT_TIME ? sim_arena_printf(arena, "%s s", text) : text;
}

static const char *choice_text(struct sim_arena *arena, const char *choices, uint32_t index)
{
    char word[64] = "";
    (void)sim_choice_word(choices, index, word, sizeof word);
    return sim_arena_copy(arena, word);
}

static const char *scalar_text(struct sim_arena *arena, const struct sim_field *field,
                               const void *source)
{
    switch ((enum sim_field_kind)field->kind) {
    case SIM_FIELD_TEXT:
        return *(char *const *)source;
    case SIM_FIELD_LAW:
        return (*(struct sim_law *const *)source)->text;
    case SIM_FIELD_NUMBER:
        return number_text(arena, field, *(const double *)source);
    case SIM_FIELD_FLAG:
        return *(const uint32_t *)source == 1 ? "true" : "false";
    case SIM_FIELD_COUNT:
        return sim_arena_printf(arena, "%u", *(const uint32_t *)source);
    case SIM_FIELD_CHOICE:
        return choice_text(arena, field->choices, *(const uint32_t *)source);
    case SIM_FIELD_COUNT64:
        return sim_arena_printf(arena, "%llu", (unsigned long long)*(const uint64_t *)source);
    case SIM_FIELD_WHOLE:
        return sim_arena_printf(arena, "%lld", (long long)*(const int64_t *)source);
    case SIM_FIELD_TIME:
        return sim_quantity_time(arena, *(const int64_t *)source);
    case SIM_FIELD_BYTES:
        return sim_quantity_bytes(arena, *(const int64_t *)source);
    case SIM_FIELD_TIMESTAMP:
        return sim_timestamp_text(arena, *(const int64_t *)source);
    case SIM_FIELD_SECTION:
    case SIM_FIELD_LIST:
    case SIM_FIELD_NAMED:
    case SIM_FIELD_SETS:
        break;
    }
    return "";
}

/* Whether it has what it needs, or says what is so without it. */
static bool has_needs(const struct emitter *emitter, const struct sim_field *field,
                      const char *text)
{
    struct sim_needs needs = { .arena = emitter->arena, .text = field->needs };
    if (field->needs == NULL || sim_needs_is_word(field->needs))
        return field->needs == NULL || is_need_met(emitter, field->needs);
    return sim_needs_is_default(field, text) || sim_needs_met(&needs, &emitter->level->step);
}

/* What acts on nothing stays away: read again, it would be refused. */
static bool is_kept(const struct emitter *emitter, const struct sim_field *field, const void *draft)
{
    return !is_field_absent(field, draft) &&
           (field->acts == 0 || (field->acts & emitter->there) != 0) &&
           has_needs(emitter, field,
                     scalar_text(emitter->arena, field, field_source(field, draft))) &&
           (!field->needs_sync ||
            sim_needs_sync_met(emitter->arena, emitter->root, field->acts, emitter->there));
}

static void put_indent(struct emitter *emitter, int indent)
{
    for (int i = 0; i < indent; i++)
        fputs("  ", emitter->out);
}

/* Key and colon; the first key of a list entry stands behind its dash. */
static void put_key(struct emitter *emitter, const char *key, int indent, bool *is_inline)
{
    if (!*is_inline)
        put_indent(emitter, indent);
    *is_inline = false;
    sim_yaml_write_scalar(key, emitter->out);
    fputc(':', emitter->out);
}

/* Texts and laws are quoted where they must be; numbers and words of ours never. */
static void put_scalar(struct emitter *emitter, const char *text, bool is_free)
{
    fputc(' ', emitter->out);
    if (is_free)
        sim_yaml_write_scalar(text, emitter->out);
    else
        fputs(text, emitter->out);
    fputc('\n', emitter->out);
}

static void put_value(struct emitter *emitter, const struct sim_field *field, const void *source)
{
    put_scalar(emitter, scalar_text(emitter->arena, field, source),
               field->kind == SIM_FIELD_TEXT || field->kind == SIM_FIELD_LAW);
}

/* ---- mappings ---- */

/* The only field that is there, when it is the one a bare value stands for. */
static const struct sim_field *bare_field(const struct emitter *emitter,
                                          const struct sim_section *section, const void *draft)
{
    const struct sim_field *bare = NULL;
    for (size_t i = 0; i < section->count; i++) {
        const struct sim_field *field = &section->fields[i];
        if (!is_kept(emitter, field, draft))
            continue;
        if (section->scalar_key == NULL || strcmp(field->key, section->scalar_key) != 0)
            return NULL;
        bare = field;
    }
    const bool has_parameters = section->policy != SIM_POLICY_NONE &&
                                ((const struct draft_policy *)draft)->choice.count > 0;
    return has_parameters ? NULL : bare;
}

static void emit_section(struct emitter *emitter, const struct sim_section *section,
                         const void *draft, int indent)
{
    const struct level level = level_in(emitter, section, draft);
    /* cppcheck-suppress autoVariables ; taken back at the end */
    emitter->level = &level;
    const struct sim_field *bare = bare_field(emitter, section, draft);
    bool is_nothing_kept = true;
    for (size_t i = 0; i < section->count && is_nothing_kept; i++)
        is_nothing_kept = !is_kept(emitter, &section->fields[i], draft);
    emitter->level = level.above;
    if (bare != NULL && bare->kind != SIM_FIELD_SECTION) {
        put_value(emitter, bare, field_source(bare, draft));
        return;
    }
    if (is_nothing_kept) {
        fputs(" {}\n", emitter->out);
        return;
    }
    fputc('\n', emitter->out);
    emit_fields(emitter, section, draft, indent + 1, false);
}

static void emit_list(struct emitter *emitter, const struct sim_field *field,
                      const struct draft_list *list, int indent)
{
    const unsigned char *item = list->items;
    fputc('\n', emitter->out);
    for (size_t i = 0; i < list->count; i++, item += field->section->size) {
        bool is_inline = false;
        if (field->kind == SIM_FIELD_NAMED) {
            put_key(emitter, ((const struct draft_head *)(const void *)item)->name, indent + 1,
                    &is_inline);
            emit_section(emitter, field->section, item, indent + 1);
            continue;
        }
        put_indent(emitter, indent + 1);
        fputs("- ", emitter->out);
        emit_fields(emitter, field->section, item, indent + 2, true);
    }
}

static void emit_sets(struct emitter *emitter, const struct draft_list *list, int indent)
{
    const struct draft_set *sets = list->items;
    fputc('\n', emitter->out);
    for (size_t i = 0; i < list->count; i++) {
        bool is_inline = false;
        put_key(emitter, sets[i].head.name, indent + 1, &is_inline);
        fprintf(emitter->out, " %s\n", sets[i].value);
    }
}

static const char *param_text(struct sim_arena *arena, const struct weir_param *param, double value)
{
    switch ((enum weir_param_kind)param->kind) {
    case WEIR_PARAM_FLAG:
        return value > 0.5 ? "true" : "false";
    case WEIR_PARAM_CHOICE:
        return choice_text(arena, param->choices, (uint32_t)value);
    case WEIR_PARAM_DURATION:
        return sim_arena_printf(arena, "%s s", sim_quantity_number(arena, value));
    case WEIR_PARAM_COUNT:
        return sim_arena_printf(arena, "%.0f", value);
    case WEIR_PARAM_NUMBER:
    case WEIR_PARAM_LIST:
    case WEIR_PARAM_TEXT:
        break;
    }
    return sim_quantity_number(arena, value);
}

/* "[1, 2]" or the text. */
static const char *list_text(struct sim_arena *arena, bool is_text, const double *numbers,
                             size_t count)
{
    const char *text = is_text ? "" : "[";
    for (size_t i = 0; i < count; i++)
        text = is_text ? sim_arena_printf(arena, "%s%c", text, (int)numbers[i])
                       : sim_arena_printf(arena, "%s%s%s", text, i > 0 ? ", " : "",
                                          sim_quantity_number(arena, numbers[i]));
    return is_text ? text : sim_arena_printf(arena, "%s]", text);
}

static void emit_argv(struct emitter *emitter, const char *const *argv, int indent)
{
    bool is_inline = false;
    put_key(emitter, "argv", indent, &is_inline);
    fputc('\n', emitter->out);
    for (size_t i = 0; argv[i] != NULL; i++) {
        put_indent(emitter, indent + 1);
        fputc('-', emitter->out);
        put_scalar(emitter, argv[i], true);
    }
}

static void emit_parameters(struct emitter *emitter, const struct draft_policy *draft, int indent)
{
    const struct sim_policy_choice *choice = &draft->choice;
    const struct sim_policy_table table = sim_policy_chosen(choice);
    bool is_inline = false;
    const struct weir_params all = { choice->values, (uint32_t)choice->count, 0 };
    for (uint32_t i = 0; i < table.count; i++) {
        const bool is_text = table.params[i].kind == WEIR_PARAM_TEXT;
        const double *numbers;
        const size_t listed = weir_params_list(table.params, table.count, &all, i, &numbers);
        const struct sim_field *field =
            sim_needs_of_param(emitter->level->step.section->policy, table.params[i].name);
        const char *value = numbers == NULL
                                ? param_text(emitter->arena, &table.params[i], choice->values[i])
                                : list_text(emitter->arena, is_text, numbers, listed);
        if (field != NULL && !has_needs(emitter, field, value))
            continue;
        put_key(emitter, table.params[i].name, indent, &is_inline);
        put_scalar(emitter, value, is_text);
    }
    if (choice->argv != NULL)
        emit_argv(emitter, choice->argv, indent);
}

static void emit_fields(struct emitter *emitter, const struct sim_section *section,
                        const void *draft, int indent, bool is_first_inline)
{
    const struct level level = level_in(emitter, section, draft);
    /* cppcheck-suppress autoVariables ; taken back at the end */
    emitter->level = &level;
    for (size_t i = 0; i < section->count; i++) {
        const struct sim_field *field = &section->fields[i];
        const void *source = field_source(field, draft);
        if (!is_kept(emitter, field, draft))
            continue;
        put_key(emitter, field->key, indent, &is_first_inline);
        if (field->kind == SIM_FIELD_SECTION)
            emit_section(emitter, field->section, source, indent);
        else if (field->kind == SIM_FIELD_LIST || field->kind == SIM_FIELD_NAMED)
            emit_list(emitter, field, source, indent);
        else if (field->kind == SIM_FIELD_SETS)
            emit_sets(emitter, source, indent);
        else
            put_value(emitter, field, source);
    }
    if (section->policy != SIM_POLICY_NONE)
        emit_parameters(emitter, draft, indent);
    if (is_first_inline) /* an entry with nothing in it */
        fputs("{}\n", emitter->out);
    emitter->level = level.above;
}

char *sim_emit(struct sim_arena *arena, const struct draft_scenario *draft,
               const struct sim_yaml *root)
{
    char *text = NULL;
    size_t length = 0;
    struct emitter emitter = { .arena = arena,
                               .out = open_memstream(&text, &length),
                               .root = root,
                               .there = sim_acts_present(root) };
    if (emitter.out == NULL)
        abort();
    emit_fields(&emitter, &sim_schema_scenario, draft, 0, false);
    if (fclose(emitter.out) != 0)
        abort();
    char *copy = sim_arena_text(arena, text, length);
    free(text);
    return copy;
}
