/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Shared options: see the header. argp accepts abbreviations and knows no "did you mean"; both are
 * settled here by walking the option tables before argp runs.
 */
#include "sim/cli/options.h"

#include "sim/scenario/diagnostic.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAMES = 128 };

struct names {
    const char *items[MAX_NAMES];
    size_t count;
};

int sim_options_choice(const char *word, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(word, names[i]) == 0)
            return (int)i;
    return -1;
}

static void append(const char ***items, size_t *count, const char *item,
                   const struct argp_state *state)
{
    const char **grown = reallocarray(*items, *count + 1, sizeof *grown);
    if (grown == NULL) {
        argp_failure(state, SIM_EXIT_INPUT, 0, "out of memory");
        return;
    }
    grown[(*count)++] = item;
    *items = grown;
}

void sim_options_clear(struct sim_options *options)
{
    free(options->sets);
    free(options->plugins);
    *options = (struct sim_options){ .format = options->format };
}

#define FORMAT_TEXT(name, text) text,
static const char *const format_names[] = { SIM_FORMATS(FORMAT_TEXT) };
#undef FORMAT_TEXT

static error_t parse_format(int key, char *argument, struct argp_state *state)
{
    struct sim_options *options = state->input;
    if (key != 'f')
        return ARGP_ERR_UNKNOWN;
    const int format = sim_options_choice(argument, format_names, SIM_FORMAT_COUNT);
    if (format < 0) {
        const char *near = sim_near_name(argument, format_names, SIM_FORMAT_COUNT);
        argp_error(state, "--format: '%s' is none of table, json, csv, md%s%s%s", argument,
                   near == NULL ? "" : "; did you mean '", near == NULL ? "" : near,
                   near == NULL ? "" : "'?");
    } else {
        options->format = (enum sim_format)format;
    }
    return 0;
}

static error_t parse_scenario(int key, char *argument, struct argp_state *state)
{
    struct sim_options *options = state->input;
    switch (key) {
    case 'S':
        if (strchr(argument, '=') == NULL)
            argp_error(state, "--set: '%s' is not PATH=VALUE", argument);
        append(&options->sets, &options->sets_count, argument, state);
        return 0;
    case 'P':
        append(&options->plugins, &options->plugins_count, argument, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option format_options[] = {
    { "format", 'f', "FORMAT", 0, "Print as table, json, csv or md (default: table)", 0 },
    { NULL, 0, NULL, 0, NULL, 0 }
};

static const struct argp_option plugin_options[] = {
    { "plugin", 'P', "FILE", 0, "Load policies from a shared library; may be repeated", 0 },
    { NULL, 0, NULL, 0, NULL, 0 }
};

static const struct argp_option scenario_options[] = {
    { "set", 'S', "PATH=VALUE", 0,
      "Change a value of the scenario before it is checked, for example "
      "cluster.nodes.dgx.count=4; may be repeated",
      0 },
    { "plugin", 'P', "FILE", 0, "Load policies from a shared library; may be repeated", 0 },
    { NULL, 0, NULL, 0, NULL, 0 }
};

const struct argp sim_options_format_argp = { .options = format_options, .parser = parse_format };
const struct argp sim_options_plugin_argp = { .options = plugin_options, .parser = parse_scenario };
const struct argp sim_options_scenario_argp = { .options = scenario_options,
                                                .parser = parse_scenario };

/* All long names of one parser, without its children. */
static void collect_table(const struct argp *argp, struct names *names)
{
    const struct argp_option *option = argp->options;
    for (; option != NULL && (option->name != NULL || option->key != 0 || option->doc != NULL);
         option++)
        if (option->name != NULL && names->count < MAX_NAMES)
            names->items[names->count++] = option->name;
}

static void collect_tree(const struct argp *argp, struct names *names)
{
    collect_table(argp, names);
    const struct argp_child *child = argp->children;
    for (; child != NULL && child->argp != NULL; child++)
        collect_tree(child->argp, names);
}

static void collect_names(const struct argp *argp, struct names *names)
{
    names->items[names->count++] = "help";
    names->items[names->count++] = "usage";
    names->items[names->count++] = "version";
    collect_tree(argp, names);
}

static void list_names(const struct argp *argp)
{
    struct names names = { .count = 0 };
    collect_tree(argp, &names);
    puts("--help");
    for (size_t i = 0; i < names.count; i++)
        printf("--%s\n", names.items[i]);
    exit(SIM_EXIT_OK);
}

static bool is_known(const char *word, size_t length, const struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        if (strncmp(names->items[i], word, length) == 0)
            return true; /* whole or an abbreviation; argp tells ambiguous ones */
    return false;
}

static void refuse_unknown(const char *program, const char *word, const struct names *names)
{
    char name[64];
    const size_t length = strcspn(word, "=");
    (void)snprintf(name, sizeof name, "%.*s", (int)length, word);
    if (is_known(word, length, names))
        return;
    const char *near = sim_near_name(name, names->items, names->count);
    fprintf(stderr, "%s: unknown option '--%s'", program, name);
    if (near != NULL)
        fprintf(stderr, "; did you mean '--%s'?", near);
    fprintf(stderr, "\nTry '%s --help'.\n", program);
    exit(SIM_EXIT_USAGE);
}

/* The subcommand's argv[0] is its name alone; messages shall say "weir NAME". */
static char **with_program_name(int argc, char **argv)
{
    char **copy = calloc((size_t)argc + 1, sizeof *copy);
    if (copy == NULL || asprintf(&copy[0], "weir %s", argv[0]) < 0) {
        fputs("weir: out of memory\n", stderr);
        exit(SIM_EXIT_INPUT);
    }
    memcpy(copy + 1, argv + 1, ((size_t)argc - 1) * sizeof *copy);
    return copy;
}

void sim_options_parse(const struct argp *argp, int argc, char **words, void *input)
{
    struct names names = { .count = 0 };
    if (argc == 2 && strcmp(words[1], SIM_OPTIONS_LIST) == 0)
        list_names(argp);
    char **argv = with_program_name(argc, words);
    collect_names(argp, &names);
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strncmp(argv[i], "--", 2) == 0)
            refuse_unknown(argv[0], argv[i] + 2, &names);
    argp_err_exit_status = SIM_EXIT_USAGE;
    (void)argp_parse(argp, argc, argv, 0, NULL, input);
    free(argv[0]);
    free(argv);
}
