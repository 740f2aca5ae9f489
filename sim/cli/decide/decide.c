/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The command line of `weir decide`: options, files, messages.
 */
#include "sim/cli/decide/decide.h"

#include "sim/cli/decide/decide_format.h"
#include "sim/cli/decide/decide_serve.h"
#include "sim/cli/isolate.h"
#include "sim/cli/limits.h"
#include "sim/cli/options.h"
#include "sim/cli/plugin.h"

#include <stdlib.h>
#include <string.h>

struct arguments {
    struct sim_options options; /* plug-ins */
    struct sim_policies policies;
    struct sim_words paths;
    bool is_compact, is_served;
};

static void check(const void *given, const struct argp_state *state)
{
    const struct arguments *const arguments = given;
    if (arguments->is_served && arguments->paths.count > 0)
        argp_error(state, "--serve reads standard input; leave '%s' out, or write < %s",
                   arguments->paths.items[0], arguments->paths.items[0]);
}

static const struct sim_option command_rows[] = {
    { "compact", 'l', NULL, SIM_OPTION(FLAG, arguments, is_compact),
      "Print every answer on one line" },
    { "serve", 's', NULL, SIM_OPTION(FLAG, arguments, is_served),
      "Answer each line of standard input by one line, at once; a whole document begins a session, "
      "those of the command `next` go on with it" },
    { .argument = "FILE", SIM_OPTION(WORDS, arguments, paths) },
    { SIM_OPTION(OTHERS, arguments, options), .others = &sim_options_plugin },
    { SIM_OPTION(OTHERS, arguments, options.limits), .others = &sim_limit_table },
};
static const struct sim_option_table command_options = {
    SIM_OPTION_ROWS(command_rows),
    .check = check,
    .usage = "[FILE...]",
    .help = "One scheduler decision for each JSON document of the files (or of standard input): an "
            "object, an array of objects, or one object a line. weir explain --decide writes "
            "such a document; docs/decide.md has the format.\v"
            "Exit codes: 0 answered, 2 usage, 3 not a valid document, 4 plug-in.",
};

static int fail_input(const struct weir_error *error)
{
    fprintf(stderr, "weir decide: %s\n", error->text);
    return SIM_EXIT_INPUT;
}

static int fail_diagnostics(struct sim_diagnostics *diagnostics)
{
    sim_diagnostics_print(diagnostics, stderr);
    sim_diagnostics_clear(diagnostics);
    return SIM_EXIT_INPUT;
}

/* All documents are checked before the first is answered. */
static int answer_documents(const struct arguments *arguments,
                            const struct decide_documents *documents)
{
    const size_t count = json_array_size(documents->list);
    struct sim_diagnostics diagnostics = { .items = NULL };
    struct weir_error error = { .phase = -1, .pool = -1 };

    for (size_t i = 0; i < count; i++)
        decide_format_check(documents, i, &arguments->policies, &diagnostics);
    if (diagnostics.errors > 0)
        return fail_diagnostics(&diagnostics);
    for (size_t i = 0; i < count; i++) {
        const struct decide_question question = { .input = json_array_get(documents->list, i),
                                                  .policies = &arguments->policies };
        json_t *answer = NULL;
        if (decide_answer(&question, &answer, &error) != WEIR_OK) {
            decide_format_report(documents, i, error.text, &diagnostics);
            return fail_diagnostics(&diagnostics);
        }
        decide_print(answer, arguments->is_compact || count > 1, stdout);
        json_decref(answer);
    }
    return SIM_EXIT_OK;
}

static int answer_file(const struct arguments *arguments, const char *path)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct decide_documents documents;
    const weir_status status = decide_documents_load(path, &documents, &error);
    const int code =
        status == WEIR_OK ? answer_documents(arguments, &documents) : fail_input(&error);

    decide_documents_clear(&documents);
    return code;
}

static size_t line_limit(const struct arguments *arguments)
{
    const struct sim_limits limits = sim_limits_of(&arguments->options.limits);
    return wl_limit(limits.line_mib, SIM_LINE_MIB) << 20;
}

static int answer_files(void *state)
{
    const struct arguments *const arguments = state;
    int code = SIM_EXIT_OK;

    if (arguments->is_served)
        return decide_serve(&arguments->policies, line_limit(arguments), stdin, stdout);
    if (arguments->paths.count == 0)
        code = answer_file(arguments, "-");

    for (size_t i = 0; code == SIM_EXIT_OK && i < arguments->paths.count; i++)
        code = answer_file(arguments, arguments->paths.items[i]);
    (void)fflush(stdout);
    return code;
}

/* Plug-ins answer in a process of their own. */
static int answer_all(struct arguments *arguments)
{
    char message[SIM_SANDBOX_TEXT] = "";

    if (arguments->options.plugins.count == 0)
        return answer_files(arguments);
    const struct sim_isolated_call call = { .call = answer_files,
                                            .state = arguments,
                                            .timeout_s = arguments->is_served
                                                             ? UINT32_MAX
                                                             : SIM_ISOLATE_TIMEOUT_S,
                                            .keeps_output = true };
    const int code = sim_isolate_module(&call, message);
    if (code >= 0)
        return code;
    fprintf(stderr, "weir decide: a plug-in: %s; try weir check on it\n", message);
    return SIM_EXIT_POLICY;
}

int sim_cmd_decide(int argc, char **argv)
{
    struct arguments arguments = { .is_compact = false };
    sim_options_parse(&command_options, argc, argv, &arguments);
    int code = sim_plugins_load(&arguments.options.plugins, arguments.options.in_process,
                                &arguments.policies);
    if (code == SIM_EXIT_OK)
        code = answer_all(&arguments);
    sim_plugins_clear(&arguments.policies);
    sim_options_clear(&arguments.options);
    free(arguments.paths.items);
    return code;
}
