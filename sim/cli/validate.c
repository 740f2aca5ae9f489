/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weir validate: reads scenario files and says everything that is wrong with them. Runs nothing.
 */
#include "sim/cli/commands.h"
#include "sim/cli/load.h"
#include "sim/cli/plugin.h"

#include <stdlib.h>
#include <string.h>

struct arguments {
    struct sim_options options;
    const char **files;
    size_t files_count;
    bool is_json;
    bool wants_resolved;
};

static const struct argp_option command_options[] = {
    { "format", 'f', "FORMAT", 0, "Print remarks as text or json (default: text)", 0 },
    { "resolved", 'r', NULL, 0,
      "Print the scenario with all defaults filled in and units canonical", 0 },
    { NULL, 0, NULL, 0, NULL, 0 }
};

static void add_file(struct arguments *arguments, const char *path, struct argp_state *state)
{
    const char **grown = reallocarray(arguments->files, arguments->files_count + 1, sizeof *grown);
    if (grown == NULL) {
        argp_failure(state, SIM_EXIT_INPUT, 0, "out of memory");
        return;
    }
    grown[arguments->files_count++] = path;
    arguments->files = grown;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    static const char *const formats[] = { "text", "json" };
    struct arguments *arguments = state->input;
    int format = 0;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->options;
        return 0;
    case 'f':
        format = sim_options_choice(argument, formats, 2);
        if (format < 0)
            argp_error(state, "--format: '%s' is neither text nor json", argument);
        arguments->is_json = format == 1;
        return 0;
    case 'r':
        arguments->wants_resolved = true;
        return 0;
    case ARGP_KEY_ARG:
        add_file(arguments, argument, state);
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "a scenario file is missing (- is standard input)");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void print_text(const struct arguments *arguments, const char *path,
                       const struct sim_scenario *scenario,
                       const struct sim_diagnostics *diagnostics)
{
    sim_diagnostics_print(diagnostics, stderr);
    if (scenario != NULL && arguments->wants_resolved)
        fputs(scenario->resolved, stdout);
    else if (scenario != NULL)
        printf("%s: ok\n", path);
}

/* Validates one file; returns its exit code. */
static int validate(const struct arguments *arguments, const struct sim_policies *policies,
                    const char *path)
{
    const struct sim_scenario_source source = { .path = path,
                                                .sets = arguments->options.sets,
                                                .sets_count = arguments->options.sets_count,
                                                .policies = policies };
    struct sim_diagnostics diagnostics = { .items = NULL };
    struct sim_scenario *scenario = NULL;
    const weir_status status = sim_scenario_load(&source, &scenario, &diagnostics);
    if (arguments->is_json)
        sim_diagnostics_print_json(&diagnostics, stdout);
    else
        print_text(arguments, path, scenario, &diagnostics);
    sim_scenario_destroy(scenario);
    sim_diagnostics_clear(&diagnostics);
    return sim_cli_exit_code(status);
}

int sim_cmd_validate(int argc, char **argv)
{
    struct arguments arguments = { .files = NULL };
    const struct argp_child children[] = { { &sim_options_scenario_argp, 0, NULL, 0 },
                                           { NULL, 0, NULL, 0 } };
    const struct argp argp = {
        .options = command_options,
        .parser = parse,
        .args_doc = "FILE...",
        .doc = "Check scenario files and say everything that is wrong with them."
               "\vExit codes: 0 all are valid, 2 one is not, 3 one cannot be read.",
        .children = children,
    };
    sim_options_parse(&argp, argc, argv, &arguments);
    struct sim_policies policies;
    int code =
        sim_plugins_load(arguments.options.plugins, arguments.options.plugins_count, &policies);
    for (size_t i = 0; i < arguments.files_count && code != SIM_EXIT_POLICY; i++) {
        const int one = validate(&arguments, &policies, arguments.files[i]);
        code = one > code ? one : code;
    }
    if (code != SIM_EXIT_POLICY)
        sim_plugins_clear(&policies);
    free(arguments.files);
    sim_options_clear(&arguments.options);
    return code;
}
