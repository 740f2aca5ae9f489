/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Command lines from one command to another; see the header. */
#include "sim/cli/line.h"

#include <stdlib.h>
#include <string.h>

static void add(struct sim_line *line, const char *word)
{
    char **more = realloc(line->words, (line->count + 2) * sizeof *more);
    char *copy = more == NULL ? NULL : strdup(word);
    if (more != NULL)
        line->words = more;
    if (copy == NULL) {
        line->is_short = true;
        return;
    }
    line->words[line->count++] = copy;
    line->words[line->count] = NULL;
}

void sim_line_add(struct sim_line *line, const char *option, const char *value)
{
    if (option != NULL)
        add(line, option);
    if (value != NULL)
        add(line, value);
}

void sim_line_add_all(struct sim_line *line, const char *option, const struct sim_words *values)
{
    for (size_t i = 0; i < values->count; i++)
        sim_line_add(line, option, values->items[i]);
}

void sim_line_add_options(struct sim_line *line, const struct sim_options *options)
{
#define NAME(name, text) text,
    static const char *const formats[] = { SIM_FORMATS(NAME) };
#undef NAME
    sim_line_add_all(line, "--set", &options->sets);
    sim_line_add_all(line, "--plugin", &options->plugins);
    sim_line_add_all(line, "--limit", &options->limits);
    if (options->in_process)
        sim_line_add(line, "--in-process", NULL);
    if (options->format != 0)
        sim_line_add(line, "--format", formats[options->format]);
}

int sim_line_run(struct sim_line *line, int (*run)(int argc, char **argv))
{
    const int code = line->is_short ? SIM_EXIT_RESOURCE : run((int)line->count, line->words);
    for (size_t i = 0; i < line->count; i++)
        free(line->words[i]);
    free(line->words);
    *line = (struct sim_line){ .words = NULL };
    return code;
}
