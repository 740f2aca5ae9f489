/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Variants of the command line; see the header. */
#include "sim/cli/experiment/variant_option.h"

#include "sim/scenario/read/name_rule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t sim_setting_length(const char *text)
{
    int depth = 0;
    char quote = '\0';
    size_t at = 0;
    for (; text[at] != '\0'; at++) {
        const char c = text[at];
        if (quote != '\0') {
            if (c == quote)
                quote = '\0';
            continue;
        }
        if (c == ',' && depth == 0)
            break;
        depth += strchr("([{", c) != NULL ? 1 : strchr(")]}", c) != NULL ? -1 : 0;
        if (c == '"' || c == '\'')
            quote = c;
    }
    return at;
}

/* "path = value" without the blanks around its parts. */
static bool add_setting(struct sim_variant *variant, const char *text, size_t length)
{
    const char *equals = memchr(text, '=', length);
    size_t path = equals == NULL ? 0 : (size_t)(equals - text);
    const char *value = equals == NULL ? text : equals + 1;
    size_t value_length = length - (size_t)(value - text);
    const size_t blank = strspn(value, " ");
    value += blank < value_length ? blank : value_length;
    value_length -= blank < value_length ? blank : value_length;
    while (path > 0 && text[path - 1] == ' ')
        path--;
    while (value_length > 0 && value[value_length - 1] == ' ')
        value_length--;
    char *set = NULL;
    if (path == 0 || asprintf(&set, "%.*s=%.*s", (int)path, text, (int)value_length, value) < 0)
        return false;
    variant->sets[variant->sets_count++] = set;
    return true;
}

static bool parse_settings(struct sim_variant *variant, const char *rest)
{
    while (*(rest += strspn(rest, " ")) != '\0') {
        const size_t length = sim_setting_length(rest);
        if (!add_setting(variant, rest, length))
            return false;
        rest += length + (rest[length] == ',' ? 1 : 0);
    }
    return variant->sets_count > 0;
}

static bool refuse(const char *word, const char *why)
{
    (void)fprintf(stderr,
                  "weir: --variant: '%s' %s; it is 'LABEL: path=value, path=-', for example "
                  "'fix: cluster.nodes.dgx.count=4, timeline=-'\n",
                  word, why);
    return false;
}

static bool parse_one(const char *word, struct sim_variant *variant)
{
    char fault[SIM_NAME_FAULT];
    const char *colon = strchr(word, ':');
    if (colon == NULL)
        return refuse(word, "has no label");
    variant->label = strndup(word, (size_t)(colon - word));
    variant->sets = calloc(strlen(colon) + 1, sizeof(*variant->sets));
    if (variant->label == NULL || variant->sets == NULL)
        return refuse(word, "does not fit into memory");
    if (!sim_name_is_fine(variant->label, fault))
        return refuse(word, fault);
    return parse_settings(variant, colon + 1) ||
           refuse(word, "says not path=value after its label");
}

struct sim_variant *sim_variants_parse(const struct sim_words *words)
{
    struct sim_variant *variants = calloc(words->count + 1, sizeof(*variants));
    bool is_fine = variants != NULL;
    for (size_t i = 0; i < words->count && is_fine; i++)
        is_fine = parse_one(words->items[i], &variants[i]);
    if (is_fine)
        return variants;
    sim_variants_free(variants, words->count);
    return NULL;
}

void sim_variants_free(struct sim_variant *variants, size_t count)
{
    for (size_t i = 0; variants != NULL && i < count; i++) {
        for (size_t s = 0; s < variants[i].sets_count; s++)
            free(variants[i].sets[s]);
        free(variants[i].sets);
        free(variants[i].label);
    }
    free(variants);
}
