/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weir validate: reads scenario files and says everything that is wrong with them. Runs nothing.
 */
#include "sim/cli/commands.h"
#include "sim/cli/limits.h"
#include "sim/cli/load.h"
#include "sim/cli/plugin.h"

#include <stdlib.h>
#include <string.h>

struct arguments {
    struct sim_options options;
    struct sim_words files;
    uint32_t format; /* text, json */
    bool wants_resolved;
};

static const struct sim_option command_rows[] = {
    { "format", 'f', "FORMAT", SIM_OPTION(CHOICE, arguments, format),
      "Print remarks as text or json (default: text)", SIM_OPTION_WORDS_OF("text", "json") },
    { "resolved", 'r', NULL, SIM_OPTION(FLAG, arguments, wants_resolved),
      "Print the scenario with all defaults filled in and units canonical" },
    { .argument = "FILE",
      SIM_OPTION(WORDS, arguments, files),
      .missing = "a scenario file is missing (- is standard input)" },
    { SIM_OPTION(OTHERS, arguments, options), .others = &sim_options_scenario },
};
static const struct sim_option_table command_options = {
    SIM_OPTION_ROWS(command_rows),
    .usage = "FILE...",
    .help = "Check scenario files and say everything that is wrong with them."
            "\vExit codes: 0 all are valid, 2 one is not, 3 one cannot be read.",
};

static void print_ok(const char *path, const struct sim_scenario *scenario)
{
    printf("%s: ok\n", path);
    for (size_t i = 0; i < scenario->assumptions_count; i++)
        printf("  assumed: %s\n", scenario->assumptions[i]);
}

static void print_text(const struct arguments *arguments, const char *path,
                       const struct sim_scenario *scenario,
                       const struct sim_diagnostics *diagnostics)
{
    sim_diagnostics_print(diagnostics, stderr);
    if (scenario != NULL && arguments->wants_resolved)
        fputs(scenario->resolved, stdout);
    else if (scenario != NULL)
        print_ok(path, scenario);
}

/* Validates one file; returns its exit code. */
static int validate(const struct arguments *arguments, const struct sim_policies *policies,
                    const char *path)
{
    const struct sim_limits limits = sim_limits_of(&arguments->options.limits);
    const struct sim_scenario_source source = { .path = path,
                                                .limits = &limits.files,
                                                .sets = arguments->options.sets.items,
                                                .sets_count = arguments->options.sets.count,
                                                .asked_sets = arguments->options.sets.count,
                                                .policies = policies,
                                                .metric_named = sim_cli_metric,
                                                .moment_since = sim_cli_moment };
    struct sim_diagnostics diagnostics = { .items = NULL };
    struct sim_scenario *scenario = NULL;
    const weir_status status = sim_scenario_load(&source, &scenario, &diagnostics);
    if (arguments->format == 1)
        sim_diagnostics_print_json(&diagnostics, stdout);
    else
        print_text(arguments, path, scenario, &diagnostics);
    sim_scenario_destroy(scenario);
    sim_diagnostics_clear(&diagnostics);
    return sim_cli_exit_code(status);
}

int sim_cmd_validate(int argc, char **argv)
{
    struct arguments arguments = { .format = 0 };
    sim_options_parse(&command_options, argc, argv, &arguments);
    struct sim_policies policies;
    int code =
        sim_plugins_load(&arguments.options.plugins, arguments.options.in_process, &policies);
    for (size_t i = 0; i < arguments.files.count && code != SIM_EXIT_POLICY; i++) {
        const int one = validate(&arguments, &policies, arguments.files.items[i]);
        code = one > code ? one : code;
    }
    if (code != SIM_EXIT_POLICY)
        sim_plugins_clear(&policies);
    free(arguments.files.items);
    sim_options_clear(&arguments.options);
    return code;
}
