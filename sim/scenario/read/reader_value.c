/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Single values: see the header.
 */
#include "sim/scenario/read/reader_value.h"

#include "sim/engine/time.h"
#include "sim/scenario/read/name_rule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void sim_value_clear(const struct sim_field *field, void *target)
{
    switch ((enum sim_field_kind)field->kind) {
    case SIM_FIELD_TEXT:
        *(char **)target = NULL;
        return;
    case SIM_FIELD_LAW:
        *(struct sim_law **)target = NULL;
        return;
    case SIM_FIELD_NUMBER:
        *(double *)target = (double)NAN;
        return;
    case SIM_FIELD_FLAG:
    case SIM_FIELD_COUNT:
    case SIM_FIELD_CHOICE:
        *(uint32_t *)target = SIM_ABSENT_COUNT;
        return;
    case SIM_FIELD_COUNT64:
        *(uint64_t *)target = UINT64_MAX;
        return;
    case SIM_FIELD_WHOLE:
    case SIM_FIELD_TIME:
    case SIM_FIELD_BYTES:
    case SIM_FIELD_TIMESTAMP:
        *(int64_t *)target = INT64_MIN;
        return;
    case SIM_FIELD_SECTION:
    case SIM_FIELD_LIST:
    case SIM_FIELD_NAMED:
    case SIM_FIELD_SETS:
        return;
    }
}

bool sim_value_is_quantity(const struct sim_field *field)
{
    return field->kind == SIM_FIELD_NUMBER || field->kind == SIM_FIELD_COUNT ||
           field->kind == SIM_FIELD_COUNT64 || field->kind == SIM_FIELD_WHOLE ||
           field->kind == SIM_FIELD_TIME || field->kind == SIM_FIELD_BYTES ||
           field->kind == SIM_FIELD_LAW;
}

/* ---- numbers ---- */

static const char *range_unit(const struct sim_field *field)
{
    if (field->unit == SIM_UNIT_TIME)
        return " s";
    if (field->unit == SIM_UNIT_BYTES)
        return " B";
    return field->unit == SIM_UNIT_POWER ? " W" : "";
}

static bool check_range(struct sim_reader *reader, const struct sim_yaml *node,
                        const struct sim_field *field, double value)
{
    const bool is_limited = field->min < field->max || field->min > 0;
    if (!is_limited || (value >= field->min && value <= field->max))
        return true;
    if (value < field->min && field->max >= 1e5)
        return sim_report_error(reader->report, node, "must be at least %s%s, found '%s'",
                                sim_quantity_number(reader->arena, field->min), range_unit(field),
                                node->text);
    if (!(field->min < field->max))
        return sim_report_error(reader->report, node, "must be %s, found '%s'",
                                sim_quantity_number(reader->arena, field->min), node->text);
    return sim_report_error(reader->report, node, "'%s' is outside %s to %s%s", node->text,
                            sim_quantity_number(reader->arena, field->min),
                            sim_quantity_number(reader->arena, field->max), range_unit(field));
}

/* A time of day or a stamp, where the text is one: in seconds since the start. */
static bool read_moment(struct sim_reader *reader, const struct sim_yaml *node, double *value)
{
    struct weir_error error = { .phase = -1 };
    const weir_status status =
        reader->moment_since(node->text, reader->start_unix_s, value, &error);
    if (status != WEIR_OK)
        return sim_report_error(reader->report, node, "%s", error.text);
    return *value >= 0 ||
           sim_report_error(reader->report, node,
                            "'%s' is before the start of the run (start_time)", node->text);
}

static bool read_amount(struct sim_reader *reader, const struct sim_yaml *node,
                        const struct sim_field *field, double *value)
{
    struct weir_error error = { .phase = -1 };
    const bool may_be_moment =
        (field->flags & SIM_FIELD_MOMENT) != 0 && reader->moment_since != NULL;
    const weir_status status =
        sim_quantity_parse(node->text, (enum sim_unit)field->unit, value, &error);
    if (status != WEIR_OK && may_be_moment)
        return read_moment(reader, node, value) && check_range(reader, node, field, *value);
    if (status != WEIR_OK)
        return sim_report_error(reader->report, node, "%s", error.text);
    return check_range(reader, node, field, *value);
}

