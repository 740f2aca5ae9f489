/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weir schema: the reference of all scenario keys, printed from the table the reader uses.
 */
#include "sim/cli/commands.h"
#include "sim/cli/options.h"
#include "sim/scenario/scenario.h"

#include <stdlib.h>

struct arguments {
    uint32_t format; /* markdown, json */
};

static const struct sim_option command_rows[] = {
    { "format", 'f', "FORMAT", SIM_OPTION(CHOICE, arguments, format),
      "Print as markdown or json (a JSON Schema); default: markdown",
      SIM_OPTION_WORDS_OF("markdown", "json") },
};
static const struct sim_option_table command_options = {
    SIM_OPTION_ROWS(command_rows), .help = "Print the reference of all keys of scenario files."
};

int sim_cmd_schema(int argc, char **argv)
{
    struct arguments arguments = { .format = 0 };
    sim_options_parse(&command_options, argc, argv, &arguments);
    char *text = arguments.format == 1 ? sim_schema_json() : sim_schema_markdown();
    if (text == NULL) {
        fputs("weir schema: out of memory\n", stderr);
        return SIM_EXIT_RESOURCE;
    }
    fputs(text, stdout);
    free(text);
    return SIM_EXIT_OK;
}
