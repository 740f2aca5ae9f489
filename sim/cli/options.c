/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Command lines by tables: see the header. argp reads the words and writes the help; it accepts
 * abbreviations and knows no "did you mean", so unknown options are refused before it runs.
 */
#include "sim/cli/options.h"

#include "sim/cli/limits.h"

#include "sim/cli/option_value.h"
#include "sim/scenario/read/diagnostic.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROWS = 48, MAX_NAMES = MAX_ROWS + 4, FIRST_KEY = 0x300 };

struct names {
    const char *items[MAX_NAMES];
    size_t count;
};

/* A row and the struct that it fills. */
struct slot {
    const struct sim_option *row;
    char *base;
    bool is_given;
};

/* The rows of a table and of all that it brings in. */
struct parser {
    const struct sim_option_table *table;
    void *arguments;
    struct slot slots[MAX_ROWS];
    struct argp_option options[MAX_ROWS + 1]; /* of the same rows; operands have none */
    size_t count, options_count;
    size_t operands; /* words taken so far */
};

void sim_options_clear(struct sim_options *options)
{
    free(options->sets.items);
    free(options->plugins.items);
    free(options->limits.items);
    *options = (struct sim_options){ .format = options->format };
}

/* ---- what many commands share ---- */

#define FORMAT_TEXT(name, text) text,
static const struct sim_option format_rows[] = {
    { "format", 'f', "FORMAT", SIM_OPTION(CHOICE, sim_options, format),
      "Print as table, json, csv, md or latex (default: table)",
      .words = (const char *const[]){ SIM_FORMATS(FORMAT_TEXT) NULL } },
};
#undef FORMAT_TEXT

static const struct sim_option plugin_rows[] = {
    { "plugin", 'P', "FILE", SIM_OPTION(WORDS, sim_options, plugins),
      "Policies of a shared library, in a process of their own; may be repeated" },
    { "in-process", 0, NULL, SIM_OPTION(FLAG, sim_options, in_process),
      "With --plugin: load it into the process of the run, for those who trust theirs" },
};

static const struct sim_option scenario_rows[] = {
    { "set", 'S', "PATH=VALUE", SIM_OPTION(WORDS, sim_options, sets),
      "Change a value of the scenario before it is checked, for example "
      "cluster.nodes.dgx.count=4; may be repeated",
      .of = SIM_FILE_SCENARIO },
    { .kind = SIM_OPTION_OTHERS, .others = &sim_options_plugin },
    { SIM_OPTION(OTHERS, sim_options, limits), .others = &sim_limit_table },
};

static void check_sets(const void *arguments, const struct argp_state *state)
{
    const struct sim_options *options = arguments;
    for (size_t i = 0; i < options->sets.count; i++)
        if (strchr(options->sets.items[i], '=') == NULL)
            argp_error(state, "--set: '%s' is not PATH=VALUE", options->sets.items[i]);
}

const struct sim_option_table sim_options_format = { SIM_OPTION_ROWS(format_rows) };
const struct sim_option_table sim_options_plugin = { SIM_OPTION_ROWS(plugin_rows) };
const struct sim_option_table sim_options_scenario = { SIM_OPTION_ROWS(scenario_rows),
                                                       .check = check_sets };

/* ---- reading by the rows ---- */

static void add_rows(struct parser *parser, const struct sim_option_table *table, char *base)
{
    for (size_t i = 0; i < table->count && parser->count < MAX_ROWS; i++) {
        const struct sim_option *row = &table->rows[i];
        if (row->kind == SIM_OPTION_OTHERS) {
            add_rows(parser, row->others, base + row->offset);
            continue;
        }
        const int key = row->letter != 0 ? row->letter : FIRST_KEY + (int)parser->count;
        if (row->name != NULL)
            parser->options[parser->options_count++] =
                (struct argp_option){ .name = row->name,
                                      .key = key,
                                      .arg = row->argument,
                                      .flags = row->without == NULL ? 0 : OPTION_ARG_OPTIONAL,
                                      .doc = row->help };
        parser->slots[parser->count++] = (struct slot){ row, base, false };
    }
}

static struct slot *find_option(struct parser *parser, int key)
{
    for (size_t i = 0; i < parser->count; i++) {
        const struct sim_option *row = parser->slots[i].row;
        if (row->name != NULL && key == (row->letter != 0 ? row->letter : FIRST_KEY + (int)i))
            return &parser->slots[i];
    }
    return NULL;
}

/* The operand at a place; the last one when there are fewer, NULL when there is none. */
static const struct slot *find_operand(const struct parser *parser, size_t place, bool *is_beyond)
{
    const struct slot *last = NULL;
    size_t count = 0;
    for (size_t i = 0; i < parser->count && count <= place; i++)
        if (parser->slots[i].row->name == NULL) {
            last = &parser->slots[i];
            count++;
        }
    *is_beyond = count <= place && (last == NULL || last->row->kind != SIM_OPTION_WORDS);
    return last;
}

/* Lists are cut in place: argv may be changed. */
static void take(const struct slot *slot, char *text, const struct argp_state *state)
{
    const struct sim_option *row = slot->row;
    void *to = slot->base + row->offset;
    char *rest = NULL;
    if (!row->is_list)
        sim_option_take(row, text == NULL ? row->without : text, to, state);
    else
        for (char *one = strtok_r(text, ",", &rest); one != NULL; one = strtok_r(NULL, ",", &rest))
            sim_option_take(row, one, to, state);
    if (row->given != 0)
        *(bool *)(slot->base + row->given) = true;
}

