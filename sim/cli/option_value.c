/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values of options; see the header. */
#include "sim/cli/option_value.h"

#include "analysis/moment.h"
#include "sim/scenario/read/diagnostic.h"
#include "sim/scenario/read/quantity.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* What messages call a value: its option, or the word of the usage line. */
static const char *dashes(const struct sim_option *row)
{
    return row->name == NULL ? "" : "--";
}

static const char *name_of(const struct sim_option *row)
{
    return row->name == NULL ? row->argument : row->name;
}

static struct an_moment moment_of(const struct sim_option *row, const char *text,
                                  const struct argp_state *state)
{
    struct an_moment moment = { .kind = AN_MOMENT_NONE };
    if (!an_moment_parse(text, &moment))
        argp_error(
            state,
            "%s%s: expected a time as 90, 15m, 1h30m, 14:05:00 or 2026-03-01T14:05:00Z, found "
            "'%s'",
            dashes(row), name_of(row), text);
    return moment;
}

/* Decimal or 0x... */
static uint64_t count_of(const struct sim_option *row, const char *text,
                         const struct argp_state *state)
{
    const uint64_t largest = row->kind == SIM_OPTION_COUNT ? UINT32_MAX : UINT64_MAX;
    const uint64_t max = row->max == 0 ? largest : row->max;
    const int base = strncmp(text, "0x", 2) == 0 ? 16 : 10;
    char *end = NULL;
    if (row->all != NULL && strcmp(text, row->all) == 0)
        return UINT32_MAX;
    errno = 0;
    const unsigned long long value = strtoull(text, &end, base);
    if (!isdigit((unsigned char)text[0]) || *end != '\0' || errno != 0 || value < row->min ||
        value > max)
        argp_error(state, "%s%s: '%s' is not a whole number from %llu to %llu%s%s", dashes(row),
                   name_of(row), text, (unsigned long long)row->min, (unsigned long long)max,
                   row->all == NULL ? "" : " or ", row->all == NULL ? "" : row->all);
    return value;
}

static void refuse_word(const struct sim_option *row, const char *text, size_t count,
                        const struct argp_state *state)
{
    char list[256] = "";
    size_t length = 0;
    for (size_t i = 0; i < count && length < sizeof list; i++)
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", i == 0 ? "" : ", ",
                                   row->words[i]);
    const char *near = sim_near_name(text, row->words, count);
    argp_error(state, "%s%s: '%s' is none of %s%s%s%s", dashes(row), name_of(row), text, list,
               near == NULL ? "" : "; did you mean '", near == NULL ? "" : near,
               near == NULL ? "" : "'?");
}

static uint32_t word_of(const struct sim_option *row, const char *text,
                        const struct argp_state *state)
{
    uint32_t index = 0;
    while (row->words[index] != NULL && strcmp(row->words[index], text) != 0)
        index++;
    if (row->words[index] == NULL)
        refuse_word(row, text, index, state);
    return index;
}

static void append(struct sim_words *words, const char *text, const struct argp_state *state)
{
    const char **grown = reallocarray(words->items, words->count + 1, sizeof *grown);
    if (grown == NULL) {
        argp_failure(state, SIM_EXIT_INPUT, 0, "out of memory");
        return;
    }
    grown[words->count++] = text;
    words->items = grown;
}

void sim_option_take(const struct sim_option *row, const char *text, void *to,
                     const struct argp_state *state)
{
    switch ((enum sim_option_kind)row->kind) {
    case SIM_OPTION_TEXT:
        if (row->words != NULL)
            (void)word_of(row, text, state);
        *(const char **)to = text;
        break;
    case SIM_OPTION_FLAG:
        *(bool *)to = true;
        break;
    case SIM_OPTION_COUNT:
        *(uint32_t *)to = (uint32_t)count_of(row, text, state);
        break;
    case SIM_OPTION_COUNT64:
        *(uint64_t *)to = count_of(row, text, state);
        break;
    case SIM_OPTION_CHOICE:
        *(uint32_t *)to = word_of(row, text, state);
        break;
    case SIM_OPTION_MOMENT:
        *(struct an_moment *)to = moment_of(row, text, state);
        break;
    case SIM_OPTION_WORDS:
        append(to, text, state);
        break;
    case SIM_OPTION_OTHERS:
        break;
    }
}

bool sim_option_share(const char *option, const char *text, double *share)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    double value = 0;
    if (sim_quantity_parse(text, SIM_UNIT_ANY, &value, &error) == WEIR_OK && value > 0 &&
        value < 1) {
        *share = value;
        return true;
    }
    (void)fprintf(stderr, "weir: %s: expected a share above 0 as 2%% or 0.02, found '%s'\n", option,
                  text);
    return false;
}
