/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The schema as a JSON Schema of files of `schema: 2`, from the same tables as everything else, for
 * editors and validators. It refuses what can be seen from a key and its value alone: unknown and
 * missing keys, forms, units, ranges of bare numbers, words, names of policies and their
 * parameters. What two keys say of each other is left to `weir check`.
 *
 * A file that says `extends` goes over another one: there nothing is missing, and null removes.
 * Draft 7, which editors know best.
 */
#include "sim/engine/law.h"
#include "sim/scenario/scenario.h"
#include "sim/scenario/schema/schema.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct writing {
    const struct sim_policies *policies;
    json_t *definitions; /* what is said more than once, by number */
    json_t *numbers;     /* by what they say */
    bool is_over;        /* another scenario */
    bool is_named;       /* the key is the name of the entry */
};

#define NUMBER "[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)?"

static json_t *fields_json(const struct writing *writing, const struct sim_section *section);
static json_t *section_json(const struct writing *writing, const struct sim_section *section);
static json_t *field_json(const struct writing *writing, const struct sim_field *field);

/* ---- forms ---- */

static void set_text(json_t *object, const char *key, const char *text)
{
    (void)json_object_set_new(object, key, json_string(text));
}

static void append(json_t *forms, json_t *one)
{
    (void)json_array_append_new(forms, one);
}

static json_t *type_json(const char *type)
{
    return json_pack("{s:s}", "type", type);
}

static json_t *pattern_json(const char *pattern)
{
    return json_pack("{s:s, s:s}", "type", "string", "pattern", pattern);
}

/* In its place a reference to what says the same. */
static json_t *shared_json(const struct writing *writing, json_t *form)
{
    char name[48];
    char *text = json_dumps(form, JSON_COMPACT | JSON_SORT_KEYS);
    json_t *number = json_object_get(writing->numbers, text);
    if (number == NULL) {
        number = json_integer((json_int_t)json_object_size(writing->numbers));
        (void)json_object_set_new(writing->numbers, text, number);
    }
    free(text);
    (void)snprintf(name, sizeof name, "#/definitions/%" JSON_INTEGER_FORMAT,
                   json_integer_value(number));
    (void)json_object_set_new(writing->definitions, strrchr(name, '/') + 1, form);
    return json_pack("{s:s}", "$ref", name);
}

/* One of several; alone it is that one. */
static json_t *any_json(json_t *forms)
{
    if (json_array_size(forms) > 1)
        return json_pack("{s:o}", "anyOf", forms);
    json_t *only = json_incref(json_array_get(forms, 0));
    json_decref(forms);
    return only;
}

static json_t *words_json(const char *choices)
{
    json_t *list = json_array();
    char word[64];
    for (uint32_t i = 0; sim_choice_word(choices, i, word, sizeof word); i++)
        append(list, json_string(word));
    return json_pack("{s:o}", "enum", list);
}

/* Units, and what may stand before them; "" = none. */
static const char *unit_pattern(uint32_t unit)
{
    static const char *const patterns[] = {
        [SIM_UNIT_NONE] = "^ *" NUMBER " *$",
        [SIM_UNIT_TIME] =
            "^ *" NUMBER " *((ns|us|ms|s|m|min|h|d)( *" NUMBER " *(ns|us|ms|s|m|min|h|d))*)? *$",
        [SIM_UNIT_BYTES] = "^ *" NUMBER " *(B|KB|MB|GB|TB|PB|KiB|MiB|GiB|TiB|PiB)? *$",
        [SIM_UNIT_POWER] = "^ *" NUMBER " *(W|kW|MW)? *$",
        [SIM_UNIT_FRACTION] = "^ *" NUMBER " *%? *$",
        [SIM_UNIT_RATE] = "^ *" NUMBER " *(/(s|min|h))? *$",
        [SIM_UNIT_BANDWIDTH] = "^ *" NUMBER " *([KMGT]?B/s|[MGT]b/s)? *$",
        [SIM_UNIT_ANY] = "^ *" NUMBER " *[A-Za-z/%]*( *" NUMBER " *[A-Za-z/%]+)* *$",
    };
    return patterns[unit];
}