static void take_operand(struct parser *parser, char *text, const struct argp_state *state)
{
    bool is_beyond = false;
    const struct slot *slot = find_operand(parser, parser->operands++, &is_beyond);
    if (slot == NULL)
        argp_error(state, "takes no arguments, found '%s'", text);
    else if (is_beyond)
        argp_error(state, "%s; found '%s' too", slot->row->one, text);
    else
        take(slot, text, state);
}

static void check_rows(const struct sim_option_table *table, const char *base,
                       const struct argp_state *state)
{
    for (size_t i = 0; i < table->count; i++)
        if (table->rows[i].kind == SIM_OPTION_OTHERS)
            check_rows(table->rows[i].others, base + table->rows[i].offset, state);
    if (table->check != NULL)
        table->check(base, state);
}

/* What a kind of file is called where an option is not of it. */
static const char *kind_name(uint32_t kinds)
{
    return (kinds & SIM_FILE_SCENARIO) != 0   ? "a scenario"
           : (kinds & SIM_FILE_DATABASE) != 0 ? "a result database"
                                              : "a trace";
}

/* An option that does nothing is a mistake. */
static void check_effect(const struct parser *parser, const struct argp_state *state)
{
    const uint32_t kind =
        parser->table->kind_of == NULL ? 0 : parser->table->kind_of(parser->arguments);
    for (size_t i = 0; i < parser->count; i++) {
        const struct sim_option *row = parser->slots[i].row;
        bool is_alone = row->belongs_to != NULL;
        if (!parser->slots[i].is_given)
            continue;
        for (size_t k = 0; k < parser->count && is_alone; k++)
            is_alone = !parser->slots[k].is_given || parser->slots[k].row->name == NULL ||
                       strcmp(row->belongs_to, parser->slots[k].row->name) != 0;
        if (is_alone)
            argp_error(state, "--%s belongs to --%s", row->name, row->belongs_to);
        if (kind != 0 && row->of != 0 && (row->of & kind) == 0)
            argp_error(state, "--%s is of %s, and this is %s", row->name, kind_name(row->of),
                       kind_name(kind));
    }
}

static void check_all(const struct parser *parser, const struct argp_state *state)
{
    size_t place = 0;
    for (size_t i = 0; i < parser->count; i++) {
        const struct sim_option *row = parser->slots[i].row;
        if (row->name == NULL && place++ >= parser->operands && row->missing != NULL)
            argp_error(state, "%s", row->missing);
    }
    check_effect(parser, state);
    check_rows(parser->table, parser->arguments, state);
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct parser *parser = state->input;
    if (key == ARGP_KEY_ARG) {
        take_operand(parser, argument, state);
        return 0;
    }
    if (key == ARGP_KEY_END) {
        check_all(parser, state);
        return 0;
    }
    struct slot *slot = find_option(parser, key);
    if (slot == NULL)
        return ARGP_ERR_UNKNOWN;
    slot->is_given = true;
    take(slot, argument, state);
    return 0;
}

/* ---- what the help shows ---- */

static bool has_word(const char *words, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = words; (at = strstr(at, word)) != NULL; at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == '\0' || at[length] == ' '))
            return true;
    return false;
}

static void hide_rare(struct parser *parser)
{
    for (size_t i = 0; parser->table->shown != NULL && i < parser->options_count; i++)
        if (!has_word(parser->table->shown, parser->options[i].name))
            parser->options[i].flags |= OPTION_HIDDEN;
}

/* "--help-all" becomes "--help" of all options, what the help says behind them ends with it. */
static char *ending(const struct parser *parser, const char *program, bool is_all)
{
    const char *help = parser->table->help;
    char *text = NULL;
    if (is_all || parser->table->shown == NULL || help == NULL)
        return NULL;
    return asprintf(&text, "%s%cMore options: %s --help-all", help,
                    strchr(help, '\v') == NULL ? '\v' : '\n', program) < 0
               ? NULL
               : text;
}

/* ---- names of options ---- */

static struct names names_of(const struct parser *parser)
{
    struct names names = { { "help", "help-all", "usage", "version" }, 4 };
    for (size_t i = 0; i < parser->options_count; i++)
        names.items[names.count++] = parser->options[i].name;
    return names;
}

static void list_names(const struct parser *parser)
{
    puts("--help");
    for (size_t i = 0; i < parser->options_count; i++)
        printf("--%s\n", parser->options[i].name);
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
    else if (is_known("set", 3, names))
        fprintf(stderr, "; what the scenario says is changed by --set PATH=VALUE (weir help %s)",
                name);
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

void sim_options_parse(const struct sim_option_table *table, int argc, char **words,
                       void *arguments)
{
    struct parser parser = { .table = table, .arguments = arguments };
    add_rows(&parser, table, arguments);
    if (argc == 2 && strcmp(words[1], SIM_OPTIONS_LIST) == 0)
        list_names(&parser);
    const struct names names = names_of(&parser);
    char **argv = with_program_name(argc, words);
    char all[] = "--help";
    bool is_all = false;
    for (int i = 1; i < argc && !is_all; i++)
        if (strcmp(argv[i], "--help-all") == 0) {
            argv[i] = all;
            is_all = true;
        }
    if (!is_all)
        hide_rare(&parser);
    char *help = ending(&parser, argv[0], is_all);
    const struct argp argp = { .options = parser.options,
                               .parser = parse,
                               .args_doc = table->usage,
                               .doc = help == NULL ? table->help : help };
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strncmp(argv[i], "--", 2) == 0)
            refuse_unknown(argv[0], argv[i] + 2, &names);
    argp_err_exit_status = SIM_EXIT_USAGE;
    (void)argp_parse(&argp, argc, argv, 0, NULL, &parser);
    free(help);
    free(argv[0]);
    free(argv);
}
