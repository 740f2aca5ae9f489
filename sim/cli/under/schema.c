/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weir schema: the reference of all scenario keys, printed from the table the reader uses.
 */
#include "sim/cli/commands.h"
#include "sim/cli/options.h"
#include "sim/cli/plugin.h"
#include "sim/scenario/scenario.h"

#include <stdlib.h>

struct arguments {
    uint32_t format;            /* markdown, json */
    struct sim_options options; /* modules, whose policies a file may name */
};

static const struct sim_option command_rows[] = {
    { "format", 'f', "FORMAT", SIM_OPTION(CHOICE, arguments, format),
      "Print as markdown or json (a JSON Schema); default: markdown",
      SIM_OPTION_WORDS_OF("markdown", "json") },
    { SIM_OPTION(OTHERS, arguments, options), .others = &sim_options_plugin },
};
static const struct sim_option_table command_options = {
    SIM_OPTION_ROWS(command_rows), .help = "Print the reference of all keys of scenario files."
};

int sim_cmd_schema(int argc, char **argv)
{
    struct arguments arguments = { .format = 0 };
    sim_options_parse(&command_options, argc, argv, &arguments);
    struct sim_policies policies;
    const int code =
        sim_plugins_load(&arguments.options.plugins, arguments.options.in_process, &policies);
    sim_options_clear(&arguments.options);
    if (code != SIM_EXIT_OK)
        return code;
    char *text = arguments.format == 1 ? sim_schema_json(&policies) : sim_schema_markdown();
    sim_plugins_clear(&policies);
    if (text == NULL) {
        fputs("weir schema: out of memory\n", stderr);
        return SIM_EXIT_RESOURCE;
    }
    fprintf(stdout, arguments.format == 1 ? "%s\n" : "%s", text);
    free(text);
    return SIM_EXIT_OK;
}
