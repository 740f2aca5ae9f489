/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finding a value again by its path (see json_place.h): the text was read before, so that brackets
 * match and nothing has to be checked. Values beside the path are skipped by counting brackets.
 */
#include "sim/cli/json_place.h"

#include <jansson.h>
#include <string.h>

static const char *skip_space(const char *at)
{
    return at + strspn(at, " \t\r\n,:");
}

static const char *skip_text(const char *at)
{
    for (at++; *at != '\0' && *at != '"'; at++)
        at += at[0] == '\\' && at[1] != '\0';
    return *at == '"' ? at + 1 : at;
}

static const char *skip_value(const char *at)
{
    size_t depth = 0;

    do {
        if (*at == '"') {
            at = skip_text(at);
            continue;
        }
        depth += *at == '{' || *at == '[';
        depth -= *at == '}' || *at == ']';
        at += *at != '\0';
    } while (*at != '\0' && (depth > 0 || strchr(",]} \t\r\n", *at) == NULL));
    return at;
}

static bool is_key(const char *at, const char *key)
{
    json_t *const name = json_loadb(at, (size_t)(skip_text(at) - at), JSON_DECODE_ANY, NULL);
    const bool is_same = name != NULL && strcmp(json_string_value(name), key) == 0;

    json_decref(name);
    return is_same;
}

/* The value after the key, or NULL; `*name` is the key itself. */
static const char *member(const char *at, const char *key, const char **name)
{
    if (*at != '{')
        return NULL;
    for (at = skip_space(at + 1); *at == '"'; at = skip_space(skip_value(at))) {
        *name = at;
        at = skip_space(skip_text(at));
        if (is_key(*name, key))
            return at;
    }
    return NULL;
}

static const char *element(const char *at, size_t index)
{
    if (*at != '[')
        return NULL;
    at = skip_space(at + 1);
    for (; index > 0 && *at != ']' && *at != '\0'; index--)
        at = skip_space(skip_value(at));
    return *at == ']' || *at == '\0' ? NULL : at;
}

static struct sim_json_place place_of(const char *text, const char *at)
{
    struct sim_json_place place = { .line = 1, .start = text };

    for (const char *c = text; c < at; c++) {
        if (*c != '\n')
            continue;
        place.line++;
        place.start = c + 1;
    }
    place.column = (int)(at - place.start) + 1;
    place.length = strcspn(place.start, "\r\n");
    return place;
}

struct sim_json_place sim_json_locate(const char *text, size_t from,
                                      const struct sim_json_step *steps, size_t count)
{
    const char *at = skip_space(text + from);
    const char *shown = at;

    for (size_t i = 0; i < count; i++) {
        const char *name = NULL;
        const char *const next =
            steps[i].key != NULL ? member(at, steps[i].key, &name) : element(at, steps[i].index);
        if (next == NULL)
            break;
        at = next;
        shown = steps[i].key != NULL ? name : at;
    }
    return place_of(text, shown);
}
