/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What keys need; see the header. */
#include "sim/scenario/schema/needs.h"

#include "sim/scenario/schema/acts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Defaults of the policy are said again here: of a request's level and time alone, as Triton has
 * them; a largest batch that is not given is above 1. */
const struct sim_field *sim_needs_of_param(uint32_t policy, const char *name)
{
    static const struct sim_field fields[] = {
        { .key = "levels", .initial = "1" },
        { .key = "timeout", .initial = "0" },
        { .key = "max_batch" },
        { .key = "ageing", .needs = "levels > 1", .initial = "0" },
        { .key = "max_delay", .needs = "max_batch > 1", .initial = "0" },
        { .key = "timeout_action",
          .needs = "timeout > 0 or requests.classes[].timeout",
          .initial = "reject" },
    };
    for (size_t i = 0; policy == SIM_POLICY_BATCHING && i < sizeof fields / sizeof fields[0]; i++)
        if (strcmp(fields[i].key, name) == 0)
            return &fields[i];
    return NULL;
}

/* The field that a path begins with. */
static const struct sim_field *field_of(struct sim_needs *needs, const struct sim_section *section,
                                        const char *path)
{
    const char *key = sim_arena_text(needs->arena, path, strcspn(path, ".[: "));
    const struct sim_field *field = sim_schema_find(section, key);
    return field != NULL ? field : sim_needs_of_param(section->policy, key);
}

/* ---- one condition ---- */

bool sim_needs_is_word(const char *needs)
{
    return strchr(needs, ':') != NULL && strpbrk(needs, ".[") == NULL;
}

static bool has_word(struct sim_needs *needs, const char *condition, const struct sim_field *field,
                     const struct sim_yaml *given)
{
    char word[64];
    const char *words = field->initial == NULL ? field->otherwise : field->initial;
    if (given != NULL) {
        const uint32_t choice = sim_choice_find(field->choices, given->text);
        words = sim_choice_word(field->choices, choice, word, sizeof word)
                    ? sim_arena_copy(needs->arena, word)
                    : NULL;
    }
    if (words == NULL)
        return true;
    needs->here = strchr(needs->text, '[') == NULL ? words : NULL; /* else of one entry of many */
    for (uint32_t i = 0; sim_choice_word(words, i, word, sizeof word); i++)
        if (sim_needs_has_word(condition, word))
            return true;
    return false;
}

static bool is_key_met(struct sim_needs *needs, const char *condition,
                       const struct sim_field *field, const struct sim_yaml *given)
{
    char *end = NULL;
    if (needs->sets_may && given != NULL && given->origin != NULL)
        return true;
    if (condition[0] == '\0')
        return given != NULL && (given->kind == SIM_YAML_SCALAR || given->count > 0);
    if (given != NULL && given->kind != SIM_YAML_SCALAR)
        return true;
    if (condition[0] == ':')
        return has_word(needs, condition, field, given);
    const char *initial = field->initial == NULL ? field->fallback : field->initial;
    const char *text = given == NULL ? initial : given->text;
    const double value = text == NULL ? 0 : strtod(text, &end);
    return end == text || value > strtod(condition + strlen(" > "), NULL);
}

static bool is_path_met(struct sim_needs *needs, const struct sim_section *section,
                        const struct sim_yaml *node, const char *path)
{
    const struct sim_field *field = field_of(needs, section, path);
    const size_t length = strcspn(path, ".[: ");
    const bool is_bare = node != NULL && node->kind == SIM_YAML_SCALAR &&
                         section->scalar_key != NULL &&
                         strcmp(section->scalar_key, field->key) == 0;
    const struct sim_yaml *given = is_bare ? node : sim_yaml_get(node, field->key);
    if (path[length] == '.')
        return is_path_met(needs, field->section, given, path + length + 1);
    if (path[length] != '[')
        return is_key_met(needs, path + length, field, given);
    for (const struct sim_yaml *entry = given == NULL ? NULL : given->first; entry != NULL;
         entry = entry->next)
        if (is_path_met(needs, field->section, entry, path + length + strlen("[].")))
            return true;
    return false;
}

bool sim_needs_met(struct sim_needs *needs, const struct sim_needs_step *step)
{
    static const char between[] = " or ";
    const char *end = NULL;
    for (const char *text = needs->text; text != NULL; text = end) {
        const bool is_no = strncmp(text, "no ", strlen("no ")) == 0;
        const struct sim_needs_step *at = step;
        end = strstr(text, between);
        const char *path =
            sim_arena_text(needs->arena, text, end == NULL ? strlen(text) : (size_t)(end - text)) +
            (is_no ? strlen("no ") : 0);
        end = end == NULL ? NULL : end + strlen(between);
        while (at != NULL && field_of(needs, at->section, path) == NULL)
            at = at->above;
        if (at == NULL ? strchr(path, ':') != NULL
                       : is_path_met(needs, at->section, at->node, path) != is_no)
            return true;
    }
    return false;
}

bool sim_needs_is_default(const struct sim_field *field, const char *text)
{
    char *end = NULL;
    if (field->initial == NULL)
        return false;
    const bool is_nothing = fpclassify(strtod(text, &end)) == FP_ZERO && end != text;
    return strcmp(field->initial, text) == 0 || (is_nothing && field->initial[0] == '0');
}

/* ---- variants ---- */

/* Whether the part of a path stands in the text, with one of `ends`, or the end, behind it. */
static bool has_part(const char *text, const char *part, size_t length, const char *ends)
{
    for (const char *at = text; *at != '\0'; at++)
        if (length > 0 && strncmp(at, part, length) == 0 && strchr(ends, at[length]) != NULL &&
            (at == text || strchr(". ", at[-1]) != NULL))
            return true;
    return false;
}

static bool is_set(const struct sim_yaml *set, const char *needs)
{
    const char *part = set->key == NULL ? "" : set->key;
    for (const struct sim_yaml *child = set->first; child != NULL; child = child->next)
        if (is_set(child, needs))
            return true;
    while (part[strcspn(part, ".[]")] != '\0') {
        const size_t length = strcspn(part, ".[]");
        if (has_part(needs, part, length, ": "))
            return true;
        part += length + 1;
    }
    return has_part(needs, part, strlen(part), ".:[ ") || strcmp(part, "backpressure") == 0 ||
           strcmp(part, "arrivals") == 0;
}

bool sim_needs_is_varied(const struct sim_yaml *root, const char *needs)
{
    static const char *const lists[] = { "compare", "timeline" };
    for (size_t l = 0; l < sizeof lists / sizeof lists[0]; l++) {
        const struct sim_yaml *list = sim_yaml_get(root, lists[l]);
        for (const struct sim_yaml *entry = list == NULL ? NULL : list->first; entry != NULL;
             entry = entry->next) {
            const struct sim_yaml *sets = sim_yaml_get(entry, "set");
            for (const struct sim_yaml *set = sets == NULL ? NULL : sets->first; set != NULL;
                 set = set->next)
                if (is_set(set, needs))
                    return true;
        }
    }
    return false;
}