/* Whole numbers are read digit by digit: no double in between, no octal, no exponent. */
static bool read_whole(struct sim_reader *reader, const struct sim_yaml *node,
                       const struct sim_field *field, uint64_t *value)
{
    const char *text = node->text;
    const bool is_negative = text[0] == '-';
    const char *digits = text + (is_negative || text[0] == '+' ? 1 : 0);
    const size_t length = strspn(digits, "0123456789");
    if (length == 0 || digits[length] != '\0')
        return sim_report_error(reader->report, node, "expected a whole number, found '%s'", text);
    if (length > 1 && digits[0] == '0')
        return sim_report_error(reader->report, node, "leading zeros are not allowed, found '%s'",
                                text);
    const double size = strtod(digits, NULL);
    if (!check_range(reader, node, field, is_negative ? -size : size))
        return false;
    uint64_t sum = 0;
    for (size_t i = 0; i < length; i++)
        if (__builtin_mul_overflow(sum, 10, &sum) ||
            __builtin_add_overflow(sum, (uint64_t)(digits[i] - '0'), &sum))
            return sim_report_error(reader->report, node, "'%s' is too large", text);
    *value = sum;
    return true;
}

static bool read_number(struct sim_reader *reader, const struct sim_yaml *node,
                        const struct sim_field *field, void *target)
{
    double value = 0;
    if (!read_amount(reader, node, field, &value))
        return false;
    if (field->kind == SIM_FIELD_TIME)
        *(int64_t *)target = sim_time_from_s(value);
    else if (field->kind == SIM_FIELD_BYTES)
        *(int64_t *)target = llround(value);
    else
        *(double *)target = value;
    return true;
}

static bool read_integer(struct sim_reader *reader, const struct sim_yaml *node,
                         const struct sim_field *field, void *target)
{
    uint64_t value = 0;
    if (!read_whole(reader, node, field, &value))
        return false;
    if (field->kind == SIM_FIELD_COUNT)
        *(uint32_t *)target = (uint32_t)value;
    else if (field->kind == SIM_FIELD_WHOLE)
        *(int64_t *)target = (int64_t)value;
    else
        *(uint64_t *)target = value;
    return true;
}

/* ---- words ---- */

static bool read_flag(struct sim_reader *reader, const struct sim_yaml *node, uint32_t *target)
{
    if (strcmp(node->text, "true") != 0 && strcmp(node->text, "false") != 0)
        return sim_report_error(reader->report, node, "expected true or false, found '%s'",
                                node->text);
    *target = node->text[0] == 't';
    return true;
}

static char *choices_text(struct sim_arena *arena, const char *choices)
{
    char word[64];
    char *text = sim_arena_copy(arena, "");
    for (uint32_t i = 0; sim_choice_word(choices, i, word, sizeof word); i++)
        text = sim_arena_printf(arena, "%s%s%s", text, i == 0 ? "" : ", ", word);
    return text;
}

static const char *near_choice(struct sim_arena *arena, const char *choices, const char *found)
{
    const char *names[64];
    char word[64];
    size_t count = 0;
    while (count < 64 && sim_choice_word(choices, (uint32_t)count, word, sizeof word))
        names[count++] = sim_arena_copy(arena, word);
    return sim_near_name(found, names, count);
}

static bool read_choice(struct sim_reader *reader, const struct sim_yaml *node,
                        const struct sim_field *field, uint32_t *target)
{
    const uint32_t index = sim_choice_find(field->choices, node->text);
    if (index != SIM_ABSENT_COUNT) {
        *target = index;
        return true;
    }
    return sim_report_near(reader->report, node, SIM_AT_VALUE,
                           near_choice(reader->arena, field->choices, node->text),
                           "'%s' is not known (choose from %s)", node->text,
                           choices_text(reader->arena, field->choices));
}

