/* SPDX-License-Identifier: GPL-3.0-or-later */
/* weir list: what there is of every kind of word. */
#include "sim/cli/commands.h"
#include "sim/cli/options.h"
#include "sim/cli/words.h"
#include "sim/scenario/read/diagnostic.h"

#include <string.h>

struct arguments {
    struct sim_options options;
    const char *kind;
};

static const struct sim_option command_rows[] = {
    { .argument = "KIND", SIM_OPTION(TEXT, arguments, kind), .one = "one kind at a time" },
    { SIM_OPTION(OTHERS, arguments, options), .others = &sim_options_format },
    { SIM_OPTION(OTHERS, arguments, options), .others = &sim_options_plugin },
};
static const struct sim_option_table command_options = {
    SIM_OPTION_ROWS(command_rows),
    .usage = "[KIND]",
    .help = "List what there is: policies, metrics, charts, keys, gpus, traces, commands. "
            "`weir help WORD` says more of each.",
};

static int list_kinds(enum sim_format format)
{
    static const struct sim_column columns[] = { { "kind", "kind", NULL, false, false },
                                                 { "summary", "summary", NULL, false, false } };
    struct sim_table *table = sim_table_create(columns, 2);
    for (size_t i = 0; i < sim_word_kinds_count; i++)
        sim_table_row(table, (const char *[]){ sim_word_kinds[i].name, sim_word_kinds[i].summary });
    sim_table_print(table, format, stdout);
    sim_table_destroy(table);
    return SIM_EXIT_OK;
}

static int refuse(const char *kind)
{
    const char *names[16];
    for (size_t i = 0; i < sim_word_kinds_count; i++)
        names[i] = sim_word_kinds[i].name;
    const char *near = sim_near_name(kind, names, sim_word_kinds_count);
    (void)fprintf(stderr, "weir list: there are no '%s' to list", kind);
    if (near != NULL)
        (void)fprintf(stderr, "; did you mean '%s'?", near);
    (void)fputs("\nThere are:", stderr);
    for (size_t i = 0; i < sim_word_kinds_count; i++)
        (void)fprintf(stderr, " %s", names[i]);
    (void)fputc('\n', stderr);
    return SIM_EXIT_USAGE;
}

int sim_cmd_list(int argc, char **argv)
{
    struct arguments arguments = { .kind = NULL };
    sim_options_parse(&command_options, argc, argv, &arguments);
    const struct sim_word_kind *kind = NULL;
    for (size_t i = 0; i < sim_word_kinds_count && arguments.kind != NULL; i++)
        if (strcmp(sim_word_kinds[i].name, arguments.kind) == 0 ||
            strcmp(sim_word_kinds[i].one, arguments.kind) == 0)
            kind = &sim_word_kinds[i];
    const int code = arguments.kind == NULL ? list_kinds(arguments.options.format)
                     : kind == NULL         ? refuse(arguments.kind)
                                            : kind->list(&arguments.options);
    sim_options_clear(&arguments.options);
    return code;
}
