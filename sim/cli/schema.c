/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weir schema: the reference of all scenario keys, printed from the table the reader uses.
 */
#include "sim/cli/commands.h"
#include "sim/cli/options.h"
#include "sim/scenario/scenario.h"

#include <stdlib.h>

static const struct argp_option command_options[] = {
    { "format", 'f', "FORMAT", 0, "Print as markdown or json (a JSON Schema); default: markdown",
      0 },
    { NULL, 0, NULL, 0, NULL, 0 }
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    static const char *const formats[] = { "markdown", "json" };
    bool *is_json = state->input;
    if (key == ARGP_KEY_ARG)
        argp_error(state, "takes no arguments, found '%s'", argument);
    if (key != 'f')
        return ARGP_ERR_UNKNOWN;
    const int format = sim_options_choice(argument, formats, 2);
    if (format < 0)
        argp_error(state, "--format: '%s' is neither markdown nor json", argument);
    *is_json = format == 1;
    return 0;
}

int sim_cmd_schema(int argc, char **argv)
{
    const struct argp argp = { .options = command_options,
                               .parser = parse,
                               .doc = "Print the reference of all keys of scenario files." };
    bool is_json = false;
    sim_options_parse(&argp, argc, argv, &is_json);
    char *text = is_json ? sim_schema_json() : sim_schema_markdown();
    if (text == NULL) {
        fputs("weir schema: out of memory\n", stderr);
        return SIM_EXIT_INPUT;
    }
    fputs(text, stdout);
    free(text);
    return SIM_EXIT_OK;
}