static void set_range(json_t *object, double min, double max)
{
    if (!(min < max) && !(min > 0))
        return;
    (void)json_object_set_new(object, "minimum", json_real(min));
    (void)json_object_set_new(object, "maximum", json_real(max));
}

static void append_number(json_t *forms, const char *type, const struct sim_field *field)
{
    json_t *number = type_json(type);
    set_range(number, field->min, field->max);
    append(forms, number);
}

/* As many numbers as the distribution takes; what is made of more than numbers is left open. */
static void add_arguments(char *pattern, size_t size, const struct sim_distribution *law)
{
    size_t least = 0;
    const size_t used = strlen(pattern);
    for (size_t i = 0; i < law->parameter_count; i++)
        least += law->parameters[i].is_optional ? 0 : 1;
    if (least == 0)
        (void)snprintf(pattern + used, size - used, "%s *[(].*", law->name);
    else
        (void)snprintf(pattern + used, size - used, "%s *[(][^,()]+(,[^,()]+){%zu,%zu}", law->name,
                       least - 1, law->parameter_count - 1);
}

/* A bare value, or NAME(...). */
static void append_law(json_t *forms, uint32_t unit)
{
    char pattern[768] = "^ *(";
    for (size_t i = 0; i < sim_distribution_count(); i++) {
        (void)strncat(pattern, i > 0 ? "|" : "", sizeof pattern - strlen(pattern) - 1);
        add_arguments(pattern, sizeof pattern, sim_distribution_at(i));
    }
    (void)strncat(pattern, ")[)] *$", sizeof pattern - strlen(pattern) - 1);
    append(forms, json_pack("{s:s, s:i}", "type", "number", "minimum", 0));
    append(forms, pattern_json(unit_pattern(unit)));
    append(forms, pattern_json(pattern));
}

/* A file may leave quotes out: `name: 5` is a text. */
static void append_text(json_t *forms, const struct sim_field *field)
{
    static const char name[] =
        "^[^-.=@ /\\\\'\"`<>|$;]([^/\\\\'\"`<>|$;]{0,98}[^ /\\\\'\"`<>|$;])?$";
    append(forms,
           (field->flags & SIM_FIELD_IS_NAME) != 0 ? pattern_json(name) : type_json("string"));
    append(forms, type_json("number"));
    append(forms, type_json("boolean"));
    if ((field->flags & SIM_FIELD_WORDS) != 0)
        append(forms, json_pack("{s:s, s:{s:[s, s]}}", "type", "array", "items", "type", "string",
                                "number"));
}

/* What a value of one key looks like when it is no mapping and no list. */
static json_t *scalar_json(const struct sim_field *field)
{
    json_t *forms = json_array();
    switch ((enum sim_field_kind)field->kind) {
    case SIM_FIELD_FLAG:
        append(forms, type_json("boolean"));
        break;
    case SIM_FIELD_CHOICE:
        append(forms, words_json(field->choices));
        break;
    case SIM_FIELD_COUNT:
    case SIM_FIELD_COUNT64:
    case SIM_FIELD_WHOLE:
        append_number(forms, "integer", field);
        append(forms, pattern_json("^[-+]?(0|[1-9][0-9]*)$"));
        break;
    case SIM_FIELD_NUMBER:
    case SIM_FIELD_TIME:
    case SIM_FIELD_BYTES:
        append_number(forms, "number", field);
        append(forms, pattern_json(unit_pattern(field->unit)));
        if ((field->flags & SIM_FIELD_MOMENT) != 0)
            append(forms, pattern_json("^([0-9]{1,2}:[0-9]{2}|[0-9]{4}-[0-9]{2}-[0-9]{2})"));
        break;
    case SIM_FIELD_LAW:
        append_law(forms, field->unit);
        break;
    case SIM_FIELD_TIMESTAMP:
        append(forms, pattern_json("^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:"));
        break;
    case SIM_FIELD_TEXT:
    case SIM_FIELD_SECTION:
    case SIM_FIELD_LIST:
    case SIM_FIELD_NAMED:
    case SIM_FIELD_SETS:
        append_text(forms, field);
        break;
    }
    return any_json(forms);
}

