/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weir policies: the policies there are, and the parameters of one; `check FILE` puts a module's
 * policies on trial, `new NAME` begins a module.
 */
#include "sim/scenario/policies.h"
#include "sim/cli/commands.h"
#include "sim/cli/load.h"
#include "sim/cli/look/policies_check.h"
#include "sim/cli/plugin.h"
#include "sim/cli/words.h"

#include <stdlib.h>
#include <string.h>

enum { CELL = 128 };

struct arguments {
    struct sim_options options;
    const char *name;
    const char *object; /* check FILE, new NAME */
};

static const struct sim_column policy_columns[] = {
    { "kind", "kind", NULL, false, false },
    { "policy", "policy", NULL, false, false },
    { "parameters", "parameters", NULL, true, true },
    { "summary", "summary", NULL, false, false },
};
enum { POLICY_COLUMNS = sizeof policy_columns / sizeof policy_columns[0] };

static const struct sim_column param_columns[] = {
    { "parameter", "parameter", NULL, false, false }, { "kind", "kind", NULL, false, false },
    { "default", "default", NULL, true, false },      { "range", "range", NULL, false, false },
    { "unit", "unit", NULL, false, false },           { "meaning", "help", NULL, false, false },
};
enum { PARAM_COLUMNS = sizeof param_columns / sizeof param_columns[0] };

/* Of all kinds, one kind after the other. */
static size_t policy_count(const struct sim_policies *policies)
{
    size_t count = 0;
    for (uint32_t kind = 0; kind < SIM_POLICY_KINDS; kind++)
        count += sim_policy_count(policies, kind);
    return count;
}

static struct sim_policy_table policy_at(const struct sim_policies *policies, size_t index,
                                         const char **kind_name)
{
    uint32_t kind = 0;
    for (; index >= sim_policy_count(policies, kind); kind++)
        index -= sim_policy_count(policies, kind);
    *kind_name = sim_policy_kind_name(kind);
    return sim_policy_at(policies, kind, index, NULL);
}

static void list_policies(const struct sim_policies *policies, enum sim_format format)
{
    struct sim_table *table = sim_table_create(policy_columns, POLICY_COLUMNS);
    for (size_t i = 0; i < policy_count(policies); i++) {
        const char *kind;
        const struct sim_policy_table policy = policy_at(policies, i, &kind);
        sim_table_add(table, kind);
        sim_table_add(table, policy.name);
        sim_table_addf(table, "%u", policy.count);
        sim_table_add(table, policy.summary);
    }
    sim_table_print(table, format, stdout);
    sim_table_destroy(table);
}

/* The word at `index` of "a|b|c". */
static void choice_word(const char *choices, double index, char text[CELL])
{
    for (int i = (int)index; i > 0 && choices != NULL; i--) {
        choices = strchr(choices, '|');
        choices = choices == NULL ? NULL : choices + 1;
    }
    const char *word = choices == NULL ? "?" : choices;
    (void)snprintf(text, CELL, "%.*s", (int)strcspn(word, "|"), word);
}

static void value_text(const struct weir_param *param, double value, char text[CELL])
{
    if (param->kind == WEIR_PARAM_FLAG)
        (void)snprintf(text, CELL, "%s", value > 0.5 ? "true" : "false");
    else if (param->kind == WEIR_PARAM_CHOICE)
        choice_word(param->choices, value, text);
    else if (param->kind == WEIR_PARAM_LIST || param->kind == WEIR_PARAM_TEXT)
        (void)snprintf(text, CELL, "none");
    else
        (void)snprintf(text, CELL, "%.6g", value);
}

static void range_text(const struct weir_param *param, char text[CELL])
{
    if (param->kind == WEIR_PARAM_FLAG)
        (void)snprintf(text, CELL, "true, false");
    else if (param->kind == WEIR_PARAM_CHOICE)
        (void)snprintf(text, CELL, "%s", param->choices);
    else if (param->kind == WEIR_PARAM_LIST || param->kind == WEIR_PARAM_TEXT)
        (void)snprintf(text, CELL, "%.6g to %.6g %s", param->min, param->max,
                       param->kind == WEIR_PARAM_LIST ? "numbers" : "characters");
    else
        (void)snprintf(text, CELL, "%.6g to %.6g", param->min, param->max);
    for (char *at = text; *at != '\0'; at++)
        if (*at == '|')
            *at = ' ';
}

