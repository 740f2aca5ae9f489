/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options of the commands that simulate (see simulate_options.h). */
#include "sim/cli/simulate_options.h"

#include "sim/cli/plugin.h"

#include <stdlib.h>
#include <string.h>

enum { KEY_NO_DB = 0x100, KEY_RESUME, KEY_CHECK, KEY_PARANOID, KEY_TIMEOUT, KEY_MEMORY };

static const struct argp_option table[] = {
    { "output", 'o', "DB", 0, "Result database (default: NAME.db of the scenario's name)", 0 },
    { "no-db", KEY_NO_DB, NULL, 0, "Write no database", 0 },
    { "seed", 's', "SEED", 0, "Seed instead of the scenario's (decimal or 0x...)", 0 },
    { "replications", 'n', "N", 0, "Replications instead of the scenario's", 0 },
    { "jobs", 'j', "N", 0, "Runs at the same time (default: one a core)", 0 },
    { "resume", KEY_RESUME, NULL, 0, "Keep complete runs of the database, run the rest", 0 },
    { "check", KEY_CHECK, NULL, 0, "Exit with 1 when an expectation is not met", 0 },
    { "check-invariants", KEY_PARANOID, NULL, 0,
      "Check all invariants after every event (slow); also by WEIR_CHECK_INVARIANTS=1", 0 },
    { "policy-timeout", KEY_TIMEOUT, "SECONDS", 0,
      "With --plugin: end a run in which nothing happens for so long (default: 60)", 0 },
    { "policy-memory", KEY_MEMORY, "MIB", 0,
      "With --plugin: memory a run may take (default: 3/4 of the machine's)", 0 },
    { "quiet", 'q', NULL, 0, "No progress line, no summary", 0 },
    { NULL, 0, NULL, 0, NULL, 0 }
};

uint64_t sim_whole_option(const char *name, const char *text, uint64_t max,
                          const struct argp_state *state)
{
    char *end = NULL;
    const int base = strncmp(text, "0x", 2) == 0 ? 16 : 10;
    const unsigned long long value = strtoull(text, &end, base);
    if (text[0] == '\0' || text[0] == '-' || *end != '\0' || value > max)
        argp_error(state, "--%s: '%s' is not a whole number up to %llu", name, text,
                   (unsigned long long)max);
    return value;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct sim_simulate_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &options->common;
        state->child_inputs[1] = &options->common;
        return 0;
    case 'o':
        options->output = argument;
        return 0;
    case 's':
        options->seed = sim_whole_option("seed", argument, UINT64_MAX, state);
        options->has_seed = true;
        return 0;
    case 'n':
        options->replications = (uint32_t)sim_whole_option("replications", argument, 100000, state);
        return 0;
    case 'j':
        options->jobs = (uint32_t)sim_whole_option("jobs", argument, 1024, state);
        return 0;
    case 'q':
        options->quiet = true;
        return 0;
    case KEY_TIMEOUT:
        options->policy_timeout_s =
            (uint32_t)sim_whole_option("policy-timeout", argument, 1000000, state);
        return 0;
    case KEY_MEMORY:
        options->policy_memory_mib = sim_whole_option("policy-memory", argument, 1 << 30, state);
        return 0;
    case KEY_NO_DB:
        options->no_database = true;
        return 0;
    case KEY_RESUME:
        options->resume = true;
        return 0;
    case KEY_CHECK:
        options->check = true;
        return 0;
    case KEY_PARANOID:
        options->paranoid = true;
        return 0;
    case ARGP_KEY_ARG:
        if (options->path != NULL)
            argp_error(state, "one file at a time, got '%s' and '%s'", options->path, argument);
        options->path = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = { { &sim_options_format_argp, 0, NULL, 0 },
                                              { &sim_options_scenario_argp, 0, NULL, 0 },
                                              { NULL, 0, NULL, 0 } };

const struct argp sim_simulate_argp = { .options = table, .parser = parse, .children = children };

/* The environment lets a whole test suite check without naming the option in every call. */
static bool is_paranoid(const struct sim_simulate_options *options)
{
    const char *const wish = getenv("WEIR_CHECK_INVARIANTS");

    return options->paranoid || (wish != NULL && wish[0] != '\0' && strcmp(wish, "0") != 0);
}

/* Words that a shell would take apart stand in single quotes. */
static void append_word(FILE *out, const char *word)
{
    if (word[0] != '\0' && strpbrk(word, " \t\n\"'$&|;<>()*?[]#~`\\!{}") == NULL) {
        (void)fprintf(out, " %s", word);
        return;
    }
    (void)fputs(" '", out);
    for (const char *c = word; *c != '\0'; c++)
        (void)(*c == '\'' ? fputs("'\\''", out) : fputc(*c, out));
    (void)fputc('\'', out);
}

char *sim_command_line(const char *command, int argc, char **argv)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        return NULL;
    (void)fprintf(out, "weir %s", command);
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--resume") != 0)
            append_word(out, argv[i]);
    return fclose(out) == 0 ? text : NULL;
}

int sim_simulate(const struct sim_simulate_options *options, bool all_variants,
                 const char *command_line, struct sim_policies *policies,
                 struct sim_experiment *experiment)
{
    const int code =
        sim_plugins_load(options->common.plugins, options->common.plugins_count, policies);
    *experiment = (struct sim_experiment){ 0 };
    if (code != SIM_EXIT_OK)
        return code;
    const struct sim_experiment_options run = { .scenario_path = options->path,
                                                .sets = options->common.sets,
                                                .sets_count = options->common.sets_count,
                                                .policies = policies,
                                                .database =
                                                    options->no_database ? "" : options->output,
                                                .command_line = command_line,
                                                .replications = options->replications,
                                                .seed = options->has_seed ? &options->seed : NULL,
                                                .jobs = options->jobs,
                                                .all_variants = all_variants,
                                                .resume = options->resume,
                                                .is_quiet = options->quiet,
                                                .check_always = is_paranoid(options),
                                                .spans = options->spans,
                                                .spans_limit = options->spans_limit,
                                                .plugins = options->common.plugins,
                                                .plugins_count = options->common.plugins_count,
                                                .policy_timeout_s = options->policy_timeout_s,
                                                .policy_memory_mib = options->policy_memory_mib };
    return sim_experiment_run(&run, experiment);
}

int sim_simulate_verdict(const struct sim_simulate_options *options,
                         const struct sim_experiment *experiment, int code)
{
    for (size_t i = 0; i < experiment->unmet_count; i++)
        (void)fprintf(stderr, "✗ %s\n", experiment->unmet[i]);
    if (options->check && experiment->expectations > 0)
        (void)fprintf(stderr, "weir: %zu of %zu expectations met\n", experiment->expectations_met,
                      experiment->expectations);
    if (code == SIM_EXIT_OK &&
        ((options->check && experiment->unmet_count > 0) || experiment->unexpected_ends > 0))
        return SIM_EXIT_CHECK;
    return code;
}