/* Any value may be {value: X, source: S}. */
static json_t *sourced_json(json_t *form)
{
    json_t *wrapped = json_pack("{s:s, s:{s:O, s:o}, s:[s], s:b}", "type", "object", "properties",
                                "value", form, "source", words_json("measured|datasheet|guess"),
                                "required", "value", "additionalProperties", 0);
    return json_pack("{s:[o, o]}", "anyOf", form, wrapped);
}

/* ---- policies ---- */

static json_t *param_json(const struct weir_param *param)
{
    static const uint32_t kinds[] = {
        [WEIR_PARAM_NUMBER] = SIM_FIELD_NUMBER, [WEIR_PARAM_COUNT] = SIM_FIELD_COUNT,
        [WEIR_PARAM_DURATION] = SIM_FIELD_TIME, [WEIR_PARAM_FLAG] = SIM_FIELD_FLAG,
        [WEIR_PARAM_CHOICE] = SIM_FIELD_CHOICE, [WEIR_PARAM_TEXT] = SIM_FIELD_TEXT,
        [WEIR_PARAM_LIST] = SIM_FIELD_NUMBER
    };
    const bool is_one = param->kind != WEIR_PARAM_LIST && param->kind != WEIR_PARAM_TEXT;
    const struct sim_field field = { .kind = kinds[param->kind],
                                     .unit = param->kind == WEIR_PARAM_DURATION ? SIM_UNIT_TIME
                                                                                : SIM_UNIT_ANY,
                                     .min = is_one ? param->min : 0,
                                     .max = is_one ? param->max : 0,
                                     .choices = param->choices };
    json_t *form = sourced_json(scalar_json(&field));
    if (param->kind == WEIR_PARAM_LIST)
        form = json_pack("{s:[O, {s:s, s:o}]}", "anyOf", form, "type", "array", "items", form);
    set_text(form, "description", param->help);
    return form;
}

/* The keys of a policy beside those of its section. */
static json_t *policy_json(const struct writing *writing, const struct sim_section *section,
                           const struct sim_policy_table *policy)
{
    json_t *object = fields_json(writing, section);
    json_t *properties = json_object_get(object, "properties");
    const struct sim_field *field = sim_schema_find(section, section->scalar_key);
    json_t *needed = json_array();
    for (uint32_t i = 0; i < policy->count; i++)
        (void)json_object_set_new(properties, policy->params[i].name,
                                  param_json(&policy->params[i]));
    if (strcmp(policy->name, "command") == 0) {
        json_t *words =
            json_pack("{s:[{s:s}, {s:s, s:{s:[s, s]}, s:i}]}", "anyOf", "type", "string", "type",
                      "array", "items", "type", "string", "number", "minItems", 1);
        (void)json_object_set_new(properties, "argv", words);
        append(needed, json_string("argv"));
    }
    (void)json_object_set_new(properties, field->key, json_pack("{s:s}", "const", policy->name));
    if (strcmp(policy->name, field->initial == NULL ? "" : field->initial) != 0)
        append(needed, json_string(field->key));
    (void)json_object_set_new(object, "required", needed);
    return shared_json(writing, object);
}

/* The name of a policy, or a mapping with its parameters. */
static json_t *policies_json(const struct writing *writing, const struct sim_section *section)
{
    json_t *forms = json_array();
    json_t *names = json_array();
    for (size_t i = 0; i < sim_policy_count(writing->policies, section->policy); i++) {
        const struct sim_policy_table policy =
            sim_policy_at(writing->policies, section->policy, i, NULL);
        append(names, json_string(policy.name));
        append(forms, policy_json(writing, section, &policy));
    }
    append(forms, json_pack("{s:o}", "enum", names));
    return json_pack("{s:o}", "anyOf", forms);
}

/* ---- mappings and lists ---- */

/* A mapping, or the bare value that stands for one of its keys. */
static json_t *mapping_json(const struct writing *writing, const struct sim_section *section)
{
    if (section->policy != SIM_POLICY_NONE)
        return policies_json(writing, section);
    if (section->scalar_key == NULL)
        return section_json(writing, section);
    json_t *bare = field_json(writing, sim_schema_find(section, section->scalar_key));
    return json_pack("{s:[o, o]}", "anyOf", section_json(writing, section), bare);
}

