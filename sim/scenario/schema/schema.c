/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Looking things up in the schema's tables; the tables themselves are in schema_tables.c.
 */
#include "sim/scenario/schema/schema.h"

#include <string.h>

const struct sim_field *sim_schema_find(const struct sim_section *section, const char *key)
{
    for (size_t i = 0; i < section->count; i++) {
        const struct sim_field *field = &section->fields[i];
        if (strcmp(field->key, key) == 0 ||
            (field->alias != NULL && strcmp(field->alias, key) == 0))
            return field;
    }
    return NULL;
}

const struct sim_field *sim_schema_find_old(const struct sim_section *section, const char *key)
{
    for (size_t i = 0; i < section->count; i++)
        if (section->fields[i].was != NULL && strcmp(section->fields[i].was, key) == 0)
            return &section->fields[i];
    return sim_schema_find(section, key);
}

/* One alternative of a list ends at '|', one of its names at '/'. */
bool sim_choice_word(const char *choices, uint32_t index, char *text, size_t capacity)
{
    for (; index > 0; index--) {
        choices = strchr(choices, '|');
        if (choices == NULL)
            return false;
        choices++;
    }
    size_t length = strcspn(choices, "|/");
    if (length >= capacity)
        length = capacity - 1;
    memcpy(text, choices, length);
    text[length] = '\0';
    return true;
}

uint32_t sim_choice_find(const char *choices, const char *word)
{
    uint32_t index = 0;
    const size_t size = strlen(word);
    for (const char *at = choices; *at != '\0';) {
        const size_t length = strcspn(at, "|/");
        if (length == size && strncmp(at, word, length) == 0)
            return index;
        at += length;
        index += *at == '|' ? 1 : 0;
        at += *at == '\0' ? 0 : 1;
    }
    return SIM_ABSENT_COUNT;
}