/* ---- laws ---- */

/* Remembers the file of an empirical law. */
static void note_law_file(struct sim_reader *reader, const char *text)
{
    for (const char *at = strstr(text, "empirical("); at != NULL; at = strstr(at, "empirical(")) {
        at += strlen("empirical(");
        at += strspn(at, " ");
        const size_t length = strcspn(at, ",)");
        if (length > 0)
            sim_reader_add_file(reader, sim_arena_text(reader->arena, at, length));
    }
}

bool sim_value_is_cut(const struct sim_yaml *node)
{
    int depth = 0;
    for (const char *text = node->text; *text != '\0'; text++)
        depth += *text == '(' ? 1 : *text == ')' ? -1 : 0;
    return depth > 0 && !node->is_quoted;
}

static bool read_law(struct sim_reader *reader, const struct sim_yaml *node,
                     const struct sim_field *field, struct sim_law **target)
{
    if (sim_value_is_cut(node))
        return sim_report_error(reader->report, node,
                                "the law ends at the comma: put it in quotes, \"%s, ...)\"",
                                node->text);
    const char *text = field->unit == SIM_UNIT_BYTES
                           ? sim_quantity_bare_bytes(reader->arena, node->text)
                           : node->text;
    const struct sim_law_context context = { .is_time = field->unit == SIM_UNIT_TIME,
                                             .folder = reader->folder };
    struct weir_error error = { .phase = -1 };
    struct sim_law *law = NULL;
    if (sim_law_parse(text, &context, &law, &error) != WEIR_OK)
        return sim_report_error(reader->report, node, "%s", error.text);
    sim_arena_keep_law(reader->arena, law);
    note_law_file(reader, text);
    *target = law;
    return true;
}

static bool check_name(struct sim_reader *reader, const struct sim_yaml *node,
                       enum sim_report_place place, const char *name)
{
    char fault[SIM_NAME_FAULT];
    return sim_name_is_fine(name, fault) ||
           sim_report_near(reader->report, node, place, NULL, "a name %s", fault);
}

void sim_read_key_name(struct sim_reader *reader, const struct sim_yaml *node)
{
    (void)check_name(reader, node, SIM_AT_KEY, node->key);
}

bool sim_value_read(struct sim_reader *reader, const struct sim_yaml *node,
                    const struct sim_field *field, void *target)
{
    struct weir_error error = { .phase = -1 };
    switch ((enum sim_field_kind)field->kind) {
    case SIM_FIELD_TEXT:
        *(char **)target = sim_arena_copy(reader->arena, node->text);
        return (field->flags & SIM_FIELD_IS_NAME) == 0 ||
               check_name(reader, node, SIM_AT_VALUE, node->text);
    case SIM_FIELD_FLAG:
        return read_flag(reader, node, target);
    case SIM_FIELD_NUMBER:
    case SIM_FIELD_TIME:
    case SIM_FIELD_BYTES:
        return read_number(reader, node, field, target);
    case SIM_FIELD_COUNT:
    case SIM_FIELD_COUNT64:
    case SIM_FIELD_WHOLE:
        return read_integer(reader, node, field, target);
    case SIM_FIELD_CHOICE:
        return read_choice(reader, node, field, target);
    case SIM_FIELD_LAW:
        return read_law(reader, node, field, target);
    case SIM_FIELD_TIMESTAMP:
        if (sim_timestamp_parse(node->text, target, &error) != WEIR_OK)
            return sim_report_error(reader->report, node, "%s", error.text);
        return true;
    case SIM_FIELD_SECTION:
    case SIM_FIELD_LIST:
    case SIM_FIELD_NAMED:
    case SIM_FIELD_SETS:
        return false;
    }
    return false;
}