static void param_row(struct sim_table *table, const struct weir_param *param)
{
    static const char *const kinds[] = { "number", "count", "duration", "flag",
                                         "choice", "list",  "text" };
    char initial[CELL];
    char range[CELL];
    value_text(param, param->initial, initial);
    range_text(param, range);
    const char *unit = param->kind == WEIR_PARAM_DURATION ? "s" : param->unit;
    const char *cells[PARAM_COLUMNS] = { param->name, kinds[param->kind], initial, range,
                                         unit,        param->help };
    sim_table_row(table, cells);
}

static void show_policy(const struct sim_policy_table *policy, const char *kind,
                        enum sim_format format)
{
    struct sim_table *table = sim_table_create(param_columns, PARAM_COLUMNS);
    for (uint32_t i = 0; i < policy->count; i++)
        param_row(table, &policy->params[i]);
    if (sim_format_is_text(format))
        printf("%s (%s): %s%s\n\n", policy->name, kind, policy->summary,
               policy->count == 0 ? "\nIt has no parameters." : "");
    sim_table_print(table, format, stdout);
    sim_table_destroy(table);
}

static int show_named(const struct sim_policies *policies, const char *name, enum sim_format format)
{
    const size_t count = policy_count(policies);
    bool is_found = false;
    for (size_t i = 0; i < count; i++) {
        const char *kind;
        const struct sim_policy_table policy = policy_at(policies, i, &kind);
        if (strcmp(policy.name, name) == 0) {
            show_policy(&policy, kind, format);
            is_found = true;
        }
    }
    if (!is_found)
        sim_policies_refuse("weir policies", policies, name);
    return is_found ? SIM_EXIT_OK : SIM_EXIT_USAGE;
}

size_t sim_policy_names(const char **names, size_t capacity)
{
    const struct sim_words none = { .count = 0 };
    struct sim_policies policies;
    size_t count = 0;
    if (sim_plugins_load(&none, false, &policies) != SIM_EXIT_OK)
        return 0;
    const char *kind;
    for (; count < policy_count(&policies) && count < capacity; count++)
        names[count] = policy_at(&policies, count, &kind).name;
    sim_plugins_clear(&policies);
    return count;
}

static bool is_verb(const char *word)
{
    return strcmp(word, "check") == 0 || strcmp(word, "new") == 0;
}

static void check(const void *given, const struct argp_state *state)
{
    const struct arguments *arguments = given;
    const bool has_verb = arguments->name != NULL && is_verb(arguments->name);
    if (has_verb && arguments->object == NULL)
        argp_error(state, "%s what?", arguments->name);
    if (!has_verb && arguments->object != NULL)
        argp_error(state, "one policy at a time; found '%s' too", arguments->object);
}

static const struct sim_option command_rows[] = {
    { .argument = "NAME", SIM_OPTION(TEXT, arguments, name) },
    { .argument = "NAME", SIM_OPTION(TEXT, arguments, object), .one = "one policy at a time" },
    { SIM_OPTION(OTHERS, arguments, options), .others = &sim_options_format },
    { SIM_OPTION(OTHERS, arguments, options), .others = &sim_options_plugin },
};
static const struct sim_option_table command_options = {
    SIM_OPTION_ROWS(command_rows),
    .check = check,
    .usage = "[NAME]\ncheck FILE.so\nnew NAME",
    .help = "List the policies, or the parameters of one, or check that the policies of a "
            "module keep the contract (exit code 4: they do not), or begin a module.",
};

int sim_cmd_policies(int argc, char **argv)
{
    struct arguments arguments = { .name = NULL };
    struct sim_policies policies;
    sim_options_parse(&command_options, argc, argv, &arguments);
    if (arguments.object != NULL) {
        const int verdict = strcmp(arguments.name, "new") == 0
                                ? sim_policies_new(arguments.object)
                                : sim_policies_check(arguments.object, arguments.options.format);
        sim_options_clear(&arguments.options);
        return verdict;
    }
    int code =
        sim_plugins_load(&arguments.options.plugins, arguments.options.in_process, &policies);
    if (code == SIM_EXIT_OK) {
        if (arguments.name == NULL)
            list_policies(&policies, arguments.options.format);
        else
            code = show_named(&policies, arguments.name, arguments.options.format);
        sim_plugins_clear(&policies);
    }
    sim_options_clear(&arguments.options);
    return code;
}