static json_t *list_json(const struct writing *writing, const struct sim_field *field)
{
    json_t *forms = json_array();
    append(forms, json_pack("{s:s, s:o}", "type", "array", "items",
                            mapping_json(writing, field->section)));
    if ((field->flags & SIM_FIELD_OR_FILE) != 0)
        append(forms,
               json_pack("{s:s, s:{s:{s:s}}, s:[s], s:b}", "type", "object", "properties", "file",
                         "type", "string", "required", "file", "additionalProperties", 0));
    if ((field->flags & SIM_FIELD_BY_NAME) != 0 || writing->is_over) {
        struct writing named = *writing;
        named.is_named = true;
        json_t *entry = mapping_json(&named, field->section);
        append(forms, json_pack("{s:s, s:{s:[o, {s:s}]}}", "type", "object", "additionalProperties",
                                "anyOf", entry, "type", "null"));
    }
    return any_json(forms);
}

static json_t *whole_json(const struct writing *writing, const struct sim_field *field)
{
    if (field->kind == SIM_FIELD_SECTION)
        return mapping_json(writing, field->section);
    if (field->kind == SIM_FIELD_LIST)
        return list_json(writing, field);
    if (field->kind == SIM_FIELD_NAMED)
        return json_pack("{s:s, s:o}", "type", "object", "additionalProperties",
                         mapping_json(writing, field->section));
    if (field->kind == SIM_FIELD_SETS)
        return type_json("object");
    return shared_json(writing, sourced_json(scalar_json(field)));
}

/* Mappings and lists may be empty: `timeline:` with nothing behind it. */
static json_t *field_json(const struct writing *writing, const struct sim_field *field)
{
    json_t *object = whole_json(writing, field);
    if (field->kind >= SIM_FIELD_SECTION || writing->is_over)
        object = json_pack("{s:[o, {s:s}]}", "anyOf", object, "type", "null");
    else
        object = json_pack("{s:[o]}", "allOf", object); /* beside $ref nothing counts */
    set_text(object, "description", field->help);
    if (field->initial != NULL)
        set_text(object, "default", field->initial);
    return object;
}

static json_t *fields_json(const struct writing *writing, const struct sim_section *section)
{
    struct writing inner = *writing;
    json_t *object = type_json("object");
    json_t *properties = json_object();
    json_t *required = json_array();
    for (size_t i = 0; i < section->count; i++) {
        const struct sim_field *field = &section->fields[i];
        inner.is_named = false;
        json_t *form = field_json(&inner, field);
        const bool is_given =
            writing->is_over || (writing->is_named && strcmp(field->key, "name") == 0);
        if (field->alias != NULL)
            (void)json_object_set(properties, field->alias, form);
        (void)json_object_set_new(properties, field->key, form);
        if ((field->flags & SIM_FIELD_REQUIRED) != 0 && field->alias == NULL && !is_given)
            append(required, json_string(field->key));
    }
    (void)json_object_set_new(properties, "source", words_json("measured|datasheet|guess"));
    set_text(object, "description", section->help);
    (void)json_object_set_new(object, "properties", properties);
    (void)json_object_set_new(object, "required", required);
    (void)json_object_set_new(object, "additionalProperties", json_false());
    return object;
}

static json_t *section_json(const struct writing *writing, const struct sim_section *section)
{
    return shared_json(writing, fields_json(writing, section));
}

/* ---- the whole ---- */

static json_t *document_json(const struct sim_policies *policies)
{
    json_t *definitions = json_object();
    json_t *numbers = json_object();
    const struct writing alone = { policies, definitions, numbers, false, false };
    const struct writing over = { policies, definitions, numbers, true, false };
    json_t *document = json_pack("{s:s, s:s, s:s, s:{s:[s]}}", "$schema",
                                 "http://json-schema.org/draft-07/schema#", "title",
                                 "weir scenario", "type", "object", "if", "required", "extends");
    (void)json_object_set_new(document, "then", section_json(&over, &sim_schema_scenario));
    (void)json_object_set_new(document, "else", section_json(&alone, &sim_schema_scenario));
    (void)json_object_set_new(document, "definitions", definitions);
    json_decref(numbers);
    return document;
}

char *sim_schema_json(const struct sim_policies *policies)
{
    json_t *document = document_json(policies);
    char *text = json_dumps(document, JSON_COMPACT);
    json_decref(document);
    return text;
}
